import AVFoundation
import Testing

@Suite struct AudioSessionTests {
    @Test func `there is no device, and one rate`() throws {
        let session = AVAudioSession()
        try session.setPreferredSampleRate(16_000)
        #expect(session.sampleRate == 48_000 && session.preferredSampleRate == 16_000 && session.outputVolume == 1)
        #expect(session.currentRoute.inputs.isEmpty && session.currentRoute.outputs.isEmpty && session.availableInputs == [])
    }

    @Test func `a policy and an input are kept as wishes`() throws {
        let session = AVAudioSession(), headset = AVAudioSessionPortDescription(hookswitch: .headsetMic, name: "Headset")
        #expect(session.routeSharingPolicy == .default && session.preferredInput == nil)
        try session.setCategory(.playAndRecord, mode: .voicePrompt, policy: .longFormVideo, options: .duckOthers)
        try session.setPreferredInput(headset)
        #expect(session.category == .playAndRecord && session.mode == .voicePrompt && session.categoryOptions == .duckOthers)
        #expect(session.routeSharingPolicy == .longFormVideo && session.preferredInput === headset)
        try session.setPreferredInput(nil)
        #expect(session.wishes.input == nil)
    }

    @Test func `raw values are Apple's`() {
        #expect([AVAudioSession.InterruptionType.ended, .began].map(\.rawValue) == [0, 1])
        #expect([AVAudioSession.InterruptionReason.default, .appWasSuspended, .builtInMicMuted].map(\.rawValue) == [0, 1, 2])
        #expect(AVAudioSession.InterruptionOptions.shouldResume.rawValue == 1)
        let reasons: [AVAudioSession.RouteChangeReason] = [
            .unknown, .newDeviceAvailable, .oldDeviceUnavailable, .categoryChange, .override, .wakeFromSleep, .noSuitableRouteForCategory,
            .routeConfigurationChange,
        ]
        #expect(reasons.map(\.rawValue) == [0, 1, 2, 3, 4, 6, 7, 8])
        #expect([AVAudioSession.RouteSharingPolicy.default, .longFormAudio, .independent, .longFormVideo].map(\.rawValue) == [0, 1, 2, 3])
        #expect(
            AVAudioApplication.recordPermission.granted.rawValue == 1_735_552_628
                && AVAudioSession.RecordPermission.denied.rawValue == 1_684_369_017)
    }

    @Test func `recording is permitted`() async {
        #expect(AVAudioApplication.shared.recordPermission == .granted && AVAudioSession().recordPermission == .granted)
        #expect(await AVAudioApplication.requestRecordPermission())
        #expect(
            await withCheckedContinuation { continuation in
                AVAudioApplication.requestRecordPermission { continuation.resume(returning: $0) }
            })
    }
}
