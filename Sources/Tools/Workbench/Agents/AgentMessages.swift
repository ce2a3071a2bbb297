import Primitives

/// The order of a load, for an agent.
public struct AgentOrder: Codable, Sendable {
    /// The version of the tool that orders: an agent of another one refuses.
    public var version: String
    /// The options of `hookswitch load`, without those of files for results.
    public var arguments: [String]
    /// The part of the load that the agent has.
    public var share: LoadShare

    /// - Parameter version: of the tool that orders.
    public init(version: String, arguments: [String], share: LoadShare) {
        (self.version, self.arguments, self.share) = (version, arguments, share)
    }
}

/// The state of an agent's load.
public struct AgentState: Codable, Sendable {
    /// The end of an agent's load, as it tells it.
    public struct End: Codable, Sendable {
        /// Why it could not go on; nil where it did.
        public var failure: String?
        /// Nil where no call was begun.
        public var validity: Validity?
        public var leaks: LeakReport
        public var machine: MachineDescription
        /// Number of calls whose figures it has kept.
        public var calls: Int
        /// WebSockets that its accounts had of their own; nil where they had none.
        public var connections: LoadReport.Connections?

        /// - Parameter calls: number of calls whose figures are kept.
        public init(
            failure: String?, validity: Validity?, leaks: LeakReport, machine: MachineDescription, calls: Int,
            connections: LoadReport.Connections? = nil
        ) {
            (self.failure, self.validity, self.leaks, self.machine, self.calls) = (failure, validity, leaks, machine, calls)
            self.connections = connections
        }
    }

    /// Calls begun, up and over.
    public var progress: LoadProgress
    /// Seconds since its first call could begin; nil before that.
    public var elapsed: Double?
    public var figures: LoadFigures
    /// How often it has gone back to a step.
    public var restarts: Int
    /// Milliseconds, of one packet in a hundred since it was asked last.
    public var packetLateness: Double?
    /// Nil while it runs.
    public var end: End?

    /// - Parameters:
    ///   - elapsed: seconds since the first call could begin.
    ///   - packetLateness: milliseconds.
    public init(
        progress: LoadProgress, elapsed: Double? = nil, figures: LoadFigures, restarts: Int = 0, packetLateness: Double? = nil,
        end: End? = nil
    ) {
        (self.progress, self.elapsed, self.figures, self.restarts) = (progress, elapsed, figures, restarts)
        (self.packetLateness, self.end) = (packetLateness, end)
    }
}

/// An agent's answer to what it does not do: one line for a person.
public struct AgentRefusal: Codable, Sendable {
    public var error: String

    /// - Parameter error: one line.
    public init(error: String) { self.error = error }
}

/// A wish for the figures of calls: so many from one on, in the order in which they were judged.
public struct AgentCallsWish: Codable, Sendable {
    public var from: Int

    /// The most calls of one answer; each takes about a kilobyte.
    public static let most = 500

    /// - Parameter from: how many the asker has.
    public init(from: Int) { self.from = from }
}

/// The step of a search that is run again.
public struct AgentAgain: Codable, Sendable {
    public var step: Int

    /// - Parameter step: of the plan, from 0 on.
    public init(step: Int) { self.step = step }
}
