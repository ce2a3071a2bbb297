import Audio
import Media
import Primitives
import RTP
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Calls that go on from a menu, on the wire and in the journal.
@Suite struct MenuCallTests {
    private static let uri = "sip:9000@hookswitch.test"
    private let stage: Stage
    private let caller: RawPeer, device: RawPeer

    init() { self.init { _, _ in } }

    private init(_ adapt: @escaping (inout GatewayConfiguration, inout Gateway.Environment) -> Void) {
        stage = Stage { configuration, environment in
            var level = Menu.Level(prompt: .sound(WAV(sampleRate: 8_000, samples: [1, 2, 3])))
            level.choices = ["1": .call("2000"), "2": .call("9196"), "3": .hook, "0": .hangUp]
            level.retries = 1
            var line = LineConfiguration(number: "9000")
            line.endpoint = .application(.menu(Menu([level])))
            configuration.lines.append(line)
            adapt(&configuration, &environment)
        }
        (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
    }

    private func call(formats: String = "0 8 101") {
        caller.request("INVITE", Self.uri, call: "menu", 1, body: caller.description(formats))
        caller.request("ACK", Self.uri, call: "menu", 1, toTag: tag)
    }

    private var tag: Text? { caller.final(.invite, 1)?.to.tag }

    /// By telephone event.
    private func press(_ key: Character) throws { stage.tell(.digit(try #require(DTMFDigit(key))), of: 1) }

    private func hangUp() {
        caller.request("BYE", Self.uri, call: "menu", 9, toTag: tag)
        device.answer(device.request(.bye), 200)
    }

    private func kinds(_ wanted: [JournalEvent.Kind]) -> [JournalEvent.Kind] {
        stage.transcript.events.map(\.kind).filter(wanted.contains)
    }

    @Test(arguments: [false, true]) func `a choice rings at a line's device, and the two talk`(isByInfo: Bool) throws {
        call(formats: isByInfo ? "0 8" : "0 8 101")
        if isByInfo {
            caller.request(
                "INFO", Self.uri, call: "menu", 2, toTag: tag, body: "Signal=1\r\nDuration=160\r\n",
                headers: ["Content-Type: application/dtmf-relay"])
        } else {
            try press("1")
        }
        let invite = try device.received(.invite)
        #expect(invite.from.uri.user == "peer" && caller.request(.invite) == nil, "who called is who calls on")
        device.answer(invite, 180)
        #expect(stage.media.openLegs == 1)
        device.answer(invite, 200, body: device.description("0"))
        #expect(device.request(.ack) != nil && stage.media.openLegs == 2)
        #expect(stage.gateway.counts(at: stage.world.now).media.started == 2)
        #expect(kinds([.menuEntered, .menuChoice, .transferred]) == [.menuEntered, .menuChoice, .transferred, .transferred])
        hangUp()
        stage.expectQuiet()
    }

    @Test func `who hangs up behind a menu ends the other's call`() throws {
        call()
        try press("1")
        let invite = try device.received(.invite)
        device.answer(invite, 200, body: device.description("0"))
        device.hangUp(invite)
        caller.answer(try caller.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a caller who hangs up while it rings cancels that`() throws {
        call()
        try press("1")
        let invite = try device.received(.invite)
        device.answer(invite, 180)
        hangUp()
        #expect(device.request(.cancel) != nil)
        device.answer(invite, 487)
        stage.expectQuiet()
    }

    @Test func `a line that is busy leads back into the menu, and after the last attempt the call ends`() throws {
        call()
        for attempt in 1...2 {
            try press("1")
            let invite = try device.received(.invite)
            device.answer(invite, 486)
            #expect(stage.events(.transferFailed).map { $0.details.number(.status) } == Array(repeating: 486, count: attempt))
            #expect((caller.request(.bye) != nil) == (attempt == 2))
            stage.tell(.sourceFinished, of: 1)
        }
        caller.answer(caller.request(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a choice may be another application`() throws {
        call()
        try press("2")
        #expect(stage.media.openLegs == 3, "we call ourselves")
        #expect(kinds([.transferred]).count == 2)
        hangUp()
        stage.expectQuiet()
    }

    @Test func `nobody who presses no key stays for ever`() throws {
        call()
        for _ in 1...2 {
            stage.tell(.sourceFinished, of: 1)
            stage.run(seconds: 6)
        }
        #expect(stage.events(.menuFailed).map { $0.details.text(.cause) } == ["timeout", "timeout"])
        caller.answer(try caller.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test(arguments: [CallDecision.number("2000"), .ring(RingGroup([.init("2000")])), .application(.echo), .refused(status: 603)])
    func `a choice asks the hook, which has the digits`(decision: CallDecision) throws {
        var asked: [Text?] = [], answers: [(CallVerdict, Instant) -> Void] = []
        let tests = MenuCallTests { _, environment in
            environment.routing = { call, completion in
                asked.append(call.digits)
                if call.digits == nil { completion(CallVerdict(.asDialled), .zero) } else { answers.append(completion) }
            }
        }
        tests.call()
        try tests.press("3")
        #expect(asked == [nil, "3"])
        tests.stage.run(seconds: 1)
        try #require(answers.count == 1)
        answers[0](CallVerdict(decision), tests.stage.world.now)
        tests.stage.run(seconds: 0.1)
        switch decision {
        case .refused: tests.caller.answer(try tests.caller.received(.bye), 200)
        case .application: #expect(tests.stage.media.openLegs == 1 && tests.caller.request(.bye) == nil)
        default: tests.device.answer(try tests.device.received(.invite), 200, body: tests.device.description("0"))
        }
        if case .application = decision { tests.hangUp() } else if case .refused = decision {} else { tests.hangUp() }
        tests.stage.expectQuiet()
    }

    @Test func `keys of a far end without events are sought in its sound, whatever the setting`() throws {
        call(formats: "0 8")
        let leg = try #require(stage.gateway.table.leg(of: MediaLegID(1))), audio = try #require(leg.call.agreed)
        #expect(leg.plan(for: audio).detectsDTMF && !stage.gateway.configuration.media.detectsDTMF)
        hangUp()
        stage.expectQuiet()
    }
}
