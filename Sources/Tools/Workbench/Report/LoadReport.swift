import Primitives
import UserAgent

/// All that is known of a run when it is over; what was not measured is absent. `schema` names this form of it.
public struct LoadReport: Codable, Sendable {
    /// The form of this report. Another number means that a field has another meaning, or is gone.
    public static let schema = "hookswitch.load/1"

    /// The parameters that the run was asked for.
    public struct Run: Codable, Hashable, Sendable {
        /// The command line, without passwords.
        public var command: String
        /// The target, as it was given.
        public var target: String
        /// The transport of signalling: udp, tcp, tls, ws or wss.
        public var transport: String
        /// The version of the tool.
        public var version: String
        /// RFC 3339, UTC.
        public var began: String
        /// Seconds, from the first call on.
        public var elapsed: Double
        /// It was told to end before it would have.
        public var wasStopped: Bool
        /// Makes the same calls again (`--seed`).
        public var seed: UInt64

        /// All of it; nothing is derived.
        public init(
            command: String, target: String, transport: String, version: String, began: String, elapsed: Double, wasStopped: Bool,
            seed: UInt64
        ) {
            (self.command, self.target, self.transport, self.version, self.began, self.elapsed, self.wasStopped, self.seed) = (
                command, target, transport, version, began, elapsed, wasStopped, seed
            )
        }
    }

    /// The accounts that the tool registered.
    public struct Accounts: Codable, Hashable, Sendable {
        /// All of them: no call is begun before.
        public var registered: Int
        /// From the first REGISTER to the last 200.
        public var seconds: Double
        /// The WebSockets that they had of their own; nil where all shared one way to the server.
        public var connections: Connections?
    }

    /// WebSockets of accounts, over the whole run.
    public struct Connections: Codable, Hashable, Sendable {
        /// Begun by the tool, also those in place of one that was lost.
        public var opened: Int
        /// Those that ended before the run did, by cause.
        public var ends: ConnectionEnds
    }

    /// Ends of calls that had media, by how it was encrypted.
    public struct Encryption: Codable, Hashable, Sendable {
        /// SRTP with keys from the descriptions (RFC 4568), SRTP with keys from a handshake (RFC 5764), and plain RTP.
        public var sdes: Int, dtls: Int, clear: Int
        /// The encrypted part of all these ends, in percent; nil where there were none.
        public var share: Double?
    }

    /// Numbers of calls by their outcome.
    public struct Counts: Codable, Hashable, Sendable {
        /// All that were begun, and those that were answered; then by outcome: good, answered with a finding, not answered, and those
        /// that this machine could not make.
        public var begun: Int, answered: Int, good: Int, faulty: Int, failed: Int, notTried: Int
        /// Given up unanswered since the run was stopped: not judged.
        public var cutOff: Int
        /// Calls that were not begun since as many were up as may be; calls whose sound was judged; messages that either side sent again.
        public var skipped: Int, listenedTo: Int, retransmissions: Int
        /// The most at a time.
        public var concurrent: Int
        /// By the names of `CallKind`.
        public var byKind: [String: Int]
        /// Final statuses; `none` where there was none.
        public var byStatus: [String: Int]
    }

    /// RFC 6076 §4.6–4.9, in percent.
    public struct Ratios: Codable, Hashable, Sendable {
        /// Session establishment ratio and effectiveness, ineffective attempts, completed sessions; `failed` is of all calls. Nil where
        /// no call counts for it.
        public var ser: Double?, seer: Double?, isa: Double?, scr: Double?, failed: Double?
    }

    /// Sums over all calls together.
    public struct Totals: Codable, Hashable, Sendable {
        /// Seconds of conversation.
        public var talkTime: Double
        /// Packets of the tool's ends.
        public var packetsSent: UInt64, packetsReceived: UInt64
    }

    /// One kind of finding, with the calls that it was made in.
    public struct Found: Codable, Hashable, Sendable {
        /// The kind of the finding.
        public var kind: Finding.Kind
        /// Number of calls.
        public var calls: Int
        /// The first of them.
        public var numbers: [UInt32]
        /// The pattern of the numbers, where they lie at equal distances.
        public var pattern: String?
        /// The words of the first of these findings.
        public var text: String
        /// Directions of the sound; nil where the finding is not of sound.
        public var directions: [Finding.Direction]?
        /// The time of the first of these findings after the answer, in seconds; nil where it is not known when it began.
        public var second: Double?
        /// Findings in the same calls that this one causes, with the number of their calls.
        public var consequences: [String: Int]?
    }

    /// One step of a ramp.
    public struct StepResult: Codable, Hashable, Sendable {
        /// Calls a second that were to be begun.
        public var rate: Double
        /// Number of calls that were begun and judged.
        public var calls: Int
        /// The rate was not offered: the tool kept so many back (`--concurrent`, ports).
        public var notBegun: Int
        /// The share of calls that failed, in percent; nil where there were none.
        public var failedPercent: Double?
        public var setupP95: Double?
        public var packetLatenessP99: Double?
        /// Number of times that the step was run: it is run again where it failed and the tool was late itself.
        public var attempts: Int
        /// The tool was late in the last of them.
        public var isToolLate: Bool
        /// The verdict on each term in this step.
        public var slo: [ServiceLevel.Verdict]
        /// Nil where no level was given.
        public var state: ServiceLevel.Verdict.State?
        /// Passed; nil where it is not measured or not judged.
        public var isKept: Bool?
    }

    /// The rate at which the target of a search (`--find-knee`) no longer passes.
    public struct Knee: Codable, Hashable, Sendable {
        /// Calls a second of the last step that passed; nil: not even the first.
        public var lastKept: Double?
        /// The rate of the first step that failed.
        public var firstBroken: Double?
        /// The rate of the first step that the tool did not offer in full: nothing is known from it on.
        public var firstNotOffered: Double?
        /// The rate of the first step that had too few calls for a term.
        public var firstNotMeasured: Double?
        /// The terms that failed, or were not measured.
        public var broken: [String]
        /// The tool was late in the step that failed, whenever it was run.
        public var isToolsOwn: Bool
        /// Number of times that this step was run.
        public var attempts: Int

        /// Whether the target ended the search, or the ramp.
        var isKnown: Bool { !isToolsOwn && firstNotOffered == nil && firstNotMeasured == nil }
    }

    /// One of the agents that made the run.
    public struct Agent: Codable, Hashable, Sendable {
        /// The name by which it was called, as `10.0.0.7:9467`.
        public var name: String
        /// Calls that it began.
        public var begun: Int
        /// Seconds, from its first call on.
        public var elapsed: Double
        /// Whether its part can be believed; nil where it has not told.
        public var validity: Validity?
        public var machine: MachineDescription?
        /// Seconds after the beginning at which it answered no more; nil: it answered to the end.
        public var lostAfter: Double?
        /// Why it could not go on; nil where it did.
        public var failure: String?
    }

    /// The form of this report.
    public var schema = LoadReport.schema
    /// The run that was ordered.
    public var run: Run
    /// Whether the figures can be believed: the tool’s own lateness and losses.
    public var validity: Validity
    /// Nil where the tool registered none.
    public var accounts: Accounts?
    public var counts: Counts
    public var ratios: Ratios
    public var encryption: Encryption
    public var machine: MachineDescription
    public var totals: Totals
    /// By the name of each `LoadMetric`; nil (null) where nothing was measured.
    public var metrics: [String: Distribution.Summary?]
    /// By the name of each `LoadMetric` that was measured; the values are in its unit.
    public var histograms: [String: [Distribution.Step]]
    public var findings: [Found]
    /// The verdict on each term of `--slo` over the whole run; empty where none was given.
    public var slo: [ServiceLevel.Verdict]
    /// The steps of a ramp, in their order; empty without one.
    public var steps: [StepResult]
    /// Nil where none was searched for.
    public var knee: Knee?
    public var leaks: LeakReport?
    /// An earlier run beside this one, where one was given.
    public var baseline: LoadBaseline?
    public var series: [LoadSeries.Point]
    /// The first of them; `callsLeftOut` more are only in the sums.
    public var calls: [CallFigures]
    /// Calls that `calls` has no room for.
    public var callsLeftOut: Int
    /// Nil where the tool itself made the calls.
    public var agents: [Agent]?

    /// Whether every term passed; true where there are none.
    public var isSLOKept: Bool { slo.allSatisfy { $0.state == .passed } }
    /// All that was begun was cut off by the stop.
    public var isNothingJudged: Bool { counts.cutOff > 0 && counts.good + counts.faulty + counts.failed == 0 }
}

/// Leaks of a run.
public struct LeakReport: Codable, Hashable, Sendable {
    /// `5 media sockets of the tool`; empty when everything is back to where it was.
    public var leftovers: [String]
    /// Resident memory of the tool; and of the gateway, where its process was named.
    public var memory: MemoryFigures
    /// Resident memory of the gateway; nil where its process was not named.
    public var targetMemory: MemoryFigures?
    /// Numbers from the gateway's journal of what was opened and closed since the run began, where a journal was given.
    public var journal: [String: Int]?
    /// The input that was given but could not be judged, and the reason.
    public var notJudged: String?

    /// Whether nothing is left over.
    public var isClean: Bool { leftovers.isEmpty }

    public init(leftovers: [String], memory: MemoryFigures = MemoryFigures(), journal: [String: Int]? = nil, notJudged: String? = nil) {
        (self.leftovers, self.memory, self.journal, self.notJudged) = (leftovers, memory, journal, notJudged)
    }
}
