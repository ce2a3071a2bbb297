import Dispatch
import Foundation

/// The app, as far as the user lets it record. There is no microphone to protect: always granted.
open class AVAudioApplication: NSObject, @unchecked Sendable {
    public enum recordPermission: Int, Sendable {
        /// `'undt'`, `'deny'` and `'grnt'`
        case undetermined = 0x756e_6474, denied = 0x6465_6e79, granted = 0x6772_6e74
    }

    public static let shared = AVAudioApplication()

    /// Posted by `setInputMuted` when the state changes, with the new one under `muteStateKey`.
    public static let inputMuteStateChangeNotification = Notification.Name("AVAudioApplicationInputMuteStateChangeNotification")
    public static let muteStateKey = "AVAudioApplicationMuteStateKey"

    private let lock = NSLock()
    private var isMuted = false
    override init() { super.init() }

    /// The app's wish alone: a call is muted by `CXSetMutedCallAction`.
    public var isInputMuted: Bool { lock.withLock { isMuted } }

    open func setInputMuted(_ muted: Bool) throws {
        let isNew = lock.withLock {
            defer { isMuted = muted }
            return isMuted != muted
        }
        guard isNew else { return }
        NotificationCenter.default.post(
            name: Self.inputMuteStateChangeNotification, object: self, userInfo: [Self.muteStateKey: muted])
    }

    public var recordPermission: recordPermission { .granted }

    /// On a queue of the system.
    open class func requestRecordPermission(completionHandler response: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.global().async { response(true) }
    }

    open class func requestRecordPermission() async -> Bool { true }
}
