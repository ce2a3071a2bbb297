import Media
import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Queues on the wire and in the journal.
@Suite struct QueueCallTests {
    private static let uri = "sip:7000@hookswitch.test"
    private let stage: Stage
    private let callers: [RawPeer], agents: [RawPeer]

    init() { self.init { _ in } }

    private init(_ adapt: @escaping (inout QueueSettings) -> Void) {
        stage = Stage { configuration in
            var queue = QueueSettings(members: ["2001", "2002"])
            queue.strategy = .inTurn
            adapt(&queue)
            var line = LineConfiguration(number: "7000")
            line.endpoint = .application(.queue(queue))
            configuration.lines.append(line)
            for number: Text in ["2001", "2002"] {
                var member = LineConfiguration(number: number)
                member.isOpen = true
                configuration.lines.append(member)
            }
        }
        let stage = stage
        callers = (1...4).map { RawPeer(stage, $0) }
        agents = (11...12).map { RawPeer(stage, $0) }
    }

    private func register(_ index: Int) { agents[index].request("REGISTER", "sip:200\(index + 1)@hookswitch.test", call: "r\(index)", 1) }

    private func call(_ index: Int) {
        callers[index].request("INVITE", Self.uri, call: "c\(index)", 1, body: callers[index].description("0"))
        callers[index].request("ACK", Self.uri, call: "c\(index)", 1, toTag: tag(index))
    }

    private func tag(_ index: Int) -> Text? { callers[index].final(.invite, 1)?.to.tag }

    private func hangUp(_ index: Int) { callers[index].request("BYE", Self.uri, call: "c\(index)", 9, toTag: tag(index)) }

    private func answer(_ index: Int) throws {
        let invite = try agents[index].received(.invite)
        agents[index].answer(invite, 200, body: agents[index].description("0"))
    }

    private var queue: QueueSummary { get throws { try #require(stage.gateway.queueSummaries(at: stage.world.now).first) } }

    @Test func `callers wait until a member is free, in their order`() throws {
        register(0)
        for index in 0..<3 { call(index) }
        #expect(try queue.callers.count == 3 && queue.members.map(\.state) == [.ringing, .unavailable])
        try answer(0)
        #expect(try queue.callers.count == 2 && queue.members[0].state == .busy)
        let first = try agents[0].received(.invite)
        agents[0].hangUp(first)
        callers[0].answer(try callers[0].received(.bye), 200)
        let second = try agents[0].received(.invite)
        #expect(second.callID != first.callID, "the next rings as soon as the member is free")
        #expect(stage.events(.queueEntered).map { $0.details.number(.count) } == [1, 2, 3])
        try answer(0)
        register(1)
        stage.run(seconds: 6)
        try answer(1)
        #expect(try queue.callers.isEmpty && queue.answered == 3)
        #expect(stage.events(.queueAnswered).map { $0.details.text(.remote) } == ["2001", "2001", "2002"])
        for index in 1...2 {
            hangUp(index)
            agents[index - 1].answer(agents[index - 1].request(.bye), 200)
        }
        stage.expectQuiet()
    }

    @Test func `a member who does not answer is followed by the next, and the caller keeps waiting`() throws {
        register(0)
        register(1)
        call(0)
        #expect(agents[1].request(.invite) == nil)
        let first = try agents[0].received(.invite)
        agents[0].answer(first, 180)
        stage.run(seconds: 21)
        #expect(agents[0].request(.cancel) != nil)
        agents[0].answer(first, 487)
        try answer(1)
        #expect(stage.events(.queueOffered).map { $0.details.text(.text) } == ["2001", "2002"])
        hangUp(0)
        agents[1].answer(agents[1].request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `one more than the queue takes, and who waits too long, go elsewhere`() throws {
        let tests = QueueCallTests {
            ($0.length, $0.wait, $0.overflow) = (1, .seconds(30), .call("9196"))
        }
        tests.call(0)
        tests.call(1)
        #expect(tests.stage.events(.queueLeft).map { $0.details.text(.cause) } == ["full"])
        #expect(tests.stage.events(.transferred).count == 2)
        tests.stage.run(seconds: 31)
        #expect(tests.stage.events(.queueLeft).map { $0.details.text(.cause) } == ["full", "wait"])
        #expect(try tests.queue.overflowed == 2 && tests.stage.events(.transferred).count == 4)
        for index in 0...1 { tests.hangUp(index) }
        tests.stage.expectQuiet()
    }

    @Test func `who hangs up is gone, and rings nobody`() throws {
        register(0)
        call(0)
        let invite = try agents[0].received(.invite)
        agents[0].answer(invite, 180)
        hangUp(0)
        #expect(agents[0].request(.cancel) != nil && stage.events(.queueLeft).map { $0.details.text(.cause) } == ["abandoned"])
        agents[0].answer(invite, 487)
        stage.expectQuiet()
        #expect(try queue.abandoned == 1 && queue.callers.isEmpty)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64], QueueSettings.Strategy.allCases)
    func `queues at random break no rule, and lose nobody`(seed: UInt64, strategy: QueueSettings.Strategy) throws {
        let tests = QueueCallTests {
            ($0.strategy, $0.length, $0.wait, $0.ringTime, $0.pause) = (strategy, 3, .seconds(25), .seconds(4), .seconds(1))
        }
        var random = SeededRandom(seed: seed)
        for round in 0..<60 { tests.act(round, &random) }
        tests.stage.run(seconds: 60)
        tests.stage.gateway.endAll(at: tests.stage.world.now)
        tests.stage.expectQuiet()
        let queue = try tests.queue
        #expect(queue.entered == queue.answered + queue.abandoned + queue.overflowed && queue.callers.isEmpty)
        #expect(queue.entered > 3 && tests.stage.events(.queueOffered).count > 0)
    }

    /// Something that a caller or a member may do.
    private func act(_ round: Int, _ random: inout SeededRandom) {
        let index = Int.random(in: 0..<4, using: &random), agent = agents[index % 2]
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let name = "x\(round)", peer = callers[index]
            peer.request("INVITE", Self.uri, call: name, 1, body: peer.description("0"))
            peer.request("ACK", Self.uri, call: name, 1, toTag: peer.final(.invite, 1)?.to.tag)
        case 2: agent.answer(agent.request(.invite), 200, body: agent.description("0"))
        case 3: agent.answer(agent.request(.invite), 486)
        case 4: agent.hangUp(agent.request(.invite))
        case 5: callers[index].request("BYE", Self.uri, call: "x\(max(0, round - 3))", 9, toTag: tag(index))
        case 6: register(index % 2)
        default: stage.run(seconds: Double(Int.random(in: 1...9, using: &random)))
        }
        for peer in callers + agents { if let bye = peer.request(.bye) { peer.answer(bye, 200) } }
    }
}
