import Foundation

/// A host whose network is always there: this is a server.
public final class SCNetworkReachability: Sendable {
    public let name: String
    init(name: String) { self.name = name }
}

/// The state of the way to a host.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)
}

public func SCNetworkReachabilityCreateWithName(_ allocator: Any?, _ name: String) -> SCNetworkReachability? {
    SCNetworkReachability(name: name)
}

/// Always reachable.
public func SCNetworkReachabilityGetFlags(
    _ target: SCNetworkReachability, _ flags: UnsafeMutablePointer<SCNetworkReachabilityFlags>
) -> Bool {
    flags.pointee = .reachable
    return true
}
