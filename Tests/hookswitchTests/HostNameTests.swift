import ArgumentParser
import Dispatch
import Foundation
import Gateway
import Primitives
import Runtime
import SIP
import Synchronization
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// Names of hosts on the command line, and other things that a person types there.
@Suite struct HostNameTests {
    /// A name system that knows `sip.example.test`, with an SRV record for UDP, and nothing else.
    private static let zone: @Sendable (DNSQuestion) -> DNSAnswer = { question in
        switch question {
        case .a("sip.example.test"): DNSAnswer(.found, records: [.address(IPAddress("192.0.2.7")!)], timeToLive: .seconds(60))
        case .srv("_sip._udp.sip.example.test"):
            DNSAnswer(
                .found, records: [.srv(priority: 1, weight: 0, port: 5070, target: "sip.example.test")], timeToLive: .seconds(60))
        default: DNSAnswer(.nothing)
        }
    }

    private func inZone<Result>(_ body: () throws -> Result) rethrows -> Result {
        try HostLookup.$ask.withValue(Self.zone, operation: body)
    }

    @Test(
        arguments: [
            ("sip:9196@sip.example.test:5066", nil, "192.0.2.7:5066", Transport.udp),
            ("sip:9196@sip.example.test", nil, "192.0.2.7:5070", .udp),
            ("sip:9196@sip.example.test;transport=tcp", nil, "192.0.2.7:5060", .tcp),
            ("sips:9196@sip.example.test", nil, "192.0.2.7:5061", .tls),
            ("sip:9196@sip.example.test", .tcp, "192.0.2.7:5060", .tcp), ("sip:9196@127.0.0.1", .tls, "127.0.0.1:5061", .tls),
            ("sip:9196@localhost:5080", nil, "127.0.0.1:5080", .udp),
        ] as [(String, Transport?, String, Transport)])
    func `the host of a URI may be a name`(uri: String, wanted: Transport?, address: String, transport: Transport) throws {
        let target = try inZone { try CallTarget(uri, server: nil, transport: wanted) }
        #expect(target.server == SocketAddress(address) && target.transport == transport)
    }

    @Test(arguments: [("sip.example.test", "192.0.2.7:5070"), ("sip.example.test:5062", "192.0.2.7:5062"), ("localhost", "127.0.0.1:5060")])
    func `a server may be a name`(text: String, address: String) throws {
        #expect(try inZone { try SocketAddress(ofServer: text) } == SocketAddress(address))
    }

    @Test(arguments: [
        (["--server", "sip.example.test:5061"], "sip.example.test"), (["--server", "192.0.2.7"], "called.test"), ([], "called.test"),
        (["--server", "sip.example.test", "--tls-name", "other.test"], "other.test"),
    ]) func `over TLS a certificate must name the server as it was typed`(words: [String], name: String) throws {
        let options = try PhoneOptions.parse(words + ["--transport", "tls"])
        let settings = try options.settings(
            user: "1001", server: SocketAddress("192.0.2.7:5061")!, transport: .tls, host: "called.test", codecs: "pcmu", isCalled: false)
        #expect(settings.serverName == Text(name))
    }

    @Test func `a name without an address is told with code 3`() {
        let failure = #expect(throws: Failure.self) { try inZone { try SocketAddress(ofServer: "nowhere.test") } }
        #expect(failure?.message == "the name 'nowhere.test' has no address" && failure?.exitCode == 3)
        let silent = #expect(throws: Failure.self) {
            try HostLookup.$ask.withValue({ _ in DNSAnswer(.failed) }) { try SIPTarget("sip.example.test") }
        }
        #expect(silent?.message == "the name 'sip.example.test' cannot be asked for: no name server answers")
    }

    @Test(arguments: [
        (["call", "--srtp", "sip:9196@127.0.0.1"], ["call", "--srtp", "sdes", "sip:9196@127.0.0.1"]),
        (["call", "--srtp", "9196", "--server", "a"], ["call", "--srtp", "sdes", "9196", "--server", "a"]),
        (["call", "--srtp", "dtls", "9196"], ["call", "--srtp", "dtls", "9196"]),
        (["call", "--srtp", "sdse", "9196"], ["call", "--srtp", "sdse", "9196"]),
        (["call", "9196", "--srtp"], ["call", "9196", "--srtp"]),
        (["call", "--srtp", "--json", "9196"], ["call", "--srtp", "--json", "9196"]),
    ])
    func `srtp without a value leaves the target alone`(typed: [String], meant: [String]) {
        #expect(SecurityFlag.completed(typed) == meant)
    }

    @Test func `a ping of a server that takes no calls says so, and is good where it is to live alone`() {
        let report = Ping.Report(target: "a", status: 503, milliseconds: 2)
        #expect(
            report.text == "a answered 503 after 2 ms: it takes no calls now" && !report.isGood && report.isAlive)
        #expect(!Ping.Report(target: "a", failure: "did not answer").isAlive)
    }

    // MARK: The address that peers are told

    @Test func `the address that is told may be a name, which has to lead somewhere`() throws {
        func load(_ name: String) throws -> ServeConfiguration {
            try ConfigurationFile.load(nil, environment: [:], flags: ["advertise.address=\(name)"])
        }
        let found = try inZone { try load("sip.example.test").findingAdvertisedName() }
        #expect(found.gateway.advertise.address == IPAddress("192.0.2.7") && found.advertisedName == "sip.example.test")
        #expect(StartupSummary(found, listeners: [], ephemeral: nil).advertises.hasPrefix("192.0.2.7 (sip.example.test) to everybody"))
        let error = #expect(throws: ConfigurationError.self) { try inZone { try load("nowhere.test").findingAdvertisedName() } }
        #expect(
            error?.description == "--set advertise.address: the name 'nowhere.test' has no address here" && error?.exitCode == 3)
        #expect(try load("203.0.113.7").findingAdvertisedName().gateway.advertise.address == IPAddress("203.0.113.7"))
    }

    @Test func `a name that leads elsewhere is told, and one that is lost is told once`() {
        let first = IPAddress("192.0.2.1")!, second = IPAddress("192.0.2.2")!
        let answers = Mutex<[IPAddress?]>([first, second, second, nil, nil, second, first]), told = Mutex<[AdvertisedName.News]>([])
        let name = AdvertisedName(first, every: .seconds(3_600)) {
            answers.withLock { $0.removeFirst() }
        } onNews: { news in
            told.withLock { $0.append(news) }
        }
        while !answers.withLock(\.isEmpty) { name.look() }
        #expect(told.withLock(\.self) == [.moved(from: first, to: second), .lost, .moved(from: second, to: first)])
    }

    @Test func `a name is asked for again by itself`() throws {
        let asked = DispatchSemaphore(value: 0)
        let name = AdvertisedName(IPAddress("192.0.2.1")!, every: .milliseconds(1)) {
            asked.signal()
            return nil
        } onNews: { _ in
        }
        for _ in 0..<3 { #expect(asked.wait(timeout: .now() + 20) == .success) }
        withExtendedLifetime(name) {}
    }

    // MARK: What a start tells

    @Test func `groups that ring together, one by one and in turn are told apart`() throws {
        func told(_ group: RingGroup) -> String {
            var configuration = ServeConfiguration.fallback, line = LineConfiguration(number: "600")
            line.endpoint = .group(group)
            configuration.gateway.lines = [line]
            return StartupSummary(configuration, listeners: [], ephemeral: nil).numbers[0].does
        }
        var late = RingGroup.Member("1002")
        late.delay = .seconds(5)
        #expect(told(RingGroup([.init("1001"), .init("1002")])) == "rings 1001, 1002 together")
        #expect(told(RingGroup([.init("1001"), late])) == "rings 1001, 1002 one by one")
        #expect(told(RingGroup([.init("1001"), .init("1002")], .inTurn(.seconds(20)))) == "rings 1001, 1002 in turn, 20 s each")
    }

    @Test func `a start warns of few descriptors and small buffers as the doctor does`() {
        var machine = Machine.here
        (machine.descriptorLimit, machine.receiveBufferLimit, machine.sendBufferLimit) = (40, 8 << 20, 8 << 20)
        let few = Examination(.fallback, machine).resourceWarnings
        #expect(few == ["descriptors: 40 may be open, 264 can be needed (LimitNOFILE=264, ulimit -n, or docker's --ulimit nofile=264)"])
        (machine.descriptorLimit, machine.receiveBufferLimit) = (100_000, 212_992)
        #expect(Examination(.fallback, machine).resourceWarnings.map { $0.hasPrefix("buffers: rmem_max is 208 KiB") } == [true])
        machine.receiveBufferLimit = 8 << 20
        #expect(Examination(.fallback, machine).resourceWarnings.isEmpty)
    }

    // MARK: The image

    private static func file(_ name: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: name), encoding: .utf8)
    }

    @Test func `the image has metrics and health on, and on the host's network they are for the machine alone`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
        // Whether /data can be written is the container's affair.
        let image = try ConfigurationFile.load("\(root)/Docker/hookswitch.yaml", environment: [:], flags: [])
        #expect(image.metricsAddress == SocketAddress("0.0.0.0:9464"))
        let dockerfile = try Self.file("Docker/Dockerfile"), compose = try Self.file("Docker/compose.yaml")
        #expect(dockerfile.contains("EXPOSE 5060/udp 5060/tcp 9464/tcp\n"))
        let published = compose.split(separator: "\n").filter { $0.contains(":9464") }.map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(published == ["- \"127.0.0.1:9464:9464/tcp\"", "HOOKSWITCH_METRICS_LISTEN: 127.0.0.1:9464"])
        let check = try #require(dockerfile.firstMatch(of: /CMD \["hookswitch", "ping", "--alive", "([^"]+)"\]/))
        let ping = try #require(try Hookswitch.parseAsRoot(["ping", "--alive", String(check.1)]) as? Ping)
        #expect(ping.alive && image.udp.contains { $0.port == 5060 })
    }
}
