import AVFoundation
import Foundation

/// The audio session of a provider or a call group.
final class CallAudioSession: AVAudioSession, @unchecked Sendable {
    /// The session that the callback under way is about, where the delegate gets the session of the process.
    @TaskLocal static var current: CallAudioSession?

    let name: AudioSessionName
    private let state = Locked<[UUID]>([])

    init(name: AudioSessionName) {
        self.name = name
        super.init()
    }

    /// The delegate gets the session of the process: apps set that up before there is a call, and expect it. Where each call group has a
    /// session, they are told apart.
    var isShared: Bool { name.group == nil }

    /// The calls that the callback under way is about.
    var calls: [UUID] {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
