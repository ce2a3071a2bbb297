import Foundation

/// One push, as it came.
open class PKPushPayload: NSObject, @unchecked Sendable {
    public let type: PKPushType
    public let dictionaryPayload: [AnyHashable: Any]

    /// For hosts and tests; on Apple systems only the system makes payloads.
    public init(hookswitch dictionaryPayload: [AnyHashable: Any], type: PKPushType = .voIP) {
        (self.type, self.dictionaryPayload) = (type, dictionaryPayload)
        super.init()
    }
}

/// The address to which pushes of one type are to be sent.
open class PKPushCredentials: NSObject, @unchecked Sendable {
    public let type: PKPushType
    public let token: Data

    init(type: PKPushType, token: Data) {
        (self.type, self.token) = (type, token)
        super.init()
    }
}

/// The system's data on a VoIP push.
open class PKVoIPPushMetadata: NSObject, @unchecked Sendable {
    /// Whether the app must report a call for this push.
    public let mustReport: Bool

    init(mustReport: Bool) {
        self.mustReport = mustReport
        super.init()
    }
}

/// Hears of tokens and pushes. Only `didUpdate` must be there; the newest of the methods for a push that is there is called.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)
    func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void)
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
    public func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) {}

    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type)
        completion()
    }

    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: .voIP, completion: completion)
    }

    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}
}
