import Glibc
import Primitives
import Runtime
import Synchronization
import Testing

/// A name server on loopback that answers from what it is told, on a thread of its own.
final class NameServer: Sendable {
    enum Zone: Sendable {
        case records([Record])
        case code(UInt8)
        case silence, garbage
    }

    struct Record: Sendable {
        var type: UInt16
        var seconds: UInt32
        var data: [UInt8]
    }

    let address: SocketAddress
    private let descriptor: FileDescriptorOwner
    private let zone: Mutex<[String: Zone]>
    private let asked = Mutex(0)

    /// - Parameter zone: by `name/type`; what is not there does not exist.
    init(_ zone: [String: Zone]) throws {
        self.zone = Mutex(zone)
        descriptor = FileDescriptorOwner(socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0))
        let raw = descriptor.raw
        try #require(SocketAddress(.loopback, port: 0).withSockaddr { bind(raw, $0, $1) } == 0)
        let local = descriptor.localAddress
        address = try #require(local)
        let server = Unmanaged.passRetained(self)
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                Unmanaged<NameServer>.fromOpaque(argument!).takeRetainedValue().serve()
                return nil
            }, server.toOpaque())
        pthread_detach(thread)
    }

    var questions: Int { asked.withLock(\.self) }

    /// Wakes the thread, which then ends.
    func stop() { shutdown(descriptor.raw, Int32(SHUT_RDWR)) }

    private func serve() {
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while true {
            var from = sockaddr_storage(), length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let count = withUnsafeMutablePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(descriptor.raw, &buffer, buffer.count, 0, $0, &length)
                }
            }
            guard count > 12 else { return }
            asked.withLock { $0 += 1 }
            guard let answer = answer(to: Array(buffer[..<count])) else { continue }
            _ = withUnsafePointer(to: &from) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sendto(descriptor.raw, answer, answer.count, 0, $0, length) }
            }
        }
    }

    private func answer(to query: [UInt8]) -> [UInt8]? {
        var at = 12, labels: [String] = []
        while at < query.count, query[at] != 0 {
            labels.append(String(decoding: query[(at + 1)...(at + Int(query[at]))], as: UTF8.self))
            at += 1 + Int(query[at])
        }
        let question = Array(query[12..<(at + 5)])
        let key = labels.joined(separator: ".").lowercased() + "/\(query[at + 2])"
        func head(_ code: UInt8, _ count: Int) -> [UInt8] {
            Array(query[..<2]) + [0x81, 0x80 | code, 0, 1, 0, UInt8(count), 0, 0, 0, 0] + question
        }
        switch zone.withLock({ $0[key] }) {
        case nil: return head(3, 0)
        case .code(let code): return head(code, 0)
        case .silence: return nil
        case .garbage: return head(0, 1) + [0xC0, 0x0C, 0, 1, 0, 1, 0xFF]
        case .records(let records):
            return head(0, records.count)
                + records.flatMap { record -> [UInt8] in
                    let (type, seconds, count) = (record.type, record.seconds, record.data.count)
                    let time = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: seconds >> UInt32($0)) }
                    return [0xC0, 0x0C, UInt8(type >> 8), UInt8(type & 0xFF), 0, 1] + time + [UInt8(count >> 8), UInt8(count & 0xFF)]
                        + record.data
                }
        }
    }

    static func name(_ text: String) -> [UInt8] { text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0] }
}

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct DNSResolverTests {
        private func ask(
            _ question: DNSQuestion, _ zone: [String: NameServer.Zone], _ change: (inout DNSResolver.Settings) -> Void = { _ in }
        ) async throws -> (answer: DNSAnswer, asked: Int) {
            let server = try NameServer(zone)
            var settings = DNSResolver.Settings()
            (settings.servers, settings.timeout) = ([server.address], .milliseconds(100))
            change(&settings)
            let resolver = try #require(DNSResolver(settings))
            let answer = await withCheckedContinuation { continuation in resolver.ask(question) { continuation.resume(returning: $0) } }
            server.stop()
            return (answer, server.questions)
        }

        @Test func `addresses of both families come with their time`() async throws {
            let zone: [String: NameServer.Zone] = [
                "a.test/1": .records([
                    .init(type: 1, seconds: 300, data: [192, 0, 2, 1]), .init(type: 1, seconds: 60, data: [192, 0, 2, 2]),
                ]),
                "a.test/28": .records([.init(type: 28, seconds: 20, data: [0x20, 1, 0xD, 0xB8] + Array(repeating: 0, count: 11) + [1])]),
            ]
            let four = try await ask(.a("a.test"), zone).answer, six = try await ask(.aaaa("a.test"), zone).answer
            #expect(
                Set(four.records) == [.address(IPAddress("192.0.2.1")!), .address(IPAddress("192.0.2.2")!)]
                    && four.timeToLive == .seconds(60))
            #expect(six == DNSAnswer(.found, records: [.address(IPAddress("2001:db8::1")!)], timeToLive: .seconds(20)))
        }

        @Test func `services and pointers come with their time`() async throws {
            let service: [UInt8] = [0, 10, 0, 5, 0x13, 0xC4] + NameServer.name("a.test")
            let pointer: [UInt8] =
                [0, 1, 0, 2, 1] + Array("s".utf8) + [8] + Array("SIPS+D2T".utf8) + [0] + NameServer.name("_sips._tcp.a.test")
            let zone: [String: NameServer.Zone] = [
                "_sip._udp.a.test/33": .records([.init(type: 33, seconds: 77, data: service)]),
                "a.test/35": .records([.init(type: 35, seconds: 88, data: pointer)]),
            ]
            #expect(
                try await ask(.srv("_sip._udp.a.test"), zone).answer
                    == DNSAnswer(.found, records: [.srv(priority: 10, weight: 5, port: 5060, target: "a.test")], timeToLive: .seconds(77)))
            let naptr = try await ask(.naptr("a.test"), zone).answer
            #expect(naptr.records == [.naptr(order: 1, preference: 2, flags: "s", service: "SIPS+D2T", replacement: "_sips._tcp.a.test")])
            #expect(naptr.timeToLive == .seconds(88))
        }

        private static func zone(_ name: String, _ address: [UInt8]) -> [String: NameServer.Zone] {
            ["\(name)/1": .records([.init(type: 1, seconds: 300, data: address)])]
        }

        /// RFC 6761 §6.3.
        @Test(
            arguments: [
                (DNSQuestion.a("localhost"), IPAddress.loopback), (.a("Some.LocalHost."), .loopback),
                (.aaaa("localhost"), IPAddress("::1")), (.srv("_sip._udp.localhost"), nil),
                (.naptr("localhost"), nil),
            ] as [(DNSQuestion, IPAddress?)])
        func `this machine is known without asking`(question: DNSQuestion, address: IPAddress?) async throws {
            let (answer, asked) = try await ask(question, Self.zone("localhost", [192, 0, 2, 9]))
            #expect(
                asked == 0 && answer.records == (address.map { [.address($0)] } ?? [])
                    && answer.outcome == (address == nil ? .nothing : .found))
        }

        @Test(
            arguments: [
                ("sip.test", ["192.0.2.7"], ["2001:db8::7"]), ("PBX", ["192.0.2.8", "192.0.2.9"], []), ("only6.test", [], ["2001:db8::7"]),
                ("commented.test", ["198.51.100.1"], nil),
            ] as [(String, [String], [String]?)])
        func `what the hosts file has is not asked for, in neither family`(name: String, four: [String], six: [String]?) async throws {
            let path = "/tmp/hookswitch-hosts-\(getpid())-\(name)"
            let text =
                "192.0.2.7 other.test sip.test # commented.test\n2001:db8::7\tSIP.test  only6.test\n#192.0.2.1 sip.test\n192.0.2.8 pbx\n192.0.2.9 pbx\nsip.test\n"
            let file = try #require(fopen(path, "w"))
            fputs(text, file)
            fclose(file)
            defer { unlink(path) }
            func addresses(_ question: DNSQuestion) async throws -> (found: [DNSRecord], asked: Int) {
                let (answer, asked) = try await ask(question, Self.zone("commented.test", [198, 51, 100, 1])) { $0.hostsFile = path }
                return (answer.records, asked)
            }
            let (short, long) = (try await addresses(.a(Text(name))), try await addresses(.aaaa(Text(name))))
            #expect(
                short.found == four.compactMap { IPAddress($0) }.map(DNSRecord.address)
                    && long.found == (six ?? []).compactMap { IPAddress($0) }.map(DNSRecord.address))
            #expect(short.asked + long.asked == (six == nil ? 2 : 0))
        }

        @Test(arguments: [("carrier", true), ("carrier.deep", false)])
        func `a name without a dot is looked for where the machine is`(name: Text, isFound: Bool) async throws {
            let zone = Self.zone("carrier.here.test", [192, 0, 2, 5]).merging(Self.zone("carrier.deep.here.test", [192, 0, 2, 6])) {
                first, _ in first
            }
            let answer = try await ask(.a(name), zone) { $0.searchDomains = ["there.test", "here.test"] }.answer
            #expect(answer.records == (isFound ? [.address(IPAddress("192.0.2.5")!)] : []))
        }

        @Test func `a name that is not there is not a failure`() async throws {
            #expect(try await ask(.a("nowhere.test"), [:]).answer.outcome == .nothing)
            #expect(try await ask(.srv("a.test"), ["a.test/33": .records([])]).answer.outcome == .nothing)
        }

        @Test(arguments: [NameServer.Zone.silence, .code(2), .code(5)])
        func `no answer is a failure, in time`(zone: NameServer.Zone) async throws {
            let (answer, asked) = try await ask(.a("a.test"), ["a.test/1": zone])
            #expect(answer.outcome == .failed)
            #expect(asked >= 1)
        }

        @Test func `garbage finds nothing`() async throws {
            let answer = try await ask(.a("a.test"), ["a.test/1": .garbage]).answer
            #expect(answer.outcome != .found && answer.records.isEmpty)
        }

        @Test func `more questions than there is room for fail at once`() async throws {
            let server = try NameServer(["a.test/1": .silence])
            var settings = DNSResolver.Settings()
            (settings.servers, settings.maximumQuestions) = ([server.address], 3)
            let resolver = try #require(DNSResolver(settings))
            let inbox = Inbox(of: Int.self)
            for question in 0..<10 { resolver.ask(.a("a.test")) { if $0.outcome == .failed { inbox.put.yield(question) } } }
            #expect(await inbox.next(7).sorted() == Array(3..<10), "the first three wait for their answer")
            server.stop()
        }

        @Test func `a resolver that goes ends its questions`() async throws {
            let server = try NameServer(["a.test/1": .silence])
            var settings = DNSResolver.Settings()
            settings.servers = [server.address]
            let inbox = Inbox(of: DNSAnswer.Outcome.self)
            do {
                let resolver = try #require(DNSResolver(settings))
                resolver.ask(.a("a.test")) { inbox.put.yield($0.outcome) }
            }
            #expect(await inbox.next() == .failed)
            server.stop()
        }
    }
}
