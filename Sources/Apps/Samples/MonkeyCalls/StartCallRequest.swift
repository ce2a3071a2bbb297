import CallKit
import Intents

/// The request to call a handle, as a URL or an activity makes it.
public struct StartCallRequest {
    public let handle: String
    public let type: CXHandle.HandleType
    public let isVideo: Bool

    public static let urlScheme = "monkeycall"

    /// nil: the URL is not ours.
    public init?(url: URL) {
        guard url.scheme == StartCallRequest.urlScheme, let host = url.host else { return nil }
        (handle, type, isVideo) = (host, .generic, false)
    }

    /// nil: the activity starts no call, or says not whom.
    public init?(activity: NSUserActivity) {
        let contacts: [INPerson]?
        switch activity.interaction?.intent {
        case let intent as INStartAudioCallIntent: (contacts, isVideo) = (intent.contacts, false)
        case let intent as INStartVideoCallIntent: (contacts, isVideo) = (intent.contacts, true)
        case let intent as INStartCallIntent: (contacts, isVideo) = (intent.contacts, intent.callCapability == .videoCall)
        default: return nil
        }
        guard let person = contacts?.first?.personHandle, let value = person.value else { return nil }
        handle = value
        switch person.type {
        case .phoneNumber: type = .phoneNumber
        case .emailAddress: type = .emailAddress
        default: type = .generic
        }
    }
}
