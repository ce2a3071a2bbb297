import ArgumentParser
import Foundation
import Media
import Primitives
import Runtime
import SDP
import Testing
import UserAgent
import Workbench

@testable import hookswitch

/// `load` over the sockets of this machine, in real time, on targets with faults of their own.
@Suite(.serialized, .timeLimit(.minutes(30))) struct LoadCommandTests {
    @Test func `an echo is good, both figures and sound`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --rate 20 --calls 20 --hold 1.2 --expect echo --slo ser>=100,failed<=0%")
        #expect(report.counts.good == 20 && report.counts.listenedTo == 20, "\(report.findings)")
        #expect(report.findings.isEmpty && report.slo.allSatisfy(\.isKept))
        #expect(report.metrics["setup"]??.count == 20 && report.metrics["jitter"]??.count == 20)
        #expect(report.metrics["mos"]??.count == 20 && report.metrics["delay"] == .some(nil), "one end cannot measure one-way delay")
        #expect(report.leaks?.leftovers == [])
        #expect(report.validity.packetLateness?.count ?? 0 > 500, "the tool's own lateness is measured")
    }

    @Test func `one direction that is dead on every 10th call is found, named, and breaks the level`() throws {
        let target = try FaultyTarget { number, call in if number % 10 == 0 { call.script.source = .silence } }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --rate 20 --calls 40 --hold 1.2 --slo one_way<1%"),
            found = try #require(report.findings.first { $0.kind == .oneWay })
        #expect(found.calls == 4 && found.numbers == [10, 20, 30, 40] && found.pattern == "every 10th call")
        #expect(report.slo.first?.isKept == false && report.slo.first?.actual == 10)
        #expect(report.exitCode != 0)
        #expect(LoadText.lines(report).contains { $0.hasPrefix("found        one-way audio: 4 calls (10, 20, 30, 40, every 10th call)") })
    }

    @Test func `answers that come late are found and named`() throws {
        let target = try FaultyTarget { number, call in if number % 6 == 0 { call.answersAfter = .milliseconds(1_500) } }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --rate 20 --calls 24 --hold 0.5"),
            found = try #require(report.findings.first { $0.kind == .lateAnswer })
        #expect(found.numbers == [6, 12, 18, 24] && found.pattern == "every 6th call")
        #expect(found.text.contains("where half of all took"))
    }

    @Test func `a target that answers everything late is named too`() throws {
        let target = try FaultyTarget { _, call in call.answersAfter = .milliseconds(1_200) }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --rate 10 --calls 8 --hold 0.5")
        #expect(report.findings.first { $0.kind == .lateAnswer }?.calls == 8)
    }

    @Test func `the knee is the last step that held`() throws {
        let target = try FaultyTarget { number, call in if number > 30 { call.refusal = 503 } }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --find-knee --ramp 5:50:5:2 --hold 0.5 --slo failed<5%"),
            knee = try #require(report.knee)
        #expect(knee.lastKept == 10 && knee.firstBroken == 15, "10 calls in the first step, 20 in the second: \(knee)")
        #expect(knee.broken.first?.hasPrefix("failed<5% (was ") == true)
        #expect(report.steps.count < 8, "it does not go on for long: \(report.steps.map(\.rate))")
        #expect(report.validity.limiterHits > 0)
    }

    @Test func `a step that the tool kept calls back from does not count as held`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --find-knee --ramp 5:50:5:2 --hold 2 --concurrent 16 --slo failed<60%"),
            knee = try #require(report.knee)
        #expect(knee.lastKept == 5 && knee.firstNotOffered == 10 && knee.firstBroken == nil, "10 a second of 2 s are 20 at a time: \(knee)")
        let step = try #require(report.steps.dropFirst().first)
        #expect(step.notBegun > 0 && step.isKept == nil && report.steps.count < 5, "\(report.steps)")
        #expect(report.exitCode != 1, "\(report.leaks?.leftovers ?? []), \(report.slo), \(report.validity.notes)")
        #expect(LoadText.lines(report).contains { $0.contains("knee         5.00 calls a second passed; at 10.0 the tool began fewer") })
    }

    @Test func `every output says the same`() throws {
        let target = try FaultyTarget { number, call in if number == 3 { call.refusal = 486 } }
        defer { target.phone.close() }
        let folder = FileManager.default.temporaryDirectory.appending(path: "hookswitch-load-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["json", "csv", "junit", "html"].map { "--\($0) \(folder.path)/load.\($0)" }.joined(separator: " ")
        let arguments = "load sip:echo@\(target.address) --rate 20 --calls 4 --hold 0.6 --slo setup_max<60s,delay_p5<1s " + files
        let command = try #require(try Hookswitch.parseAsRoot(arguments.split(separator: " ").map(String.init)) as? Load),
            order = try command.options.order()
        try order.outputs.write(try LoadRun(order, reporter: ProgressReporter(nil)).perform())
        func text(_ name: String) throws -> String { try String(contentsOf: folder.appending(path: "load.\(name)"), encoding: .utf8) }
        let report = try JSONDecoder().decode(LoadReport.self, from: Data(try text("json").utf8))
        #expect(
            report.schema == "hookswitch.load/1" && report.calls.count == 4 && report.counts.byStatus == ["200": 3, "486": 1])
        expectFault(report)
        let json = try text("json"), verdict = report.verdict
        #expect(json.contains("\"delay\" : null") && json.contains("\"p95\" : null"))
        #expect(json.contains("\"verdict\" : \"\(verdict.word.rawValue)\"") && json.contains("\"exitCode\" : \(verdict.exitCode)"))
        #expect(json.contains("\"isBelievable\" : ") && json.contains("\"isKept\" : true"))
        let rows = try text("csv").split(separator: "\r\n")
        #expect(rows.count == 5 && rows[3].contains(",failed,486,"))
        let junit = try XMLOutline(text: text("junit"))
        #expect(
            junit.count("testcase") > 10 && junit.failed.isSuperset(of: ["delay_p5<1s", "refused does not occur"])
                && !junit.failed.contains("setup_max<60s"))
        let page = try text("html")
        #expect(
            page.contains("<svg") && page.contains("Set-up time") && page.contains("486") && !page.contains("http"),
            "one page that needs no other")
    }

    @Test(arguments: ["sdes", "dtls"])
    func `over TLS and with encrypted sound all is counted as such`(keying: String) throws {
        let target = try FaultyTarget(.encrypted) { _, _ in }
        defer { target.phone.close() }
        let report = try load(
            "sip:echo@\(target.address) --transport tls --ca \(Certificates.path("ca.pem")) --srtp \(keying) --rate 10 --calls 6 --hold 1.5 --expect echo --slo encrypted>=100"
        )
        #expect(report.counts.good == 6 && report.run.transport == "tls", "\(report.findings)")
        #expect(keying == "sdes" ? report.encryption.sdes == 6 : report.encryption.dtls == 6, "\(report.encryption)")
        #expect(report.encryption.share == 100 && report.slo.allSatisfy(\.isKept))
        #expect(report.calls.allSatisfy { $0.caller?.encryption == MediaEncryption(rawValue: keying) })
        #expect(
            LoadText.lines(report).contains {
                $0.hasPrefix("encryption   signalling TLS; 100 % of 6 ends: 6 SRTP by \(keying.uppercased())")
            })
        #expect(report.leaks?.leftovers == [])
    }

    @Test func `a target in the clear is taken where encryption is optional, and breaks a level that wants it`() throws {
        let target = try FaultyTarget { _, _ in }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --srtp optional --rate 10 --calls 3 --hold 1 --slo encrypted>=100")
        #expect(report.encryption.clear == 3 && report.encryption.share == 0 && report.slo.first?.isKept == false)
        let refused = try load("sip:echo@\(target.address) --srtp sdes --rate 10 --calls 3 --hold 1")
        #expect(refused.counts.failed == 3 && refused.counts.byStatus == ["488": 3] && refused.encryption.share == nil)
    }

    @Test func `a certificate that is not believed is named`() throws {
        let target = try FaultyTarget(.encrypted) { _, _ in }
        defer { target.phone.close() }
        let report = try load("sip:echo@\(target.address) --transport tls --rate 10 --calls 2 --hold 1")
        #expect(
            report.counts.good == 0 && report.validity.notes.contains { $0.hasPrefix("TLS: the peer's certificate is not trusted") },
            "\(report.validity.notes)")
    }

    /// Descriptors are those of the whole process, with all its other tests, and left out here: by themselves they would make an exit code
    /// of 1.
    private func load(_ arguments: String) throws -> LoadReport {
        let command = try #require(try Hookswitch.parseAsRoot(("load " + arguments).split(separator: " ").map(String.init)) as? Load)
        var report = try LoadRun(command.options.order(), reporter: ProgressReporter(nil)).perform()
        report.leaks?.leftovers.removeAll { $0.hasSuffix("descriptors") }
        return report
    }
}

/// A telephone that answers many calls with an echo, but for what it is told to do wrong.
final class FaultyTarget: Sendable {
    struct Treatment {
        var script = CallScript()
        var answersAfter = Duration.milliseconds(5)
        var refusal: Int?
    }

    final class Client: PhoneClient {
        let phone: Phone
        var onFinish: (() -> Void)?
        private var calls = 0

        init(_ phone: Phone, _ treat: @escaping (Int, inout Treatment) -> Void) {
            self.phone = phone
            phone.onIncoming = { [unowned self] session, now in
                calls += 1
                var treatment = Treatment()
                (treatment.script.source, treatment.script.listens) = (.echo, false)
                treat(calls, &treatment)
                if let status = treatment.refusal { return phone.refuse(session, status: status, at: now) }
                phone.ring(session, answeringAfter: treatment.answersAfter, script: treatment.script, at: now)
            }
        }

        func start(at now: Instant) {}
        func stop(at now: Instant) { onFinish?() }
    }

    let phone: LivePhone<Client>
    var address: SocketAddress { phone.address }

    enum Kind { case clear, encrypted }

    init(_ kind: Kind = .clear, _ treat: @escaping @Sendable (Int, inout Treatment) -> Void) throws {
        var settings = LivePhoneSettings(user: "target", server: SocketAddress(.loopback, port: 5060))
        if kind == .encrypted {
            (settings.transport, settings.srtp) = (.tls, .required)
            settings.tls.identities = [.init(certificate: Certificates.path("server.pem"), key: Certificates.path("leaf.key"))]
        }
        settings.mediaPorts = try FreePorts.block(of: 400, .v4)
        phone = try LivePhone(settings) { Client($0, treat) }
    }
}

/// The authority and the leaves of the tests.
enum Certificates {
    static func path(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates/\(name)").path
    }
}

/// What a test wants of an XML document: how many elements of a name, and which test cases failed.
private final class XMLOutline {
    private var counts: [String: Int] = [:]
    private(set) var failed: Set<String> = []

    init(text: String) throws {
        // The elements are ours and simple; a parser of XML would be a dependency of the tests alone.
        for piece in text.split(separator: "<").map(String.init) {
            let name = String(piece.prefix { $0.isLetter })
            counts[name, default: 0] += 1
            if name == "testcase", !piece.contains("/>"), let start = piece.range(of: " name=\""),
                let end = piece[start.upperBound...].firstIndex(of: Character("\""))
            {
                failed.insert(String(piece[start.upperBound..<end]).replacing("&gt;", with: ">").replacing("&lt;", with: "<"))
            }
        }
    }

    func count(_ name: String) -> Int { counts[name] ?? 0 }
}
