import AVFoundation
import Foundation

/// The audio session of a provider or a call group, as the delegate gets it.
final class CallAudioSession: AVAudioSession, @unchecked Sendable {
    let name: AudioSessionName
    private let state = Guarded<[UUID]>([])

    init(name: AudioSessionName) {
        self.name = name
        super.init()
    }

    /// The calls that the callback under way is about.
    var calls: [UUID] {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
