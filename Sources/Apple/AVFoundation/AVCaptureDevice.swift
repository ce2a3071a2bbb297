import Foundation

/// The kind of a medium.
public struct AVMediaType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let audio = AVMediaType(rawValue: "soun"), video = AVMediaType(rawValue: "vide")
}

public enum AVAuthorizationStatus: Int, Sendable {
    case notDetermined = 0, restricted = 1, denied = 2, authorized = 3
}

/// A microphone or camera: there is none, and nothing to protect.
open class AVCaptureDevice: NSObject, @unchecked Sendable {
    open class func authorizationStatus(for mediaType: AVMediaType) -> AVAuthorizationStatus { .authorized }

    /// Granted, on a queue of the system.
    open class func requestAccess(for mediaType: AVMediaType, completionHandler handler: @escaping @Sendable (Bool) -> Void) {
        DispatchQueue.global().async { handler(true) }
    }

    open class func requestAccess(for mediaType: AVMediaType) async -> Bool { true }
    open class func `default`(for mediaType: AVMediaType) -> AVCaptureDevice? { nil }
}
