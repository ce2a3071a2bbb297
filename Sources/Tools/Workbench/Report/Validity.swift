import Media
import Primitives
import Runtime

/// Whether a run can be believed: was the tool itself in time, and did the machine lose nothing on the way?
public struct Validity: Codable, Hashable, Sendable {
    /// How late something of ours was, in milliseconds; nil where nothing was due.
    public struct Late: Codable, Hashable, Sendable {
        public var count: UInt64
        public var p50: Double, p99: Double, max: Double

        public init?(_ lateness: Lateness) {
            guard lateness.count > 0, let half = lateness.percentile(50), let most = lateness.percentile(99) else { return nil }
            (count, p50, p99, max) = (lateness.count, half.inMilliseconds, most.inMilliseconds, lateness.greatest.inMilliseconds)
        }
    }

    public var isBelievable: Bool
    /// Why not.
    public var reasons: [String]
    /// What else a reader must know.
    public var notes: [String]

    /// What the scheduler gave to the threads that send: real time, nice -15, or no more than to others.
    public var priority: String
    /// Nil where too little was sent to tell.
    public var punctuality: PunctualityFigures?
    /// Of packets that the tool sent, against t0 + n · 20 ms.
    public var packetLateness: Late?
    /// Of calls that it began, against the plan.
    public var callLateness: Late?
    /// Of one core, in percent; and of all.
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

/// What the verdict is made from.
public struct ValidityEvidence: Sendable {
    public var packets = Lateness()
    public var calls = Lateness()
    public var urgency = Poller.Urgency.normal
    public var punctuality: PunctualityFigures?
    public var before: MachineReading
    public var after: MachineReading
    public var elapsed: Duration
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
    /// Calls begun later than this, one in a hundred, make the rate another one.
    public static let greatestCallLateness = 50.0

    public init(_ evidence: ValidityEvidence) {
        let seconds = max(0.001, evidence.elapsed.inSeconds), (before, after) = (evidence.before, evidence.after)
        func grown(_ value: (MachineReading) -> UInt64?) -> UInt64? { value(after).flatMap { end in value(before).map { end &- $0 } } }
        (isBelievable, reasons, notes) = (true, [], [])
        (priority, punctuality) = (evidence.urgency.text, evidence.punctuality)
        (packetLateness, callLateness) = (Late(evidence.packets), Late(evidence.calls))
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
        isBelievable = reasons.isEmpty
    }

    private mutating func judge() {
        if let late = packetLateness, late.p99 >= Self.greatestPacketLateness {
            reasons.append(
                "the tool sent one packet in a hundred \(Number.text(late.p99)) ms late or later: delay, jitter, loss and MOS are not the target's"
            )
        }
        if let late = callLateness, late.p99 >= Self.greatestCallLateness {
            reasons.append(
                "the tool began one call in a hundred \(Number.text(late.p99)) ms late or later: the rate was not the one asked for")
        }
        if ownProcessor >= 90 * Double(cores) {
            reasons.append("the tool used \(Number.text(ownProcessor)) % of \(cores) cores: it was the limit")
        }
        if let dropped = droppedReceiving, dropped > 0 {
            reasons.append("the kernel of this machine dropped \(dropped) datagrams whose socket was full (RcvbufErrors): loss may be ours")
        }
        if let dropped = droppedSending, dropped > 0 {
            reasons.append("the kernel of this machine could not send \(dropped) datagrams (SndbufErrors)")
        }
        if signallingSendFailures > 0 { reasons.append("\(signallingSendFailures) SIP messages could not be sent") }
        if withoutPort > 0 { reasons.append("\(withoutPort) calls had no media port of ours: name others with --ports") }
    }

    private mutating func note(_ evidence: ValidityEvidence) {
        if let late = packetLateness, late.p99 >= 1, late.p99 < Self.greatestPacketLateness {
            notes.append("one packet in a hundred left \(Number.text(late.p99)) ms late or later: jitter figures have that error")
        }
        if limiterHits > 0 { notes.append("the target answered 503 to \(limiterHits) calls: a limit of its own was hit") }
        if skipped > 0 { notes.append("\(skipped) calls were not begun: \(evidence.progress.mostActive) were up already (--concurrent)") }
        if evidence.progress.strangers > 0 {
            notes.append("\(evidence.progress.strangers) INVITEs came that belong to no call of this run")
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
        let kept = calls.map { "up to \($0) calls at a time\(streams.map { " (\($0) streams of ours)" } ?? "")" } ?? "at no number of calls"
        return kept
            + (lateAt.flatMap { at in latenessThere.map { "; at \(at) one packet in a hundred was \(Number.text($0)) ms late" } }
                ?? ", and no more were tried")
    }
}

/// Numbers as people read them.
enum Number {
    /// Three significant digits, no exponent.
    static func text(_ value: Double) -> String {
        guard value.isFinite else { return "\(value)" }
        let digits = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
        return text(value, digits: digits)
    }

    static func text(_ value: Double, digits: Int) -> String {
        let factor = [1, 10, 100, 1_000][min(3, digits)], scaled = Int64((abs(value) * Double(factor)).rounded())
        let whole = "\(value < 0 && scaled > 0 ? "-" : "")\(scaled / Int64(factor))"
        guard digits > 0 else { return whole }
        let fraction = "\(scaled % Int64(factor))"
        return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
