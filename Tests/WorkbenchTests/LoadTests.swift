import Audio
import Media
import Primitives
import RTP
import SDP
import SIP
import Testing
import UserAgent

@testable import Workbench

/// Loads in a room: every call is ours, at both ends of the wire, in virtual time.
@Suite struct LoadTests {
    @Test func `every call is begun, judged by its sound, and nothing is left`() throws {
        let load = Load { $0.calls = 12 }
        load.run(seconds: 30)
        #expect(load.calls.count == 12 && load.calls.allSatisfy { $0.outcome == .good }, "\(load.calls.flatMap(\.findings))")
        #expect(load.calls.allSatisfy { $0.caller?.audio == .right })
        #expect(load.calls.map(\.number) == Array(1...12))
        let setups = load.calls.compactMap(\.setup)
        #expect(setups.count == 12 && setups.allSatisfy { $0 == 10 }, "5 ms there and 5 ms back")
        load.expectNothingLeft()
    }

    @Test func `both ends are played and matched, and one-way delay is measured`() throws {
        let load = Load(playsItself: true) { $0.calls = 6 }
        load.run(seconds: 30)
        #expect(load.calls.count == 6 && load.calls.allSatisfy { $0.outcome == .good }, "\(load.calls.flatMap(\.findings))")
        #expect(load.calls.allSatisfy { $0.callee?.audio == .right && $0.caller?.audio == .right })
        let delays = load.calls.flatMap { [$0.caller?.delay, $0.callee?.delay, $0.caller?.lastDelay] }.compactMap(\.self)
        #expect(delays.count == 18 && delays.allSatisfy { abs($0 - 3) < 0.5 }, "packets take 3 ms: \(delays)")
        #expect(load.calls.allSatisfy { ($0.callee?.mos ?? 0) > 4 && ($0.caller?.rating ?? 0) > 90 }, "by G.107, without loss")
        #expect(
            load.calls.allSatisfy { $0.inviteTransit == 10 && $0.answerTransit == 10 && $0.byeTransit == 10 },
            "\(load.calls.map { [$0.inviteTransit, $0.answerTransit, $0.byeTransit] })")
        load.expectNothingLeft()
    }

    @Test func `a target that is silent on every 5th call is found and named`() throws {
        let load = Load({ $0.calls = 20 }) { number, script in if number % 5 == 0 { script.source = .silence } }
        load.run(seconds: 40)
        let found = try #require(load.tally.findings[.oneWay])
        #expect(found.numbers == [5, 10, 15, 20] && found.pattern == "every 5th call")
        #expect(found.text == "from the target to the caller: no packet came")
        #expect(load.tally[.faulty] == 4 && load.tally.findings.count == 1)
    }

    @Test func `the sound of another call, of an earlier one, and silence in packets are named`() throws {
        let load = Load({ ($0.calls, $0.arrivals) = (4, ArrivalPlan(rate: 0.3)) }) { number, script in
            switch number {
            case 2: script.source = .samples(SoundSignature(run: 1, call: 1, side: .caller).samples(), sampleRate: 8_000, loops: true)
            case 3: script.source = .samples(SoundSignature(run: 1, call: 4, side: .caller).samples(), sampleRate: 8_000, loops: true)
            case 4: script.source = .samples([Int16](repeating: 0, count: 8_000), sampleRate: 8_000, loops: true)
            default: break
            }
        }
        load.run(seconds: 40)
        #expect(load.calls.map { $0.caller?.audio } == [.right, .stale, .crossTalk, .silence])
        #expect(load.calls.map { $0.findings.map(\.kind) } == [[], [.stale], [.crossTalk], [.silence]])
    }

    /// The numbers of the packets tell no loss behind the last one that came.
    @Test(arguments: ExpectedSound.allCases)
    func `sound that stops in the middle of a call is lost, but for a prompt`(expected: ExpectedSound) throws {
        let load = Load({ ($0.calls, $0.hold, $0.expects) = (3, .fixed(.seconds(4)), expected) }) { number, script in
            let sound = SoundSignature(run: 1, call: UInt32(number), side: .caller).samples()
            script.source = .samples(Array(sound.prefix(8_000)), sampleRate: 8_000, loops: false)
        }
        load.run(seconds: 20)
        let isLost = expected == .echo || expected == .sound, caller = try #require(load.calls[0].caller)
        #expect(load.calls.map(\.outcome) == [CallFigures.Outcome](repeating: isLost ? .faulty : .good, count: 3))
        #expect(load.tally.findings[.missing]?.count == (isLost ? 3 : nil) && load.tally.findings.count == (isLost ? 1 : 0))
        #expect(caller.lossPercent.map { abs($0 - (isLost ? 75 : 0)) < 1.5 } == true, "\(caller)")
        #expect(caller.mos.map { isLost ? $0 < 2 : $0 > 4 } == true, "\(caller)")
        #expect(caller.stoppedAfter.map { abs($0 - 1_000) < 100 } == true, "\(caller)")
        guard isLost else { return }
        let text = try #require(load.tally.findings[.missing]?.text), second = try #require(load.calls[0].findings.first?.second)
        #expect(text.contains("stopped 1.0 s after the answer, and ") && abs(second - 1) < 0.1, "\(text)")
        if expected == .echo { #expect(text.contains("\(caller.sent - caller.received) of \(caller.sent) packets did not come back")) }
    }

    @Test(arguments: [true, false])
    func `one direction that stops is lost with its second, and what is sent after the hang-up is not`(toCallee: Bool) throws {
        let load = Load(playsItself: true) { ($0.calls, $0.hold) = (1, .fixed(.seconds(5))) }
        load.run(seconds: 2)
        let leg = try #require(load.client.phone.calls.values.first { $0.record.isOutgoing != toCallee }), port = leg.media.reservation?.rtp
        load.room.losesTo = { $0.port == port }
        load.run(seconds: 30)
        let call = try #require(load.calls.first), ends = [call.caller, call.callee]
        let stopped = ends[toCallee ? 1 : 0], other = ends[toCallee ? 0 : 1]
        #expect(stopped?.lossPercent.map { abs($0 - 60) < 2 } == true && other?.lossPercent == 0, "\(call)")
        #expect(stopped?.mos.map { $0 < 2 } == true && other?.mos.map { $0 > 4 } == true)
        #expect(
            call.findings.map(\.kind) == [.missing] && call.findings.first?.second.map { abs($0 - 2) < 0.1 } == true, "\(call.findings)")
        #expect(call.findings[0].text.hasPrefix(toCallee ? "from caller to callee: stopped " : "from callee to caller: stopped "))
    }

    @Test func `sound that comes long after it was spoken is a fault, and no loss`() throws {
        let load = Load(playsItself: true) { ($0.calls, $0.hold) = (1, .fixed(.seconds(5))) }
        load.run(seconds: 0.025)
        let leg = try #require(load.client.phone.calls.values.first { !$0.record.isOutgoing }), port = leg.media.reservation?.rtp
        load.room.delaysTo = { $0.port == port ? .seconds(1) : .zero }
        load.run(seconds: 30)
        let call = try #require(load.calls.first), callee = try #require(call.callee)
        #expect(callee.delay.map { abs($0 - 1_003) < 1 } == true && call.caller?.delay.map { $0 < 5 } == true, "\(call)")
        #expect(call.findings.map(\.kind) == [.longDelay] && call.findings[0].direction == .out, "\(call.findings)")
        #expect(callee.mos.map { $0 < 2 } == true && call.caller?.mos.map { $0 > 4 } == true, "\(call)")
    }

    @Test func `packets that a callee sends after the hang-up, which it never hears of, are not lost`() throws {
        let load = Load(playsItself: true) { ($0.calls, $0.hold) = (2, .fixed(.seconds(3))) }
        load.room.place(at: Room.address(3)) { message, _ in message.isRequest && message.method == .bye ? nil : Room.forwarded(message) }
        load.run(seconds: 100)
        #expect(load.calls.count == 2)
        for call in load.calls {
            #expect(
                call.findings.map(\.kind) == [.noEnd] && call.findings[0].consequences?.map(\.kind) == [.forgottenEnd], "\(call.findings)")
            #expect(call.caller?.lossPercent == 0 && call.callee?.lossPercent == 0, "\(call)")
        }
    }

    @Test(arguments: [[CallStep.hangUp], [.hold, .wait(.milliseconds(500)), .resume, .hangUp]])
    func `keys of steps are sent before the next step, and judged where the other end is ours`(after steps: [CallStep]) throws {
        let keys = [DTMFDigit("1"), .init("2"), .init("#")].compactMap(\.self)
        let load = Load(playsItself: true) { ($0.calls, $0.steps) = (2, [.wait(.seconds(1)), .press(keys)] + steps) }
        load.run(seconds: 30)
        #expect(
            load.loaded.map { String($0.callee?.digits.map(\.character) ?? []) } == ["12#", "12#"]
                && load.loaded.allSatisfy { $0.caller.pressed == keys })
        #expect(load.calls.allSatisfy { $0.outcome == .good }, "\(load.calls.flatMap(\.findings))")
        var deaf = try #require(load.loaded.first)
        deaf.callee?.digits = []
        #expect(CallJudge.figures(of: deaf).findings.map(\.kind) == [.keysLost])
        load.expectNothingLeft()
    }

    @Test(arguments: [(CallStep.hold, 1), (.reinvite, 0), (.resume, 0)])
    func `keys that cannot be pressed make no good call`(first: CallStep, failures: Int) throws {
        let keys = [DTMFDigit("1"), .init("2")].compactMap(\.self)
        let load = Load(playsItself: true) {
            ($0.calls, $0.steps) = (1, [.wait(.milliseconds(500)), first, .press(keys), .resume, .wait(.milliseconds(500)), .hangUp])
        }
        load.run(seconds: 10)
        let findings = load.calls.flatMap(\.findings).map(\.text)
        #expect(
            load.calls.count == 1 && findings == [String](repeating: "no keys are pressed: our sound is stopped", count: failures),
            "\(findings)")
    }

    @Test func `keys that the end of the call came before are missed by nobody`() throws {
        let keys = [DTMFDigit("1"), .init("2"), .init("#")].compactMap(\.self)
        let load = Load(playsItself: true) {
            ($0.calls, $0.hold, $0.steps) = (2, .fixed(.seconds(3)), [.wait(.seconds(1)), .press(keys), .wait(.seconds(9)), .press(keys)])
        }
        load.run(seconds: 30)
        #expect(load.loaded.map { String($0.callee?.digits.map(\.character) ?? []) } == ["12#", "12#"])
        #expect(load.calls.allSatisfy { $0.outcome == .good }, "\(load.calls.flatMap(\.findings))")
    }

    @Test(arguments: [true, false])
    func `a short call ends after its keys, and what is too short for a signature is not judged by it`(playsItself: Bool) {
        let keys = [DTMFDigit("1"), .init("5"), .init("9"), .init("#")].compactMap(\.self)
        for hold in [200, 400, 500, 700, 1_000] {
            for kind in [CallKind.dtmf, .plain, .hold] {
                let load = Load(playsItself: playsItself) {
                    ($0.calls, $0.hold, $0.mix, $0.keys) = (10, .fixed(.milliseconds(hold)), CallMix([kind: 100]), keys)
                }
                load.run(seconds: 30)
                #expect(
                    load.calls.count == 10 && load.calls.allSatisfy { $0.outcome == .good },
                    "\(kind) \(hold) ms: \(load.calls.flatMap(\.findings))")
                if kind == .dtmf { #expect(load.calls.allSatisfy { ($0.duration ?? 0) > Double(hold) + 600 }) }
            }
        }
    }

    @Test func `the kinds of a mix do what they are for`() throws {
        for kind in CallKind.allCases where kind != .plain {
            let load = Load(playsItself: true) {
                ($0.calls, $0.mix, $0.keys) = (2, CallMix([kind: 100]), [.init("4"), .init("#")].compactMap(\.self))
            }
            load.run(seconds: 30)
            #expect(
                load.calls.count == 2 && load.calls.allSatisfy { $0.kind == kind && $0.outcome == .good },
                "\(kind): \(load.calls.flatMap(\.findings))")
            let status = [.cancel: 487, .busy: 486][kind] ?? 200
            #expect(load.calls.allSatisfy { $0.status == status }, "\(kind)")
            if kind == .hold { #expect(load.loaded.allSatisfy { $0.callee?.timesHeld == 1 && $0.caller.offers.agreed == 2 }) }
            let delays = load.calls.flatMap { [$0.caller?.delay, $0.callee?.delay, $0.caller?.lastDelay, $0.callee?.lastDelay] }.compactMap(
                \.self)
            #expect(delays.allSatisfy { abs($0 - 3) < 0.5 }, "\(kind): \(delays)")
            if kind == .reinvite { #expect(load.loaded.allSatisfy { $0.caller.offers.agreed == 1 }) }
            if kind == .dtmf { #expect(load.loaded.allSatisfy { String($0.callee?.digits.map(\.character) ?? []) == "4#" }) }
            load.expectNothingLeft()
        }
    }

    @Test func `a CANCEL that crosses the 200 is nobody's fault, and the call is ended`() {
        let load = Load({ ($0.calls, $0.mix) = (5, CallMix([.cancel: 100])) }, after: .zero)
        load.run(seconds: 30)
        #expect(
            load.calls.count == 5 && load.calls.allSatisfy { $0.status == 200 && $0.outcome == .good },
            "\(load.calls.map(\.status)) \(load.calls.flatMap(\.findings))")
        load.expectNothingLeft()
    }

    @Test func `no more than so many are up at a time, and those not begun are counted`() {
        let load = Load { ($0.concurrent, $0.duration, $0.arrivals) = (3, .seconds(5), ArrivalPlan(rate: 10)) }
        load.run(seconds: 30)
        #expect(load.client.progress.mostActive == 3)
        #expect(load.client.progress.begun + load.client.progress.skipped == 50)
        #expect(load.client.progress.skipped > 20)
    }

    @Test func `stopped, it hangs up and hands out every call`() {
        let load = Load { ($0.calls, $0.hold) = (1_000, .fixed(.seconds(600))) }
        load.run(seconds: 3)
        load.client.stop(at: load.room.now)
        load.run(seconds: 2)
        #expect(load.calls.count == load.client.progress.begun && load.calls.count > 20)
        #expect(load.isFinished)
        load.expectNothingLeft()
    }

    @Test func `calls that ring when it is stopped are cut off, and nobody's fault`() {
        let load = Load({ ($0.calls, $0.hold) = (20, .fixed(.seconds(600))) }, after: .seconds(1))
        load.run(seconds: 1.55)
        load.client.stop(at: load.room.now)
        load.run(seconds: 2)
        let answered = load.calls.filter(\.isAnswered), tally = load.tally
        #expect(answered.count == 6 && answered.allSatisfy { $0.outcome == .good }, "\(answered.flatMap(\.findings))")
        #expect(tally[.cutOff] == 10 && tally.calls == 16 && tally.findings.isEmpty && tally.failedPercent == 0 && tally.tried == 6)
        load.expectNothingLeft()
    }

    @Test func `who was refused just before the stop was refused`() {
        let load = Load({ $0.calls = 20 }, refusing: 503)
        for _ in 0..<1_000 where load.client.progress.begun == 0 { load.run(seconds: 0.001) }
        load.run(seconds: 0.01)
        load.client.stop(at: load.room.now)
        load.run(seconds: 2)
        #expect(load.tally[.failed] == load.calls.count && load.tally[.cutOff] == 0 && !load.calls.isEmpty, "\(load.calls.map(\.outcome))")
    }

    @Test func `no more are begun after its time, though the next call is not due for long`() {
        let load = Load { ($0.arrivals, $0.duration) = (ArrivalPlan(rate: 0.001), .seconds(1)) }
        load.run(seconds: 4)
        #expect(load.calls.count == 1 && load.isFinished)
    }

    @Test func `refusals are counted by their status`() {
        let load = Load({ $0.calls = 4 }, refusing: 503)
        load.run(seconds: 10)
        #expect(load.tally.statuses == [503: 4] && load.tally.limited == 4 && load.tally.failedPercent == 100)
        #expect(load.tally.findings[.refused]?.text == "503 Service Unavailable")
    }

    @Test func `a call that the tool's own callee has no port for says nothing of the target`() {
        let load = Load(playsItself: true, ports: 20_000...20_005) { $0.calls = 2 }   // three pairs
        load.run(seconds: 20)
        #expect(load.calls.map(\.outcome) == [.good, .notTried] && load.calls[1].status == 503, "\(load.calls.flatMap(\.findings))")
        #expect(load.calls[1].findings == [Finding(.failure, "the tool has no port for its media")])
        let tally = load.tally
        #expect(
            tally.limited == 0 && tally.statuses == [200: 1] && tally.tried == 1 && tally.failedPercent == 0
                && load.client.progress.withoutPort == 1)
    }

    @Test func `what nobody answered has no status and no set-up time`() {
        let load = Load { $0.calls = 4 }
        load.room.place(at: Room.address(2)) { _, _ in nil }
        load.run(seconds: 40)
        #expect(load.tally.statuses == [0: 4] && load.tally.limited == 0 && load.tally.ineffectiveAttempts == 100)
        #expect(load.tally[.setup].count == 0 && load.tally.findings[.noAnswer]?.count == 4)
    }
}

/// A load on an answering telephone with an echo, or on itself.
private final class Load {
    let room = Room()
    let client: LoadClient
    private let seat: Room.Seat
    private(set) var loaded: [LoadedCall] = []
    private(set) var isFinished = false
    private var answered = 0

    init(
        playsItself: Bool = false, ports: ClosedRange<UInt16> = Room.ports, _ shape: (inout LoadPlan) -> Void, refusing status: Int? = nil,
        after delay: Duration = .milliseconds(20), answering: @escaping (Int, inout CallScript) -> Void = { _, _ in }
    ) {
        seat = room.seat("caller", 1, server: Room.address(playsItself ? 3 : 2), codecs: [.pcmu], ports: ports)
        var plan = LoadPlan()
        (plan.target, plan.arrivals, plan.hold, plan.playsBothEnds) = (
            URI(user: "callee", address: Room.address(playsItself ? 3 : 2)), ArrivalPlan(rate: 10), .fixed(.seconds(2)), playsItself
        )
        plan.expects = playsItself ? .sound : .echo
        shape(&plan)
        client = LoadClient(phone: seat.phone, plan: plan)
        seat.client = client
        client.onEvent = { [unowned self] event, _ in
            if case .call(let call) = event { loaded.append(call) }
            if case .finished = event { isFinished = true }
        }
        room.place(at: Room.address(3)) { message, _ in Room.forwarded(message) }
        if !playsItself {
            let phone = room.seat("callee", 2, server: Room.address(1), codecs: [.pcmu]).phone
            phone.onIncoming = { [unowned self] session, now in
                answered += 1
                if let status { return phone.refuse(session, status: status, at: now) }
                var script = CallScript()
                script.source = .echo
                answering(answered, &script)
                phone.ring(session, answeringAfter: delay, script: script, at: now)
            }
        }
        client.start(at: room.now)
    }

    func run(seconds: Double) { room.run(seconds: seconds) }

    /// In the order of their numbers.
    var calls: [CallFigures] { loaded.sorted { $0.number < $1.number }.map(CallJudge.figures) }

    var tally: LoadTally { calls.reduce(into: LoadTally()) { $0.add($1) } }

    func expectNothingLeft() {
        room.run(seconds: 40)   // transactions wait for copies for 32 s
        let left = seat.phone.counts(at: room.now).leftovers
        #expect(left.isEmpty, "\(left)")
        #expect(room.boundSockets == 0 && isFinished)
    }
}
