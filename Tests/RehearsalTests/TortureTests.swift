import Foundation
import Gateway
import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Rehearsal
@testable import Workbench

/// The whole of `hookswitch torture` against the gateway, in virtual time; and the exact answer to each message.
@Suite struct TortureTests {
    /// Our client as an inhabitant of the virtual world.
    private final class Torturer: Inhabitant {
        let client: TortureClient
        private(set) var results: [TortureResult] = []
        private(set) var isFinished = false
        private(set) var failure: String?
        /// Changes what the gateway says on its way.
        var alter: ([UInt8]) -> [UInt8]? = { $0 }

        init(_ plan: TorturePlan, _ stage: Stage) {
            client = TortureClient(plan, network: stage.network, random: SeededRandom(seed: 4_475), hash: OpenSSLDigest.sip)
            client.onEvent = { [unowned self] event, _ in
                switch event {
                case .began: break
                case .judged(let result): results.append(result)
                case .finished(let failure): (isFinished, self.failure) = (true, failure)
                }
            }
        }

        var deadline: Instant? { client.deadline }
        func advance(to now: Instant) { client.advance(to: now) }
        func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
            if let bytes = alter(bytes) { client.receive(bytes, over: flow, at: now) }
        }
        func failed(_ flow: Flow, at now: Instant) { client.failed(flow, at: now) }
    }

    private static let own = SocketAddress(IPAddress(v4: 0xC000_0207), port: 5060)

    private func torture(
        _ stage: Stage, _ cases: [TortureCase], over transport: Transport = .udp, isExact: Bool = false,
        line: TorturePlan.Line? = .init(user: "2000"),
        alter: @escaping ([UInt8]) -> [UInt8]? = { $0 }
    ) throws -> [String: TortureResult] {
        let target = try URI(parsing: "sip:9196@hookswitch.test")
        var plan = TorturePlan(cases, target: target, flow: Flow(transport: transport, local: Self.own, remote: Cast.gateway))
        (plan.line, plan.isExact) = (line, isExact)
        let torturer = Torturer(plan, stage)
        torturer.alter = alter
        stage.network.attach(torturer, to: Self.own)
        stage.world.add(torturer)
        torturer.client.start(at: stage.world.now)
        for _ in 0..<1_000 where !torturer.isFinished { stage.run(seconds: 1) }
        #expect(torturer.isFinished && torturer.failure == nil, "\(torturer.failure ?? "it goes on for ever")")
        return Dictionary(uniqueKeysWithValues: torturer.results.map { ($0.name, $0) })
    }

    @Test(.timeLimit(.minutes(30)), arguments: [Transport.udp, .tcp])
    func `the gateway passes every case, and nothing is left of any`(transport: Transport) throws {
        let stage = Stage { $0.sip.reliability = .whenSupported }
        let results = try torture(stage, TortureCase.all, over: transport)
        #expect(results.count == TortureCase.all.count)
        for result in results.values where result.verdict != .passed {
            let isForDatagrams =
                result.verdict == .notJudged && transport == .tcp
                && ["dblreq", "clerr", "baddn", "options-again", "bye-again"].contains(result.name)
            #expect(isForDatagrams, "\(TortureText.line(result))")
        }
        stage.expectQuiet()
        #expect(stage.media.openLegs == 0)
    }

    /// What this gateway says, where the RFC leaves a choice; nil: nothing.
    private static let answers: [(name: String, status: Int?)] = [
        ("wsinv", 481), ("intmeth", 405), ("esc01", 404), ("escnull", 401), ("esc02", 405), ("lwsdisp", 200), ("longreq", 404),
        ("dblreq", 401), ("semiuri", 200),
        ("transports", 200), ("mpart01", 404), ("unreason", nil), ("noreason", nil), ("badinv01", 400), ("clerr", 400), ("ncl", 400),
        ("scalar02", 400),
        ("scalarlg", nil), ("quotbal", 400), ("ltgtruri", 400), ("lwsruri", 400), ("lwsstart", 400), ("trws", 400), ("escruri", 404),
        ("baddate", 404),
        ("regbadct", 400), ("badaspec", 400), ("baddn", 400), ("badvers", 505), ("mismatch01", 400), ("mismatch02", 400), ("bigcode", nil),
        ("badbranch", 200),
        ("insuf", 400), ("unkscm", 416), ("novelsc", 416), ("unksm2", 400), ("bext01", 420), ("invut", 415), ("regaut01", 401),
        ("multi01", 400), ("mcl01", 400),
        ("bcast", nil), ("zeromf", 200), ("cparam01", 401), ("cparam02", 401), ("regescrt", 401), ("sdp01", 406), ("inv2543", 404),
        ("ipv6-good", 401), ("ipv6-bad", 400), ("port-ambiguous", 401), ("port-unambiguous", 401), ("via-received-param-with-delim", 481),
        ("via-received-param-no-delim", 200), ("ipv6-in-sdp", 404), ("mult-ip-in-header", 481), ("mult-ip-in-sdp", 404),
        ("ipv4-mapped-ipv6", 404),
        ("ipv6-bug-abnf-3-colons", 200), ("ipv6-correct-abnf-2-colons", 200),
    ]

    /// Byte for byte, from port 5060, to a gateway that nobody spoke to before; but for three whose answers go to other ports.
    @Test(.timeLimit(.minutes(30)), arguments: answers)
    func `a message is answered as it should be, the gateway lives, and nothing is left behind`(name: String, status: Int?) throws {
        let stage = Stage(), test = try #require(TortureCase.all.first { $0.name == name })
        let result = try #require(
            try torture(stage, [test], isExact: !["mult-ip-in-header", "ipv4-mapped-ipv6", "quotbal"].contains(name), line: nil)[name])
        #expect(result.verdict == .passed, "\(TortureText.line(result))")
        #expect(result.came?.prefix(3) == status.map { "\($0)"[...] } ?? "not")
        stage.expectQuiet()
        let counts = stage.gateway.counts(at: stage.world.now)
        #expect(counts.agent.originals == 0 && counts.agent.timers == 0 && stage.gateway.registrar.counts.isEmpty)
    }

    @Test(.timeLimit(.minutes(30)))
    func `byte for byte one after the other, what has the branch of another is not judged, and nothing fails`() throws {
        let results = try torture(Stage(), TortureCase.all.filter { $0.group == .rfc4475 }, isExact: true, line: nil)
        let unjudged = results.values.filter { $0.reason?.contains("the branch of") == true }.map(\.name)
        #expect(unjudged.sorted() == ["badvers", "cparam02", "novelsc", "regescrt"])
        for result in results.values { #expect(result.verdict != .failed, "\(TortureText.line(result))") }
    }

    @Test func `no message is without its answer`() {
        #expect(Self.answers.map(\.name) == TortureMessage.all.map(\.name))
    }

    /// The gateway, whose answers somebody changes on their way.
    private func broken(_ change: @escaping (String) -> String?, _ names: [String]) throws -> [String: TortureResult] {
        try torture(Stage(), TortureCase.all.filter { names.contains($0.name) }) { bytes in
            change(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
        }
    }

    @Test func `a target that takes what it must refuse is found out`() throws {
        let results = try broken(
            { $0.replacingOccurrences(of: "SIP/2.0 400 Repeated", with: "SIP/2.0 200 Repeated") }, ["multi01", "wsinv"])
        let found = try #require(results["multi01"])
        #expect(found.verdict == .failed && found.expected == "400" && found.came?.hasPrefix("200") == true, "\(found)")
        #expect(results["wsinv"]?.verdict == .passed)
    }

    @Test func `a target that forgets the answer, the ACK's call or the header that belongs to a refusal is found out`() throws {
        let results = try broken(
            { text in
                if text.hasPrefix("SIP/2.0 481"), text.contains("BYE\r\n") {
                    return text.replacingOccurrences(of: "SIP/2.0 481", with: "SIP/2.0 200")
                }
                if text.hasPrefix("SIP/2.0 420") { return text.replacingOccurrences(of: "Unsupported:", with: "X-Unsupported:") }
                return text.replacingOccurrences(of: "a=recvonly", with: "a=sendrecv")
            }, ["second-bye", "unknown-extension", "hold-sendonly", "call"])
        #expect(results["second-bye"]?.came == "200 Call/Transaction Does Not Exist")
        #expect(results["unknown-extension"]?.came?.hasSuffix("without Unsupported") == true)
        #expect(results["hold-sendonly"]?.came == "a=sendrecv" && results["hold-sendonly"]?.expected == "a=recvonly or a=inactive")
        #expect(results["call"]?.verdict == .passed)
    }

    @Test func `a target that dies of a message is found out, and the rest is not judged`() throws {
        var isDead = false
        let results = try broken(
            { text in
                if text.contains("esc02") { isDead = true }
                return isDead ? nil : text
            }, ["wsinv", "esc02", "longreq"])
        #expect(results["wsinv"]?.verdict == .passed)
        #expect(results["esc02"]?.verdict == .failed && results["esc02"]?.expected == "an answer to OPTIONS afterwards")
        #expect(results["longreq"]?.verdict == .notJudged)
    }

    /// Datagrams and connections full of changed messages, over minutes of virtual time: nothing is left, no rule is broken, and calls are
    /// answered.
    @Test(.timeLimit(.minutes(30)), arguments: [Transport.udp, .tcp], [1, 2] as [UInt64])
    func `changed messages leave nothing behind`(transport: Transport, seed: UInt64) throws {
        let stage = Stage(), caller = RawPeer(stage, 1)
        var noise = MessageNoise(seed: seed, from: TortureMessage.all.map(\.bytes) + Self.dialogue)
        for number in 0..<2_500 {
            let source = SocketAddress(IPAddress(v4: 0xC633_6400 + UInt32(number % 8)), port: 5060)
            stage.network.send(noise.next(), over: Flow(transport: transport, local: source, remote: Cast.gateway))
            if number % 100 == 0 { stage.run(seconds: 0.5) }
        }
        stage.run(seconds: 1)
        caller.request("OPTIONS", "sip:hookswitch.test", call: "alive", 1)
        #expect(caller.final(.options, 1)?.status == 200, "seed \(seed)")
        stage.expectQuiet(after: 400)
        let counts = stage.gateway.counts(at: stage.world.now)
        #expect(counts.agent.originals == 0 && counts.agent.timers == 0, "seed \(seed): \(counts)")
        #expect(stage.gateway.registrar.counts.users <= 1, "there is one line that anybody may register for")
    }

    /// What makes and ends a call with the echo, so that changes of it get far.
    private static let dialogue = ["INVITE", "ACK", "BYE", "CANCEL", "REGISTER", "UPDATE", "OPTIONS"].map { method in
        let user = method == "REGISTER" ? "2000" : "9196"
        let body = "v=0\r\no=- 7 1 IN IP4 192.0.2.1\r\ns=-\r\nc=IN IP4 192.0.2.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0 8\r\na=sendrecv\r\n"
        let lines = [
            "\(method) sip:\(user)@hookswitch.test SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bKnoise;rport",
            "From: <sip:noise@192.0.2.1>;tag=noise",
            "To: <sip:\(user)@hookswitch.test>", "Call-ID: noise", "CSeq: 1 \(method)", "Contact: <sip:noise@192.0.2.1>",
            "Max-Forwards: 70",
            "Content-Type: application/sdp", "Content-Length: \(body.utf8.count)", "", body,
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}

/// Messages with a few bytes changed, left out, doubled or put in the place of others; the same seed makes the same.
private struct MessageNoise {
    private var random: SeededRandom
    private let messages: [[UInt8]]
    private static let telling = Array("\r\n\t ;,<>\":@=%/?[]*09z\u{0}".utf8)

    init(seed: UInt64, from messages: [[UInt8]]) { (random, self.messages) = (SeededRandom(seed: seed), messages) }

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<max(1, count), using: &random) }

    mutating func next() -> [UInt8] {
        var bytes = messages[below(messages.count)]
        for _ in 0...below(3) where !bytes.isEmpty {
            let at = below(bytes.count)
            switch below(6) {
            case 0: bytes[at] ^= 1 << UInt8(below(8))
            case 1: bytes[at] = Self.telling[below(Self.telling.count)]
            case 2: bytes.insert(Self.telling[below(Self.telling.count)], at: at)
            case 3: bytes.removeSubrange(at..<min(bytes.count, at + 1 + below(8)))
            case 4: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 20)], at: at)
            default: bytes.replaceSubrange(at..., with: messages[below(messages.count)].suffix(below(400)))
            }
        }
        return bytes
    }
}
