import Primitives

/// All that is known of a run when it is over; what was not measured is absent. `schema` names this form of it.
public struct LoadReport: Codable, Sendable {
    public static let schema = "hookswitch.load/1"

    /// What was asked for.
    public struct Run: Codable, Hashable, Sendable {
        /// The command line, without passwords.
        public var command: String
        public var target: String
        /// What signalling went over: udp, tcp or tls.
        public var transport: String
        public var version: String
        /// RFC 3339, UTC.
        public var began: String
        /// Seconds, from the first call on.
        public var elapsed: Double
        /// It was told to end before it would have.
        public var wasStopped: Bool
        public var seed: UInt64

        public init(
            command: String, target: String, transport: String, version: String, began: String, elapsed: Double, wasStopped: Bool,
            seed: UInt64
        ) {
            (self.command, self.target, self.transport, self.version, self.began, self.elapsed, self.wasStopped, self.seed) = (
                command, target, transport, version, began, elapsed, wasStopped, seed
            )
        }
    }

    /// Ends of calls that had media, by how it was encrypted.
    public struct Encryption: Codable, Hashable, Sendable {
        public var sdes: Int, dtls: Int, clear: Int
        /// Of all these ends, in percent; nil where there were none.
        public var share: Double?
    }

    public struct Counts: Codable, Hashable, Sendable {
        public var begun: Int, answered: Int, good: Int, faulty: Int, failed: Int, notTried: Int
        /// Given up unanswered since the run was stopped: not judged.
        public var cutOff: Int
        public var skipped: Int, listenedTo: Int, retransmissions: Int
        /// The most at a time.
        public var concurrent: Int
        public var byKind: [String: Int]
        /// Final statuses; `none` where there was none.
        public var byStatus: [String: Int]
    }

    /// RFC 6076 §4.6–4.9, in percent.
    public struct Ratios: Codable, Hashable, Sendable {
        public var ser: Double?, seer: Double?, isa: Double?, scr: Double?, failed: Double?
    }

    public struct Found: Codable, Hashable, Sendable {
        public var kind: Finding.Kind
        public var calls: Int
        /// The first of them.
        public var numbers: [UInt32]
        /// Where they lie at equal distances.
        public var pattern: String?
        /// Of the first.
        public var text: String
    }

    public struct StepResult: Codable, Hashable, Sendable {
        public var rate: Double
        public var calls: Int
        /// The rate was not offered: the tool kept so many back (`--concurrent`, ports).
        public var notBegun: Int
        public var failedPercent: Double?
        public var setupP95: Double?
        public var packetLatenessP99: Double?
        public var slo: [ServiceLevel.Verdict]
        /// Nil where nothing was to be kept, and where it was but the rate was not offered.
        public var isKept: Bool?
    }

    public struct Knee: Codable, Hashable, Sendable {
        /// Calls a second of the last step that held; nil: not even the first.
        public var lastKept: Double?
        public var firstBroken: Double?
        /// Calls a second of the first step that the tool did not offer in full: nothing is known from it on.
        public var firstNotOffered: Double?
        /// What broke it.
        public var broken: [String]
        /// The tool was late in the step that broke.
        public var isToolsOwn: Bool
    }

    public var schema = LoadReport.schema
    public var run: Run
    public var validity: Validity
    public var counts: Counts
    public var ratios: Ratios
    public var encryption: Encryption
    /// By the name of each `LoadMetric`; nil (null) where nothing was measured.
    public var metrics: [String: Distribution.Summary?]
    public var histograms: [String: [Distribution.Step]]
    public var findings: [Found]
    public var slo: [ServiceLevel.Verdict]
    public var steps: [StepResult]
    public var knee: Knee?
    public var leaks: LeakReport?
    public var series: [LoadSeries.Point]
    /// The first of them; `callsLeftOut` more are only in the sums.
    public var calls: [CallFigures]
    public var callsLeftOut: Int

    public var isSLOKept: Bool { slo.allSatisfy(\.isKept) }
    /// All that was begun was cut off by the stop.
    public var isNothingJudged: Bool { counts.cutOff > 0 && counts.good + counts.faulty + counts.failed == 0 }
    /// 0: good; 1: the target is not; 3: nothing can be said: the run cannot be believed, or was stopped before a call was over.
    public var exitCode: Int32 {
        if leaks?.isClean == false { return 1 }
        if isNothingJudged { return 3 }
        let isBad = slo.isEmpty ? counts.failed + counts.faulty > 0 && knee == nil : !isSLOKept && knee == nil
        if isBad || counts.begun == 0 { return validity.isBelievable ? 1 : 3 }
        if let knee, knee.lastKept == nil { return validity.isBelievable && knee.firstBroken != nil ? 1 : 3 }
        return validity.isBelievable ? 0 : 3
    }
}

/// What was left behind by a run.
public struct LeakReport: Codable, Hashable, Sendable {
    /// `5 media sockets of the tool`; empty when everything is back to where it was.
    public var leftovers: [String]
    /// Resident memory of the tool; and of the gateway, where its process was named.
    public var memory: MemoryFigures
    public var targetMemory: MemoryFigures?
    /// What the gateway's journal says was opened and closed since the run began, where one was given.
    public var journal: [String: Int]?
    /// What was given, but could not be judged, and why.
    public var notJudged: String?

    public var isClean: Bool { leftovers.isEmpty }

    public init(leftovers: [String], memory: MemoryFigures = MemoryFigures(), journal: [String: Int]? = nil, notJudged: String? = nil) {
        (self.leftovers, self.memory, self.journal, self.notJudged) = (leftovers, memory, journal, notJudged)
    }
}
