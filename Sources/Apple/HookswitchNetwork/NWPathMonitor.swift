import Dispatch
@_exported import Foundation

/// The way to the network, as a server has it: always there, over a wire, and at no price.
public struct NWPath: Hashable, Sendable {
    public enum Status: Hashable, Sendable {
        case satisfied, unsatisfied, requiresConnection
    }

    public enum UnsatisfiedReason: Hashable, Sendable {
        case notAvailable, cellularDenied, wifiDenied, localNetworkDenied, vpnInactive
    }

    public let status = Status.satisfied
    public let unsatisfiedReason = UnsatisfiedReason.notAvailable
    public let availableInterfaces = [NWInterface(name: "en0", type: .wiredEthernet, index: 1)]
    public let isExpensive = false, isConstrained = false
    public let supportsIPv4 = true, supportsIPv6 = true, supportsDNS = true

    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { availableInterfaces.contains { $0.type == type } }
}

/// A network device of the path.
public struct NWInterface: Hashable, Sendable {
    public enum InterfaceType: Hashable, Sendable {
        case other, wifi, cellular, wiredEthernet, loopback
    }

    public let name: String
    public let type: InterfaceType
    public let index: Int
}

/// An observer of the path to the network. The path never changes here: the handler is called once, after `start`.
public final class NWPathMonitor: @unchecked Sendable {
    private struct State {
        var handler: (@Sendable (NWPath) -> Void)?
        var queue: DispatchQueue?
        var isCancelled = false
    }

    private let lock = NSLock()
    private var state = State()
    public let currentPath = NWPath()

    public init() {}
    /// The same path: there is no other.
    public init(requiredInterfaceType: NWInterface.InterfaceType) {}
    public init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {}

    /// Nil once the monitor is cancelled. A handler that is set after the start is called, too.
    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { lock.withLock { state.handler } }
        set {
            lock.withLock { state.handler = newValue }
            report()
        }
    }

    public var queue: DispatchQueue? { lock.withLock { state.queue } }

    /// Calls the handler on the queue. A second call has no effect.
    public func start(queue: DispatchQueue) {
        let isFirst = lock.withLock {
            defer { state.queue = state.queue ?? queue }
            return state.queue == nil
        }
        if isFirst { report() }
    }

    /// The handler is not called any more, and is let go of.
    public func cancel() { lock.withLock { (state.handler, state.isCancelled) = (nil, true) } }

    private func report() {
        queue?.async { [self] in
            let handler = lock.withLock { state.isCancelled ? nil : state.handler }
            handler?(currentPath)
        }
    }
}
