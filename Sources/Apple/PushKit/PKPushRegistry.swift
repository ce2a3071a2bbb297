@_exported import Foundation

/// The part of PushKit that call code touches: a registry that hears of VoIP pushes.
///
/// Nobody pushes by itself here: a host gives tokens and payloads to `hookswitchUpdate` and `hookswitchDeliver`. On Apple
/// systems call code gets the real module instead. Safe to use from any thread.
open class PKPushRegistry: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private weak var receiver: (any PKPushRegistryDelegate)?
    private var types: Set<PKPushType>?
    private var tokens: [PKPushType: Data] = [:]
    private let queue: DispatchQueue

    private static let registry = WeakRegistries()

    /// Delegate methods run on `queue`; nil is the main queue.
    public init(queue: DispatchQueue?) {
        self.queue = queue ?? .main
        super.init()
        Self.registry.add(self)
    }

    /// Held weakly.
    open weak var delegate: (any PKPushRegistryDelegate)? {
        get { lock.withLock { receiver } }
        set { lock.withLock { receiver = newValue } }
    }

    open var desiredPushTypes: Set<PKPushType>? {
        get { lock.withLock { types } }
        set { lock.withLock { types = newValue } }
    }

    /// The token of a type; nil when there is none.
    open func pushToken(for type: PKPushType) -> Data? { lock.withLock { tokens[type] } }
}

// MARK: - The host's side, which does not exist on Apple systems

extension PKPushRegistry {
    /// The registries of this process that want pushes of a type.
    public static func hookswitchRegistries(for type: PKPushType) -> [PKPushRegistry] {
        registry.all.filter { $0.desiredPushTypes?.contains(type) ?? false }
    }

    /// A token has come, or (nil) is not valid any more.
    public func hookswitchUpdate(token: Data?, for type: PKPushType) {
        lock.withLock { tokens[type] = token }
        queue.async { @Sendable [self] in
            if let token {
                delegate?.pushRegistry(self, didUpdate: PKPushCredentials(type: type, token: token), for: type)
            } else {
                delegate?.pushRegistry(self, didInvalidatePushTokenFor: type)
            }
        }
    }

    /// A push has come. The completion runs when the app says that it is done; false and at once: nobody wants it.
    @discardableResult
    public func hookswitchDeliver(
        _ payload: PKPushPayload, mustReport: Bool = true, completion: @escaping @Sendable () -> Void = {}
    ) -> Bool {
        hookswitchDeliver(payload, mustReport: mustReport, returned: {}, completion: completion)
    }

    /// The same, and `returned` runs when the delegate's method has returned: on the registry's queue, after an `async` method on any.
    public func hookswitchDeliver(
        _ payload: PKPushPayload, mustReport: Bool, returned: @escaping @Sendable () -> Void, completion: @escaping @Sendable () -> Void
    ) -> Bool {
        guard desiredPushTypes?.contains(payload.type) ?? false, delegate != nil else { return false }
        queue.async { @Sendable [self] in
            guard let delegate else {
                completion()
                return returned()
            }
            let methods = PushMethods(), metadata = PKVoIPPushMetadata(mustReport: mustReport)
            PushMethods.$current.withValue(methods) { give(payload, metadata, to: delegate, completion) }
            guard methods.isLast else { return returned() }
            nonisolated(unsafe) let own = delegate
            Task {
                await give(payload, metadata, to: own)
                completion()
                returned()
            }
        }
        return true
    }

    private func give(
        _ payload: PKPushPayload, _ metadata: PKVoIPPushMetadata, to delegate: any PKPushRegistryDelegate,
        _ completion: @escaping @Sendable () -> Void
    ) {
        if payload.type == .voIP {
            delegate.pushRegistry(self, didReceiveIncomingVoIPPushWith: payload, metadata: metadata, withCompletionHandler: completion)
        } else {
            delegate.pushRegistry(self, didReceiveIncomingPushWith: payload, for: payload.type, completion: completion)
        }
    }

    private func give(_ payload: PKPushPayload, _ metadata: PKVoIPPushMetadata, to delegate: any PKPushRegistryDelegate) async {
        if payload.type == .voIP {
            await delegate.pushRegistry(self, didReceiveIncomingVoIPPushWith: payload, metadata: metadata)
        } else {
            await delegate.pushRegistry(self, didReceiveIncomingPushWith: payload, for: payload.type)
        }
    }
}

/// All registries that are alive.
private final class WeakRegistries: @unchecked Sendable {
    private struct Entry { weak var object: PKPushRegistry? }

    private let lock = NSLock()
    private var entries: [Entry] = []

    var all: [PKPushRegistry] { lock.withLock { entries.compactMap(\.object) } }

    func add(_ registry: PKPushRegistry) {
        lock.withLock {
            entries.removeAll { $0.object == nil }
            entries.append(Entry(object: registry))
        }
    }
}

/// The purpose of a push.
public struct PKPushType: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let voIP = PKPushType(rawValue: "PKPushTypeVoIP")
    public static let complication = PKPushType(rawValue: "PKPushTypeComplication")
    public static let fileProvider = PKPushType(rawValue: "PKPushTypeFileProvider")
}
