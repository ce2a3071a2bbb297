import Dispatch
import Foundation

/// The app, as far as the user lets it record. There is no microphone to protect: always granted.
open class AVAudioApplication: NSObject, @unchecked Sendable {
    public enum recordPermission: Int, Sendable {
        /// `'undt'`, `'deny'` and `'grnt'`
        case undetermined = 0x756e_6474, denied = 0x6465_6e79, granted = 0x6772_6e74
    }

    public static let shared = AVAudioApplication()

    override init() { super.init() }

    public var recordPermission: recordPermission { .granted }

    /// On a queue of the system.
    open class func requestRecordPermission(completionHandler response: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.global().async { response(true) }
    }

    open class func requestRecordPermission() async -> Bool { true }
}
