import CallKit
import Foundation
import Intents

/// A request to call, of a line's user: from a URL, from the recents, or from an activity of the system.
public struct CallRequest: Sendable, Equatable {
    /// The callee.
    public var handle: CXHandle
    /// As CallKit's action says it; the call has sound alone.
    public var isVideo = false

    public init(handle: CXHandle, isVideo: Bool = false) { (self.handle, self.isVideo) = (handle, isVideo) }

    /// `tel:+390551234567`, `sip:alice@example.test` or `hookswitch://1002`; nil for any other URL.
    public init?(url: URL) {
        let text = url.absoluteString
        switch url.scheme?.lowercased() {
        case "tel":
            let number = String(text.dropFirst(4).prefix { $0 != ";" })
            guard !number.isEmpty else { return nil }
            self.init(handle: CXHandle(type: .phoneNumber, value: number.filter { !"-.() ".contains($0) }))
        case "sip", "sips":
            let address = text.prefix { $0 != ";" && $0 != "?" }
            guard address.contains("@") else { return nil }
            self.init(handle: CXHandle(type: .generic, value: String(address)))
        case "hookswitch":
            guard let handle = url.host(percentEncoded: false), !handle.isEmpty else { return nil }
            self.init(handle: CXHandle(type: handle.hasDigitsOnly ? .phoneNumber : .generic, value: handle))
        default: return nil
        }
    }

    /// The wish to start a call, with or without video, that has somebody to be called; nil for any other activity.
    public init?(activity: NSUserActivity) {
        switch activity.interaction?.intent {
        case let intent as INStartAudioCallIntent: self.init(intent.contacts, isVideo: false)
        case let intent as INStartVideoCallIntent: self.init(intent.contacts, isVideo: true)
        case let intent as INStartCallIntent: self.init(intent.contacts, isVideo: intent.callCapability == .videoCall)
        default: return nil
        }
    }

    private init?(_ contacts: [INPerson]?, isVideo: Bool) {
        guard let person = contacts?.first?.personHandle, let value = person.value, !value.isEmpty else { return nil }
        let type: CXHandle.HandleType =
            switch person.type {
            case .phoneNumber: .phoneNumber
            case .emailAddress: .emailAddress
            case .unknown: .generic
            }
        self.init(handle: CXHandle(type: type, value: value), isVideo: isVideo)
    }
}

/// Why a call was not started.
public enum CallRequestError: Error, Equatable, CustomStringConvertible {
    case noLine
    /// The line's recents have no such call.
    case noRecentCall
    /// The line's provider does not take handles of this type: nothing would happen on a telephone, and here it is said.
    case handleTypeUnsupported(CXHandle.HandleType)
    /// Nobody has the number.
    case noRoute
    /// The line has no device that could ring, or is none for devices.
    case noDevice
    /// Calls are without video.
    case video
    /// A `sips:` URI: over TLS all the way, which a call that is started here is not.
    case secure
    /// No new calls are taken, or as many legs are up as may be.
    case noRoom

    public var description: String {
        switch self {
        case .noLine: "there is no such line"
        case .noRecentCall: "the recents have no such call"
        case .handleTypeUnsupported(let type): "the line takes no handles of the type \(type.name): add it to its 'handles'"
        case .noRoute: "nobody has this number"
        case .noDevice: "no device of the line is registered"
        case .video: "calls are without video"
        case .secure: "a call that is started here is not over TLS all the way, as sips: asks for"
        case .noRoom: "there is no room for another call"
        }
    }
}

extension CXHandle.HandleType {
    /// As configuration and journal say it.
    public var name: String {
        switch self {
        case .generic: "generic"
        case .phoneNumber: "phone-number"
        case .emailAddress: "email-address"
        }
    }
}

extension String {
    fileprivate var hasDigitsOnly: Bool { utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: "+") } }
}
