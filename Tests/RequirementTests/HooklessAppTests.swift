import Audio
import CallKit
import Foundation
import Media
import Primitives
import Testing

@testable import CallApp
@testable import Rehearsal

/// Call code that knows CallKit and nothing else: no network, no media library.
@Suite struct HooklessAppTests {
    /// It reports what it is told, and fulfils what it is asked.
    private final class PureApp: NSObject, StageApp, CXProviderDelegate {
        private unowned let stage: Stage
        let provider: CXProvider
        private(set) var heard: [String] = []

        init(_ stage: Stage) {
            self.stage = stage
            provider = CXProvider(configuration: CXProviderConfiguration(), system: stage.system)
            super.init()
            provider.setDelegate(self, queue: nil)
            stage.app = self
        }

        func incoming(_ call: UUID, _ caller: AppCaller) { provider.hookswitchReport(UUID(), update: CXCallUpdate()) { _ in } }
        func connecting(_ call: UUID) {}
        func connected(_ call: UUID) {}
        func ended(_ call: UUID, _ reason: CXCallEndedReason) { provider.reportCall(with: call, endedAt: nil, reason: reason) }
        func dial(_ handle: String) { stage.request(CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: handle))) }

        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
            provider.reportOutgoingCall(with: action.callUUID, startedConnectingAt: nil)
            action.fulfill()
        }
        func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) { action.fulfill() }
        func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) { heard.append("activate") }
        func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) { heard.append("deactivate") }
    }

    private static let voice = SoundSignature(run: 7, call: 41, side: .callee), caller = SoundSignature(run: 7, call: 42, side: .caller)

    private func stage(_ microphone: MediaSource) -> Stage {
        Stage(hasSound: true) {
            $0.startsAudio = true
            $0.microphone = microphone
        }
    }

    private static var saying: MediaSource { .samples(voice.samples(), sampleRate: SoundSignature.sampleRate, loops: true) }

    private func take(_ stage: Stage) throws -> (UUID, FarCall) {
        let far = stage.far.call()
        stage.run(0.2)
        let call = try #require(stage.calls.first)
        #expect(far.statuses == [180])
        stage.request(CXAnswerCallAction(call: call))
        stage.run(0.5)
        #expect(far.statuses == [180, 200])
        return (call, far)
    }

    @Test func `its user is heard, and hears, from didActivate to didDeactivate`() throws {
        let stage = stage(Self.saying), app = PureApp(stage), sound = try #require(stage.sound), (call, far) = try take(stage)
        try sound.begin(1, far, Self.caller)
        stage.run(1)
        sound.forget()
        stage.run(3)
        #expect(try sound.hears(1, expecting: Self.voice)?.sound == .right)
        #expect(stage.line.statistics(of: call, at: stage.now).map { $0.packetsReceived > 100 } == true)
        stage.hold(call)
        stage.run(1)
        sound.forget()
        stage.run(2)
        #expect(try sound.hears(1, expecting: Self.voice) == nil && app.heard == ["activate", "deactivate"])
        stage.hold(call, false)
        stage.run(1)
        sound.forget()
        stage.run(3)
        #expect(try sound.hears(1, expecting: Self.voice)?.sound == .right)
        stage.end(call)
        stage.run(1)
        #expect(far.isOver && stage.advice == [] && stage.line.refusals == 0)
        #expect(stage.leftovers() == [])
    }

    @Test func `with an echo for a microphone the caller hears himself: sound goes both ways`() throws {
        let stage = stage(.echo), app = PureApp(stage), sound = try #require(stage.sound), (_, far) = try take(stage)
        try sound.begin(1, far, Self.caller)
        stage.run(1)
        sound.forget()
        stage.run(3)
        #expect(try sound.hears(1, expecting: Self.caller)?.sound == .right)
        far.bye()
        stage.run(1)
        #expect(stage.calls.isEmpty && stage.advice == [])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }

    @Test func `a call that it makes has sound, and connecting in perform(start) is advice`() throws {
        let stage = stage(Self.saying), app = PureApp(stage), sound = try #require(stage.sound), call = stage.makeCall()
        try sound.begin(1, call.far, Self.caller)
        stage.run(1)
        sound.forget()
        stage.run(3)
        #expect(try sound.hears(1, expecting: Self.voice)?.sound == .right && app.heard == ["activate"])
        stage.end(call.uuid)
        stage.run(1)
        #expect(call.far.isOver && stage.advice.map { $0.prefix(3) } == ["R7 "])
        #expect(stage.leftovers() == [])
    }

    @Test func `a caller who gives up and is ended by an action is advice, and nothing more`() throws {
        let stage = stage(.silence), probe = ProbeApp(stage), call = stage.ring()
        probe.onEnded = { call, _ in stage.end(call) }
        call.far.cancel()
        stage.run(1)
        #expect(stage.calls.isEmpty && call.far.statuses == [180, 487] && stage.advice.map { $0.prefix(3) } == ["R9 "])
        #expect(stage.leftovers() == [])
    }

    @Test(arguments: [(false, MediaSource.tone(Tone(440))), (true, .silence)])
    func `a connected call without a packet is advice`(startsAudio: Bool, microphone: MediaSource) throws {
        let stage = Stage(hasSound: true) { ($0.startsAudio, $0.microphone) = (startsAudio, microphone) }, app = PureApp(stage)
        let (call, _) = try take(stage)
        stage.run(2)
        stage.end(call)
        stage.run(1)
        #expect(stage.advice.map { $0.prefix(4) } == ["M12 "] && stage.violations == [])
        #expect(stage.leftovers() == [])
        withExtendedLifetime(app) {}
    }
}
