import AVFAudio
import ActivityKit
import Foundation
import Testing

/// Neighbours of CallKit that make sound, or show something: here they hold what they are given.
@Suite struct AudioEngineTests {
    private func format(_ kind: AVAudioCommonFormat = .pcmFormatFloat32, interleaved: Bool = false) throws -> AVAudioFormat {
        try #require(AVAudioFormat(commonFormat: kind, sampleRate: 16_000, channels: 2, interleaved: interleaved))
    }

    @Test func `an engine runs until it is stopped, and its players with it`() throws {
        let engine = AVAudioEngine(), player = AVAudioPlayerNode(), format = try format()
        let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 160))
        nonisolated(unsafe) var over = 0
        engine.attach(player)
        engine.connect(player, to: engine.mainMixerNode, format: format)
        try engine.inputNode.setVoiceProcessingEnabled(true)
        engine.prepare()
        try engine.start()
        player.scheduleBuffer(buffer, at: nil, options: .loops) { over += 1 }
        player.scheduleBuffer(buffer)
        player.play()
        #expect(engine.isRunning && player.isPlaying && over == 0 && player.outputFormat(forBus: 0) == format)
        player.scheduleBuffer(buffer, at: nil, options: .interrupts) { over += 1 }
        #expect(over == 1 && engine.inputNode.isVoiceProcessingEnabled)
        engine.stop()
        #expect(!engine.isRunning && !player.isPlaying && over == 2)
        engine.detach(player)
        #expect(player.engine == nil && engine.attachedNodes == [engine.inputNode, engine.outputNode, engine.mainMixerNode])
    }

    @Test func `a tap hears what a test gives it, and nothing by itself`() throws {
        let node = AVAudioEngine().inputNode, buffer = try #require(AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: 4))
        var frames: [AVAudioFrameCount] = []
        node.installTap(onBus: 0, bufferSize: 4, format: node.outputFormat(forBus: 0)) { buffer, _ in frames.append(buffer.frameLength) }
        buffer.frameLength = 9
        #expect(frames == [] && node.hookswitchDeliver(buffer) && frames == [4], "no more than there is room for")
        node.removeTap(onBus: 0)
        #expect(!node.hookswitchDeliver(buffer) && frames.count == 1)
    }

    @Test func `samples are where the format has them`() throws {
        let planes = try #require(AVAudioPCMBuffer(pcmFormat: format(), frameCapacity: 3)), left = try #require(planes.floatChannelData)
        (left[0][2], left[1][0]) = (0.5, 0.25)
        #expect(left[0][2] == 0.5 && left[1][0] == 0.25 && left[0] + 3 == left[1] && planes.stride == 1 && planes.int16ChannelData == nil)
        let woven = try #require(AVAudioPCMBuffer(pcmFormat: format(.pcmFormatInt16, interleaved: true), frameCapacity: 3))
        let samples = try #require(woven.int16ChannelData)
        #expect(samples[0] + 1 == samples[1] && samples[0][5] == 0 && woven.stride == 2 && woven.floatChannelData == nil)
        #expect(AVAudioFormat(standardFormatWithSampleRate: 0, channels: 1) == nil)
        #expect(
            AVAudioFormat(standardFormatWithSampleRate: 8_000, channels: 1)
                == AVAudioFormat(standardFormatWithSampleRate: 8_000, channels: 1))
        #expect(throws: CocoaError.self) { try AVAudioFile(forReading: URL(filePath: "/missing.caf")) }
        #expect(try AVAudioFile(forReading: URL(filePath: #filePath)).length == 0)
    }

    private struct CallAttributes: ActivityAttributes {
        struct ContentState: Codable, Hashable { var isMuted = false }
        var caller: String
    }

    @Test func `a Live Activity is kept until it has left the screen, and there is none where the user wants none`() async throws {
        let first = try Activity.request(
            attributes: CallAttributes(caller: "1001"), content: ActivityContent(state: .init(), staleDate: nil), pushType: nil)
        let states = first.activityStateUpdates
        await first.update(ActivityContent(state: .init(isMuted: true), staleDate: nil))
        #expect(first.contentState.isMuted && Activity<CallAttributes>.activities.map(\.id) == [first.id])
        await first.end(nil, dismissalPolicy: .after(.distantFuture))
        #expect(first.activityState == .ended && Activity<CallAttributes>.activities.count == 1)
        var told: [ActivityState] = []
        for await state in states { told.append(state) }
        #expect(told == [.ended])
        await first.update(using: .init(isMuted: false))
        #expect(first.content.state.isMuted, "what has ended does not change")
        await first.end(dismissalPolicy: .immediate)
        #expect(first.activityState == .dismissed && Activity<CallAttributes>.activities.isEmpty)
        ActivityAuthorizationInfo.hookswitchAllows = false
        defer { ActivityAuthorizationInfo.hookswitchAllows = true }
        #expect(throws: ActivityAuthorizationError.self) {
            try Activity.request(attributes: CallAttributes(caller: "1002"), contentState: .init())
        }
    }
}
