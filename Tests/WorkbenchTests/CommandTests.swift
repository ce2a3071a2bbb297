import Audio
import Media
import Primitives
import RTP
import SIP
import Testing
import UserAgent
import Workbench

/// What somebody wants of a call while it is there.
@Suite struct CommandTests {
    private func loud(_ pair: Pair, from start: Int, to end: Int) throws -> Bool {
        let heard = try #require(pair.answered.first).heard.samples
        try #require(heard.count >= end)
        return LevelMeter.level(of: heard.span.extracting(start..<end)) > -50
    }

    /// Packets go on: a far end that hears nothing at all may take its call for lost.
    @Test func `a muted call sends silence, and then goes on with what it plays`() throws {
        var script = CallScript()
        script.source = samples(seed: 1, seconds: 6)
        let pair = Pair(calling: script) { $0.answersAfter = .zero }
        pair.start()
        pair.room.run(seconds: 2)
        let call = try #require(pair.call)
        #expect(call.setMute(true, at: pair.room.now) && call.isMuted && !call.setMute(true, at: pair.room.now))
        pair.room.run(seconds: 2)
        #expect(call.setMute(false, at: pair.room.now) && !call.setMute(false, at: pair.room.now))
        pair.room.run(seconds: 1.5)
        call.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        #expect(try loud(pair, from: 2_000, to: 14_000) && loud(pair, from: 34_000, to: 42_000) && !loud(pair, from: 17_000, to: 31_000))
        let packets = try #require(pair.finished?.record?.statistics?.sending.packets)
        #expect((270...280).contains(packets), "\(packets) in 5.5 s")
        #expect(pair.events.filter { $0.contains("muted") } == ["caller muted(true)", "caller muted(false)"])
        // It went on meanwhile, and did not begin anew: what is heard behind the silence is what is played there.
        let played = babble(seed: 1, seconds: 6), heard = try #require(pair.answered.first).heard.samples
        let behind = 34_000..<42_000
        let likeness = try SignalCorrelation(sent: Array(played[behind]), received: Array(heard[behind]), sampleRate: 8_000)
        #expect(likeness.score > 0.9 && abs(likeness.delayMilliseconds) < 100, "\(likeness)")
        #expect(pair.leftovers == [])
    }

    @Test func `a muted echo sends silence of its own`() throws {
        var script = CallScript()
        script.source = .tone(Tone(1_000))
        let pair = Pair(calling: script) { ($0.answersAfter, $0.script.source) = (.zero, .echo) }
        pair.start()
        pair.room.run(seconds: 1)
        let echo = try #require(pair.answeredCall), before = try pair.callerSeat.engine.statistics(of: MediaLegID(1)).receiving.packets
        #expect(echo.setMute(true, at: pair.room.now))
        pair.room.run(seconds: 2)
        let after = try pair.callerSeat.engine.statistics(of: MediaLegID(1)).receiving.packets
        #expect((98...102).contains(after - before), "\(after - before) packets of silence")
        pair.call?.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        let heard = try #require(pair.finished?.record).heard.samples
        func level(_ part: Range<Int>) -> Double { LevelMeter.level(of: heard.span.extracting(part)) }
        #expect(level(0..<7_000) > -30 && level(9_000..<20_000) < -60)
    }

    @Test func `a call is held and resumed with its media stopped and started`() throws {
        var script = CallScript()
        script.source = .tone(Tone(1_000))
        let pair = Pair(calling: script) { $0.script.source = .echo }
        pair.start()
        pair.room.run(seconds: 1)
        let call = try #require(pair.call)
        #expect(call.commandHold(true, at: pair.room.now))
        pair.room.run(seconds: 4)
        #expect(call.commandHold(false, at: pair.room.now))
        pair.room.run(seconds: 1)
        call.hangUp(at: pair.room.now)
        pair.room.run(seconds: 1)
        let steps = pair.events.filter { $0.hasPrefix("caller") }.map { String($0.prefix { $0 != "(" }) }
        #expect(
            steps == [
                "caller ringing 180", "caller answered", "caller mediaStarted", "caller connected", "caller mediaStopped",
                "caller holdChanged",
                "caller mediaStarted", "caller holdChanged", "caller mediaStopped",
            ])
        let answered = try #require(pair.events.first { $0.hasPrefix("caller answered") })
        #expect(answered.contains("PCMU") && answered.contains("10.0.0.1:") && answered.contains("10.0.0.2:"), "\(answered)")
        // Four seconds of a hold that no script wanted are no silence of a far end that went away.
        #expect(try #require(pair.finished?.record).result(ifEchoed: .tone(1_000)).failure == nil)
    }

    @Test func `a transfer is asked for, and its refusal told`() throws {
        let pair = Pair()
        pair.start()
        pair.room.run(seconds: 1)
        let call = try #require(pair.call), target = URI(user: "other", address: Room.address(4))
        #expect(call.transfer(to: target, at: pair.room.now) && !call.transfer(to: target, at: pair.room.now), "one at a time")
        pair.room.run(seconds: 1)
        #expect(pair.room.log.contains("caller REFER") && pair.events.contains("caller transferProgress(status: 405)"), "\(pair.events)")
        #expect(call.state == .connected)
    }

    @Test func `a call that rings is rejected, and one that does not is not`() throws {
        let pair = Pair { $0.answersAfter = nil }
        pair.start()
        pair.room.run(seconds: 1)
        let call = try #require(pair.answeredCall)
        #expect(call.isRinging && pair.call?.isRinging == false && pair.call?.reject(status: 486, at: pair.room.now) == false)
        #expect(call.reject(status: 603, at: pair.room.now) && !call.isRinging && !call.reject(status: 603, at: pair.room.now))
        pair.room.run(seconds: 1)
        let record = try #require(pair.finished?.record)
        #expect(record.status == 603 && record.endedBy == .them && pair.answered.first?.endedBy == .us)
        #expect(pair.leftovers == [])
    }

    @Test func `why the other side ended it is in the record, in Q.850's words`() throws {
        let pair = Pair()
        pair.start()
        pair.room.run(seconds: 1)
        let reasons = [Reason(protocol: "SIP", cause: 200), Reason(protocol: "Q.850", cause: 16, text: "Terminated")]
        pair.answeredCall?.session?.bye(reasons: reasons, at: pair.room.now)
        pair.room.run(seconds: 1)
        let record = try #require(pair.finished?.record)
        #expect(record.cause?.cause == 16 && record.cause?.text == "Terminated" && record.endedBy == .them)
    }
}
