import Gateway
import Primitives
import Workbench

/// The outcome of watching a gateway's sockets and packets.
struct WitnessReport: Encodable {
    enum Verdict: String, Encodable {
        case agree, disagree
        case nothingSeen = "nothing-seen"
    }

    var event = "verdict"
    var verdict: Verdict
    var disagreements: Int
    /// Samples that were judged; calls that had a port, those whose socket was seen, and those that came and went between two samples.
    var samples: Int, calls: Int, callsWithMedia: Int, missedCalls: Int
    /// Sockets that the kernel had.
    var sockets: Int
    /// Packets that left; nil: they were not watched. And those that could not be judged.
    var packets: Int?, missedPackets: Int
    /// Sockets on which the journal says nothing, for events are missing.
    var unjudgedSockets: Int
    /// Sockets of other processes, and those that were gone before they could be told from the gateway's.
    var foreignSockets: Int, unattributedSockets: Int
    /// Places in the journal where events are missing.
    var gaps: Int
    var seconds: Double
    /// The processor time of the witness, in milliseconds a second: ten are 1 % of a core.
    var cpuMillisecondsPerSecond: Double

    var text: String { "witness: \(summary)" }

    /// The verdict and its figures, for a person.
    var summary: String {
        var words =
            "\(samples.counted("sample", "samples")), \(calls.counted("call", "calls")) (\(callsWithMedia) with media), "
            + "\(sockets.counted("socket", "sockets"))\(packets.map { " and \($0.counted("packet", "packets"))" } ?? "") seen: \(sentence)"
        let notes = [
            (missedPackets, "packets not judged"),
            (missedCalls, "calls too short to be seen"), (unjudgedSockets, "sockets not judged, events are missing"),
            (foreignSockets, "sockets of other processes"), (unattributedSockets, "sockets gone before their process was known"),
            (gaps, "gaps in the journal"),
        ]
        for (count, note) in notes where count > 0 { words += "; \(count) \(note)" }
        return words + "; \(CallText.number(cpuMillisecondsPerSecond / 10)) % of a core"
    }

    private var sentence: String {
        switch verdict {
        case .agree: "the kernel and the journal agree"
        case .disagree: "the kernel and the journal disagree: \(disagreements.counted("time", "times"))"
        case .nothingSeen: "nothing was seen: no call had a port"
        }
    }
}

/// A disagreement, as it is printed.
struct WitnessFinding: Encodable {
    var event = "disagreement"
    var call: String?, port: UInt16
    /// ISO 8601, UTC.
    var time: String
    var journal: String, kernel: String
    /// For a person.
    let text: String

    private enum CodingKeys: CodingKey { case event, call, port, time, journal, kernel }

    init(_ found: KernelDisagreement) {
        (call, port, time, text) = (found.call?.description, found.port, WallTime.universal(found.wall), found.description)
        journal =
            switch found.journal {
            case .unused: "unused"
            case .reserved: "reserved"
            case .closed: "closed"
            case .open: "open"
            case .idle: "idle"
            }
        kernel =
            switch found.kernel {
            case .socket: "socket"
            case .noSocket: "no socket"
            case .packet(let isRTP): isRTP ? "rtp" : "packet"
            }
    }
}

extension LeakReport {
    /// Disagreements are left over; without a call nothing is judged.
    init(_ outcome: WitnessWatch.Outcome) {
        let (report, findings) = outcome
        self.init(leftovers: findings.map { "kernel: \($0.text)" }, notJudged: report.verdict == .nothingSeen ? report.text : nil)
    }
}
