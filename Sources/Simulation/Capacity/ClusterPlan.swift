/// The cluster that is simulated, with its load. Times in seconds.
public struct ClusterPlan: Hashable, Sendable {
    /// The gateways that are told of a change in the database.
    public enum Readers: Hashable, Sendable {
        /// Every gateway, as the store does.
        case every
        /// So many gateways beside the one that wrote it: those of the line. Nothing does this today.
        case some(Int)
    }

    /// The failure, at `failureAt`.
    public enum Failure: Hashable, Sendable {
        case none
        /// So many gateways die at once; neighbours in the proxy's list, unless the list is mixed.
        case gateways(Int, isListMixed: Bool = false)
        /// The database does not answer for so long.
        case database(seconds: Double)
        /// One proxy dies, and devices with connections to it connect to the others within so long.
        case proxy(seconds: Double)
        /// All devices lose power for a minute, and register within so long after it.
        case power(seconds: Double)
    }

    public var nodes = 64, devices = 1_000_000, calls = 100_000
    /// From the answer of a call to its end, on average.
    public var talkTime = 180.0
    /// From the beginning of a call to its answer.
    public var ringTime = 5.0
    /// The time that a device registers for; it registers anew after `refreshShare` of it.
    public var expires = 3_600.0
    public var refreshShare = 0.5
    /// Bindings that run out without a word, for each device and day.
    public var lapsesPerDay = 0.1
    /// The part of the devices that have a connection to the proxy (TCP, TLS, WebSocket).
    public var connectedShare = 0.5
    /// The part of the callers that call again when their call was lost.
    public var redialShare = 0.5
    /// Calls in the recents of a line.
    public var recentsPerLine = 10.0
    public var hardware = Hardware()
    public var limits = Limits()
    public var readers = Readers.every
    /// Media is relayed by the kernel.
    public var relaysInKernel = false
    public var failure = Failure.none
    public var failureAt = 30.0
    /// The time that is simulated.
    public var span = 60.0
    public var seed: UInt64 = 1

    public init() {}

    /// The machines.
    public struct Hardware: Hashable, Sendable {
        /// Cores of a gateway's machine that relay media.
        public var mediaCores = 14
        public var memory = 64.0e9
        /// Signalling lanes of a gateway: one today.
        public var lanes = 1
        public var proxies = 2, proxyCores = 16
        public var proxyMemory = 64.0e9
        public var databaseCores = 16

        public init() {}
    }

    /// Bounds that the product has, by settings or in its code.
    public struct Limits: Hashable, Sendable {
        /// Bridged calls of a gateway: two legs with rtcp-mux off on the ports of one address.
        public var callsPerNode = 12_000
        /// `limits.backlog`, `limits.retry-after`.
        public var backlog = 0.2, retryAfter = 5.0
        /// `limits.users`; nil where it is taken to be as high as need be.
        public var users: Int?

        public init() {}
    }

    /// Calls that begin in a second, in the mean.
    public var callRate: Double { talkTime > 0 ? Double(calls) / talkTime : 0 }
    /// REGISTERs in a second that change a binding, in the mean.
    public var registerRate: Double { Double(devices) / (expires * refreshShare) }
    /// Bindings in a second that run out.
    public var lapseRate: Double { Double(devices) * lapsesPerDay / 86_400 }
    /// Other gateways that are told of a change.
    public var readersOfAChange: Double {
        switch readers {
        case .every: Double(nodes - 1)
        case .some(let count): Double(min(count, nodes - 1))
        }
    }

    /// The part of all bindings and recents that one gateway reads and keeps.
    public var keptShare: Double { min(1, (readersOfAChange + 1) / Double(nodes)) }

    /// The same cluster with the next step done: a gateway keeps the bindings of its own lines and of those of the gateway before it in the
    /// list, and is told of these alone.
    public var withNextStep: ClusterPlan {
        var plan = self
        plan.readers = .some(1)
        return plan
    }

    /// The same cluster with so many times the devices and calls.
    public func scaled(by factor: Double) -> ClusterPlan {
        var plan = self
        (plan.devices, plan.calls) = (Int((Double(devices) * factor).rounded()), Int((Double(calls) * factor).rounded()))
        return plan
    }

    /// So many gateways with the devices and calls that each has now.
    public func with(nodes count: Int) -> ClusterPlan {
        var plan = scaled(by: Double(count) / Double(nodes))
        plan.nodes = count
        return plan
    }
}
