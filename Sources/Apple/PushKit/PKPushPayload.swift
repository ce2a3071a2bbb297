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

/// Hears of tokens and pushes. Only `didUpdate` must be there. Of the methods for a push the newest that there is is called; one of the
/// `async` methods where there is no other.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    func pushRegistry(_ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)
    func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType)
    func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) async
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void)
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata) async
    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void)
    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
    public func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) {
        PushMethods.current?.isLast = true
    }

    public func pushRegistry(_ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType) async {}

    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping @Sendable () -> Void
    ) {
        let method: (PKPushRegistry, PKPushPayload, PKPushType) -> Void = pushRegistry(_:didReceiveIncomingPushWith:for:)
        method(registry, payload, type)
        if PushMethods.current?.isLast != true { completion() }
    }

    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata
    ) async { await pushRegistry(registry, didReceiveIncomingPushWith: payload, for: .voIP) }

    public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingVoIPPushWith payload: PKPushPayload, metadata: PKVoIPPushMetadata,
        withCompletionHandler completion: @escaping @Sendable () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: .voIP, completion: completion)
    }

    public func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {}
}

/// The search for the delegate's method for one push.
final class PushMethods: @unchecked Sendable {
    @TaskLocal static var current: PushMethods?
    /// The last of the methods that are not `async` was reached, and it is none of the delegate's own.
    var isLast = false
}
