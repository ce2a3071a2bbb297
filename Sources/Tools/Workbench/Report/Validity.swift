import Media
import Primitives
import Runtime

/// Whether a run is valid: was the tool itself on schedule, was the rate the one that was asked for, and did the machine lose nothing?
public struct Validity: Codable, Hashable, Sendable {
    /// The lateness of something of ours, in milliseconds; a percentile is nil where too little was due to tell.
    public struct Late: Codable, Hashable, Sendable {
        public var count: UInt64
        @ExplicitNull public var p50: Double?
        @ExplicitNull public var p95: Double?
        @ExplicitNull public var p99: Double?
        public var max: Double

        public init?(_ lateness: Lateness) {
            guard lateness.count > 0 else { return nil }
            func percentile(_ percent: Double) -> Double? {
                lateness.count >= Percentile.valuesNeeded(for: percent) ? lateness.percentile(percent)?.inMilliseconds : nil
            }
            (count, max) = (lateness.count, lateness.greatest.inMilliseconds)
            (p50, p95, p99) = (percentile(50), percentile(95), percentile(99))
        }

        /// The furthest percentile that is known.
        var judged: (percent: Double, value: Double)? {
            [(99, p99), (95, p95), (50, p50)].lazy.compactMap { percent, value in value.map { (percent, $0) } }.first
        }

        /// `one packet in 100 6.1 ms late or later`, where that is more than a limit.
        func text(_ what: String, from limit: Double) -> String? {
            guard let judged, judged.value >= limit else { return nil }
            let part = Percentile.words(judged.percent).replacing("one", with: "one \(what)")
            return "\(part) \(Number.text(judged.value)) ms late or later"
        }
    }

    /// The rate that was asked for and the rate that was begun, in calls a second.
    public struct Rate: Codable, Hashable, Sendable {
        public var asked: Double?, begun: Double?
        /// Calls of the plan that were not begun: then figures are those of the calls that were let in.
        public var notBegun: Int
        public var isKept: Bool
    }

    public internal(set) var isValid: Bool
    /// The same by its name of before.
    public internal(set) var isBelievable: Bool
    /// Whether faults may be held against the target: nothing of the tool's was late or lost. A rate that was not kept takes nothing
    /// from that, for the calls that were let in are the luckier ones.
    public internal(set) var blamesTarget: Bool
    /// Why it is not valid.
    public var reasons: [String]
    /// Further notes that a reader must know.
    public var notes: [String]

    /// The priority that the scheduler gave to the threads that send: real time, nice -15, or no more than to others.
    public var priority: String
    /// Nil where too little was sent to tell.
    public var punctuality: PunctualityFigures?
    /// The lateness of packets that the tool sent, against t0 + n · 20 ms.
    public var packetLateness: Late?
    /// The lateness of calls that the tool began, against the plan.
    public var callLateness: Late?
    public var rate: Rate
    /// The load of the tool's process in percent of one core, and of the machine in percent of all cores.
    public var ownProcessor: Double
    public var machineProcessor: Double?
    public var cores: Int
    /// Datagrams that the kernel dropped on this machine for want of room, and that the tool could not send.
    public var droppedReceiving: UInt64?
    public var droppedSending: UInt64?
    public var signallingSendFailures: Int
    /// 503 from the target.
    public var limiterHits: Int
    /// Calls not begun at the limit of concurrent ones; and for want of a port of ours.
    public var skipped: Int
    public var withoutPort: Int
    /// Media ports of ours, and the most that were in use or resting at a time.
    public var ports: Int
    public var portsAtMost: Int
    /// Our media ports that the kernel may give to others; nil for none.
    public var ephemeralOverlap: String?
}

/// The evidence for the verdict.
public struct ValidityEvidence: Sendable {
    public var packets = Lateness()
    public var calls = Lateness()
    public var urgency = Poller.Urgency.normal
    public var punctuality: PunctualityFigures?
    public var before: MachineReading
    public var after: MachineReading
    public var elapsed: Duration
    /// The rate of the plan, in calls a second; nil where it has several.
    public var askedRate: Double?
    /// Between the first call and the last that was due, and so the time of the rate.
    public var arriving: Duration?
    /// Whether calls that were not begun make the run invalid: not in a search, which tells it of each step.
    public var judgesRate = true
    public var transport = (congested: 0, failed: 0)
    public var progress = LoadProgress()
    public var limiterHits = 0
    /// Calls that the tool itself could not make.
    public var notTried = 0
    public var mediaPorts: ClosedRange<UInt16>
    public var portsAtMost = 0
    public var ephemeral: ClosedRange<UInt16>?
}

extension Validity {
    /// Packets that left later than this, one in a hundred, make delay, jitter, loss and MOS the tool's own.
    public static let greatestPacketLateness = 5.0
    /// Calls begun later than this, one in a hundred, make the rate another one. Fewer calls are judged by one in twenty, or by the half.
    public static let greatestCallLateness = 50.0

    public init(_ evidence: ValidityEvidence) {
        let seconds = max(0.001, evidence.elapsed.inSeconds), (before, after) = (evidence.before, evidence.after)
        func grown(_ value: (MachineReading) -> UInt64?) -> UInt64? { value(after).flatMap { end in value(before).map { end &- $0 } } }
        (isValid, isBelievable, blamesTarget, reasons, notes) = (true, true, true, [], [])
        (priority, punctuality) = (evidence.urgency.text, evidence.punctuality)
        (packetLateness, callLateness, rate) = (Late(evidence.packets), Late(evidence.calls), Rate(evidence))
        ownProcessor = 100 * (after.processor - before.processor).inSeconds / seconds
        machineProcessor = grown(\.allTicks).flatMap { all in grown(\.busyTicks).map { all > 0 ? 100 * Double($0) / Double(all) : 0 } }
        cores = MachineReading.cores
        (droppedReceiving, droppedSending) = (grown(\.receiveBufferErrors), grown(\.sendBufferErrors))
        signallingSendFailures = evidence.transport.congested + evidence.transport.failed
        (limiterHits, skipped, withoutPort) = (
            evidence.limiterHits, evidence.progress.skipped, max(evidence.progress.withoutPort, evidence.notTried)
        )
        (ports, portsAtMost) = (evidence.mediaPorts.count, evidence.portsAtMost)
        ephemeralOverlap = evidence.ephemeral.flatMap { $0.overlaps(evidence.mediaPorts) ? "\($0.clamped(to: evidence.mediaPorts))" : nil }
        judge()
        note(evidence)
        blamesTarget = reasons.isEmpty
        if evidence.judgesRate { noteRate(evidence) }
        isValid = reasons.isEmpty
        isBelievable = isValid
    }

    private mutating func judge() {
        if let late = packetLateness?.text("packet", from: Self.greatestPacketLateness) {
            reasons.append("the tool sent \(late): delay, jitter, loss and MOS are not the target's")
        }
        if let late = callLateness?.text("call", from: Self.greatestCallLateness) {
            reasons.append("the tool began \(late): the rate was not the one asked for")
        }
        if ownProcessor >= 90 * Double(cores) {
            reasons.append("the tool used \(Number.text(ownProcessor)) % of \(cores.counted("core", "cores")): it was the limit")
        }
        if let dropped = droppedReceiving, dropped > 0 {
            let datagrams = dropped.counted("datagram", "datagrams")
            reasons.append("the kernel of this machine dropped \(datagrams) whose socket was full (RcvbufErrors): loss may be ours")
        }
        if let dropped = droppedSending, dropped > 0 {
            reasons.append("the kernel of this machine could not send \(dropped.counted("datagram", "datagrams")) (SndbufErrors)")
        }
        if signallingSendFailures > 0 {
            reasons.append("\(signallingSendFailures.counted("SIP message", "SIP messages")) could not be sent")
        }
        if withoutPort > 0 {
            reasons.append("\(withoutPort.counted("call", "calls")) had no media port of ours: name others with --ports")
        }
    }

    private mutating func noteRate(_ evidence: ValidityEvidence) {
        guard !rate.isKept else { return }
        let limit = evidence.progress.skipped > 0 ? ": \(evidence.progress.mostActive) were up already (--concurrent)" : ""
        let wanted = "\(evidence.progress.begun + evidence.progress.skipped)"
        reasons.append(
            "the rate was not kept: \(rate.notBegun) of \(wanted) calls were not begun\(limit); the figures are of those that were let in")
    }

    private mutating func note(_ evidence: ValidityEvidence) {
        if let late = packetLateness?.p99, late >= 1, late < Self.greatestPacketLateness {
            notes.append("one packet in 100 left \(Number.text(late)) ms late or later: jitter figures have that error")
        }
        if limiterHits > 0 {
            notes.append("the target answered 503 to \(limiterHits.counted("call", "calls")): a limit of its own was hit")
        }
        if skipped > 0, !evidence.judgesRate {
            let calls = skipped == 1 ? "1 call was" : "\(skipped) calls were"
            notes.append("\(calls) not begun: \(evidence.progress.mostActive) were up already (--concurrent)")
        }
        if evidence.progress.strangers > 0 {
            let invites =
                evidence.progress.strangers == 1 ? "1 INVITE came that belongs" : "\(evidence.progress.strangers) INVITEs came that belong"
            notes.append("\(invites) to no call of this run")
        }
        if let overlap = ephemeralOverlap { notes.append("the kernel may give our media ports \(overlap) to others (ip_local_port_range)") }
        if let busy = machineProcessor, busy > 95 {
            notes.append("the machine was \(Number.text(busy)) % busy: the target, if it is here too, had to share it")
        }
        if ports > 0, portsAtMost * 10 >= ports * 9 { notes.append("\(portsAtMost) of \(ports) of our media ports were in use or resting") }
    }
}

extension Poller.Urgency {
    fileprivate var text: String {
        switch self {
        case .normal: "normal"
        case .nice: "nice -15"
        case .realTime: "real time"
        }
    }
}

extension PunctualityFigures {
    /// In words.
    var text: String {
        let streams = streams.map { " (\($0.counted("stream", "streams")) of ours)" } ?? ""
        let kept = calls.map { "up to \($0.counted("call", "calls")) at a time\(streams)" } ?? "at no number of calls"
        return kept
            + (lateAt.flatMap { at in latenessThere.map { "; at \(at) one packet in 100 was \(Number.text($0)) ms late" } }
                ?? ", and no more were tried")
    }
}

extension Validity.Rate {
    fileprivate init(_ evidence: ValidityEvidence) {
        let seconds = evidence.arriving?.inSeconds ?? 0
        (asked, notBegun) = (evidence.askedRate, evidence.progress.notBegun)
        begun = seconds > 0 && asked != nil ? Double(evidence.progress.begun) / seconds : nil
        isKept = evidence.progress.skipped == 0
    }
}
