import Audio
import Media
import Primitives
import RTP
import SDP
import SIP
import Testing
import UserAgent
import Workbench

@Suite struct CallTests {
    @Test(arguments: Codec.usual) func `what is played to an echo comes back, and the verdict says so`(codec: Codec) throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 3)
        script.expectation = .echo
        script.hangUpAfterPlaying = .milliseconds(500)
        let pair = Pair(codecs: [codec], calling: script) {
            $0.script.source = .echo
            $0.script.expectation = .sound
        }
        pair.start()
        pair.room.run(seconds: 40)
        let result = try #require(pair.finished?.record).result()
        #expect(result.status == 200 && result.endedBy == .us && result.failure == nil && result.codec == "\(codec.name)")
        #expect(result.verdict == .bothWays && result.isGood)
        #expect(try #require(result.audio?.correlation) > 0.8)
        #expect(result.setupTime == 10 && result.answerTime == 210)
        let packets = try #require(result.packets)
        #expect((145...176).contains(packets.sent) && packets.received >= packets.sent - 2 && packets.lost == 0)
        #expect((3_400...3_600).contains(try #require(result.duration)))
        #expect(try #require(pair.answered.first).endedBy == .them)
        #expect(pair.leftovers == [])
    }

    @Test func `sockets are bound between the answer and the end, and packets flow inside of that`() throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 10)
        script.duration = .seconds(1)
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.start()
        pair.room.run(seconds: 5)
        func place(_ entry: String) throws -> Int { try #require(pair.room.log.firstIndex(of: entry)) }
        func last(_ entry: String) throws -> Int { try #require(pair.room.log.lastIndex(of: entry)) }
        // The callee binds before its 200 leaves and after nothing but a 180; the caller once it has the 200, and before its ACK.
        #expect(try place("callee 180 INVITE") < place("callee bind") && place("callee bind") < place("callee 200 INVITE"))
        #expect(try place("callee 200 INVITE") < place("caller bind") && place("caller bind") < place("caller ACK"))
        #expect(try place("caller ACK") < place("caller rtp") && place("caller ACK") < place("callee rtp"))
        #expect(try last("caller rtp") < place("caller BYE") && last("callee rtp") < place("callee 200 BYE"))
        #expect(try place("caller unbind") < place("caller BYE"), "the media of the side that hangs up is gone before it says so")
        #expect(try place("caller unbind") > last("caller rtp") && place("callee unbind") > last("callee rtp"))
        #expect(pair.leftovers == [])
    }

    @Test func `each side's recording holds what the other played`() throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 4)
        script.expectation = .recording(babble(seed: 2, seconds: 4), sampleRate: 8_000)
        script.duration = .seconds(7)   // long enough for a report by RTCP
        let pair = Pair(calling: script) {
            $0.script.source = samples(seed: 2, seconds: 4)
            $0.script.expectation = .recording(babble(seed: 3, seconds: 4), sampleRate: 8_000)
        }
        pair.start()
        pair.room.run(seconds: 10)
        let (mine, theirs) = (try #require(pair.finished?.record), try #require(pair.answered.first))
        let both = CallRecord.bothWays(mine, theirs)
        #expect(both.isGood && both.there > 0.9 && both.back > 0.9)
        #expect(!CallRecord.bothWays(mine, mine).isGood)
        #expect(mine.result().verdict == .bothWays)
        #expect(theirs.result().verdict == .unexpected && !theirs.result().isGood)
    }

    @Test(arguments: [(1_000.0, AudioVerdict.received), (440, .unexpected)])
    func `a tone is recognised by its frequency`(expected: Double, verdict: AudioVerdict) throws {
        var script = CallScript()
        script.expectation = .tone(expected)
        script.duration = .seconds(2)
        let pair = Pair(calling: script) { $0.script.source = .tone(Tone(1_000)) }
        pair.start()
        pair.room.run(seconds: 5)
        let result = try #require(pair.finished?.record).result()
        #expect(result.verdict == verdict)
        #expect((try #require(result.audio?.tonePresence) > 0.9) == (expected == 1_000))
    }

    @Test func `a callee that sends nothing, and one that sends silence, are told apart`() throws {
        for (source, verdict) in [
            (MediaSource.silence, AudioVerdict.nothing),
            (.samples([Int16](repeating: 0, count: 16_000), sampleRate: 8_000, loops: true), .silence),
        ] {
            var script = CallScript()
            script.duration = .seconds(2)
            let pair = Pair(calling: script) { $0.script.source = source }
            pair.start()
            pair.room.run(seconds: 5)
            let result = try #require(pair.finished?.record).result()
            #expect(result.verdict == verdict && !result.isGood)
        }
    }

    /// The numbers of the packets tell no loss behind the last one, and no status is missing from a BYE that nobody answers.
    @Test(arguments: [(CallScript.Expectation.echo, true), (.sound, true), (.echo, false), (.sound, false)])
    func `a far end that dies in the middle of a call makes it no good one`(expectation: CallScript.Expectation, dies: Bool) throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 8)
        script.expectation = expectation
        script.duration = .seconds(8)
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.start()
        pair.room.run(seconds: 3)
        if dies { pair.room.loses = { _ in true } }
        pair.room.place(at: Room.address(2)) { _, _ in nil }
        pair.room.run(seconds: 60)
        let result = try #require(pair.finished?.record).result()
        #expect((result.verdict == .cutShort) == dies)
        let isNamed =
            result.failure?.wholeMatch(of: /nothing came in the last 5.[12] s: the sound stopped 2.[78] s after the answer/) != nil
        #expect(!result.isGood && (dies ? isNamed : result.failure == "the BYE was not answered"), "\(result.failure ?? "")")
        let packets = try #require(result.packets)
        #expect(packets.lossPercent.map { dies ? abs($0 - 64) < 2 : $0 == 0 } == true, "\(packets)")
        #expect(packets.mos.map { dies ? $0 < 2 : $0 > 4 } == true && (packets.stoppedAfter != nil) == dies, "\(packets)")
    }

    @Test(arguments: [true, false]) func `a hold, and keys, cost no sound, and a stop after them does`(stops: Bool) throws {
        var script = CallScript()
        (script.source, script.duration) = (samples(seed: 1, seconds: 30), .seconds(10))
        script.digits = ["1", "2", "#"].compactMap { DTMFDigit($0) }
        let pair = Pair(calling: script) { $0.script.source = .tone(Tone(500)) }
        pair.start()
        pair.room.run(seconds: 3)
        let call = try #require(pair.answeredCall)
        #expect(call.setHold(true, at: pair.room.now))
        pair.room.run(seconds: 3)
        #expect(call.setHold(false, at: pair.room.now))
        pair.room.run(seconds: 1)
        if stops { pair.room.loses = { _ in true } }
        pair.room.run(seconds: 10)
        let result = try #require(pair.finished?.record).result(), packets = try #require(result.packets)
        #expect((result.verdict == .cutShort) == stops && (packets.lossPercent ?? 0 > 20) == stops, "\(result)")
        #expect((packets.stoppedAfter.map { abs($0 - 6_790) < 100 } ?? false) == stops, "\(packets)")
    }

    @Test func `a prompt may end`() throws {
        var script = CallScript()
        (script.expectation, script.duration) = (.prompt, .seconds(6))
        let pair = Pair(calling: script) { $0.script.source = samples(seed: 2, seconds: 2) }
        pair.start()
        pair.room.run(seconds: 9)
        let result = try #require(pair.finished?.record).result()
        #expect(result.isGood && result.packets?.lossPercent == 0 && result.packets?.stoppedAfter.map { $0 < 2_300 } == true, "\(result)")
    }

    @Test func `a call whose BYE nobody answers is told of where its end is not waited for`() throws {
        let pair = Pair()
        pair.start()
        pair.room.run(seconds: 1)
        pair.room.place(at: Room.address(1)) { _, _ in nil }
        pair.callee.stop(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(pair.answered.isEmpty && !pair.calleeFinished)
        pair.callee.abandon(at: pair.room.now)
        pair.room.run(seconds: 0.1)
        #expect(try #require(pair.answered.first).result().failure == "the BYE was not answered")
        #expect(pair.calleeFinished && pair.calleeSeat.plane.counts(at: pair.room.now).isIdle)
    }

    /// To the other side the call is over when our BYE comes: RFC 5407 §3.2.1 where it has said so itself.
    @Test(arguments: [true, false]) func `a BYE that is answered 481 ends a call in order where both hang up at once`(both: Bool) throws {
        let pair = Pair()
        pair.start()
        pair.room.run(seconds: 1)
        let theirs = try #require(pair.answeredCall), session = try #require(theirs.session)
        if both { theirs.hangUp(at: pair.room.now) }
        session.vanish(at: pair.room.now)
        pair.call?.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        let record = try #require(pair.finished?.record)
        #expect(record.byeStatus == 481 && (record.disconnected != nil) == both)
        #expect(record.result().failure == (both ? nil : "the BYE was answered 481"))
    }

    @Test func `an answerer ends with its last call, also where it has no port for it`() throws {
        let room = Room(), seat = room.seat("callee", 2, server: Room.address(1), codecs: [.pcmu], ports: 20_000...20_001)
        let caller = room.seat("caller", 1, server: Room.address(2), codecs: [.pcmu])
        var policy = AnswerPolicy(), plan = LoadPlan(), hasFinished = false, statuses: [Int] = []
        (policy.totalCalls, policy.answersAfter) = (2, .zero)
        (plan.target, plan.calls, plan.hold) = (URI(user: "callee", address: Room.address(2)), 2, .fixed(.milliseconds(300)))
        let answerer = LoadClient(phone: seat.phone, plan: .answering(policy, as: nil)),
            client = LoadClient(phone: caller.phone, plan: plan)
        (seat.client, caller.client) = (answerer, client)
        answerer.onEvent = { event, _ in if case .finished = event { hasFinished = true } }
        client.onEvent = { event, _ in if case .call(let call) = event { statuses.append(call.caller.status) } }
        answerer.start(at: room.now)
        client.start(at: room.now)
        room.run(seconds: 1.5)   // the first one's port rests for two seconds
        #expect(statuses == [200, 503] && hasFinished)
    }

    /// Each would linger, and be waited for.
    @Test func `who calls when nobody is waited for any more is refused without a record`() throws {
        let pair = Pair()
        pair.start()
        pair.room.run(seconds: 1)
        pair.room.place(at: Room.address(1)) { _, _ in nil }
        pair.callee.stop(at: pair.room.now)
        pair.callee.abandon(at: pair.room.now)
        let seat = pair.room.seat("late", 4, server: Room.address(2)),
            late = LoadClient(phone: seat.phone, plan: .call(pair.target, CallScript(), timeout: .seconds(20)))
        var status: Int?
        seat.client = late
        late.onEvent = { event, _ in if case .call(let call) = event { status = call.caller.status } }
        late.start(at: pair.room.now)
        pair.room.run(seconds: 0.07)   // the call that is abandoned lingers for 50 ms, and the late one comes after 5
        #expect(pair.calleeFinished && pair.answered.count == 1)
        pair.room.run(seconds: 1)
        #expect(status == 480)
    }

    @Test(arguments: [1.0, 3])
    func `an echo that stops is not taken for any other sound`(seconds: Double) throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 6)
        script.duration = .seconds(6)
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.start()
        pair.room.run(seconds: seconds)
        pair.room.loses = { _ in true }
        pair.room.run(seconds: 10)
        let result = try #require(pair.finished?.record).result(ifEchoed: .echo)
        #expect(result.verdict == .cutShort && !result.isGood && result.failure?.hasPrefix("nothing came in the last") == true, "\(result)")
    }

    @Test func `an echo whose first packets are lost is not heard before it was sent`() throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 4)
        script.expectation = .echo
        script.duration = .seconds(4)
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.room.loses = { $0 < 12 }
        pair.start()
        pair.room.run(seconds: 10)
        let result = try #require(pair.finished?.record).result()
        #expect((5...30).contains(try #require(result.audio?.delay)) && result.verdict == .bothWays, "\(String(describing: result.audio))")
    }

    @Test func `lost packets are counted, and the sound is still the same`() throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 4)
        script.expectation = .echo
        script.duration = .seconds(4)
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.room.loses = { $0 % 20 == 0 }
        pair.start()
        pair.room.run(seconds: 10)
        let result = try #require(pair.finished?.record).result()
        #expect((2...20).contains(try #require(result.packets?.lossPercent)))
        #expect(result.verdict == .bothWays)
    }

    @Test func `keys pressed after the connection arrive`() throws {
        var script = CallScript()
        script.digits = ["1", "2", "#"].compactMap { DTMFDigit($0) }
        script.duration = .seconds(3)
        let pair = Pair(calling: script)
        pair.start()
        pair.room.run(seconds: 6)
        #expect(try #require(pair.answered.first).result().digitsReceived == "12#")
        #expect(pair.events.contains("caller digitsSent"))
    }

    @Test func `what was played with keys between is not measured against what came back`() throws {
        var script = CallScript()
        (script.source, script.expectation, script.duration) = (samples(seed: 1, seconds: 4), .echo, .seconds(4))
        script.digits = ["1", "2", "#"].compactMap { DTMFDigit($0) }
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.start()
        pair.room.run(seconds: 6)
        let audio = try #require(pair.finished?.record.map { $0.result() }?.audio)
        #expect(audio.correlation == nil && audio.delay == nil && audio.level != nil)
    }

    @Test func `a hold stops the packets of both, and its end brings them back`() throws {
        var script = CallScript()
        script.source = .samples(babble(seed: 1, seconds: 2), sampleRate: 8_000, loops: true)
        let pair = Pair(calling: script) { $0.script.source = .samples(babble(seed: 2, seconds: 2), sampleRate: 8_000, loops: true) }
        pair.start()
        pair.room.run(seconds: 2)
        let call = try #require(pair.call)
        #expect(call.setHold(true, at: pair.room.now))
        #expect(!call.setHold(false, at: pair.room.now), "one offer at a time")
        pair.room.run(seconds: 0.2)
        #expect(call.isHolding)
        let held = pair.room.log.count
        pair.room.run(seconds: 3)
        #expect(!pair.room.log[held...].contains { $0.hasSuffix("rtp") })
        #expect(call.setHold(false, at: pair.room.now))
        pair.room.run(seconds: 1)
        #expect(pair.room.log[held...].contains("caller rtp") && pair.room.log[held...].contains("callee rtp"))
        call.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(
            pair.events.filter { $0.contains("held") || $0.contains("resumed") || $0.contains("hold") } == [
                "callee held", "caller holdChanged(isHolding: true)", "callee resumed", "caller holdChanged(isHolding: false)",
            ])
        #expect(try #require(pair.answered.first).result().timesHeld == 1)
        #expect(pair.leftovers == [])
    }

    @Test func `the callee may hold and hang up as well`() throws {
        let pair = Pair { $0.script.source = .tone(Tone(500)) }
        pair.start()
        pair.room.run(seconds: 1)
        let call = try #require(pair.answeredCall)
        #expect(call.setHold(true, at: pair.room.now))
        pair.room.run(seconds: 1)
        call.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        let record = try #require(pair.finished?.record)
        #expect(record.timesHeld == 1 && record.endedBy == .them)
        #expect(try #require(pair.answered.first).endedBy == .us)
        #expect(pair.leftovers == [])
    }
}
