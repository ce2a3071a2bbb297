import Primitives

/// The sound of a leg in both directions, and its quality.
public struct LegSound: Equatable, Sendable {
    /// The sound of one direction, the best first. The words are the journal's, but for `packets`.
    public enum Heard: String, CaseIterable, Comparable, Sendable {
        case heard
        /// Packets came, too few to tell what is in them.
        case packets
        /// The sender said that it is silent.
        case paused
        /// Packets with nothing but silence in them.
        case silent
        /// No packet, where some were due.
        case nothing

        /// Something that should have been there is missing.
        public var isMissing: Bool { self == .silent || self == .nothing }

        public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// The quality of one direction, each figure where it was measured. Loss in hundredths of a percent, jitter in microseconds, MOS in
    /// hundredths.
    public struct Quality: Equatable, Sendable {
        public var lost: Int64?, expected: Int64?, loss: Int64?, jitter: Int64?, mos: Int64?
    }

    private var incomingVerdict: Heard?, outgoingVerdict: Heard?
    public private(set) var sent: Int64 = 0, received: Int64 = 0
    /// The quality of what came, and of what was sent by the far end's last report.
    public private(set) var incomingQuality = Quality(), outgoingQuality = Quality()
    /// Microseconds.
    public private(set) var roundTrip: Int64?
    /// Media ran once at least.
    public private(set) var wasRunning = false

    /// From the far end. nil: nothing is known.
    public var incoming: Heard? { incomingVerdict ?? (received > 0 ? .packets : nil) }
    /// To the far end.
    public var outgoing: Heard? { outgoingVerdict ?? (sent > 0 ? .packets : nil) }

    /// One stretch of media.
    mutating func noteStopped(_ details: JournalEvent.Details) {
        wasRunning = true
        sent &+= details.number(.packets) ?? 0
        received &+= details.number(.received) ?? 0
        incomingVerdict = Self.better(incomingVerdict, details.text(.incoming))
        outgoingVerdict = Self.better(outgoingVerdict, details.text(.outgoing))
        incomingQuality = Quality(
            lost: details.number(.lost), expected: details.number(.expected), loss: details.number(.loss), jitter: details.number(.jitter),
            mos: details.number(.mos))
        noteRemote(details)
    }

    /// The whole life.
    mutating func noteClosed(_ details: JournalEvent.Details) {
        (sent, received) = (details.number(.packets) ?? sent, details.number(.received) ?? received)
        noteRemote(details)
    }

    private mutating func noteRemote(_ details: JournalEvent.Details) {
        roundTrip = details.number(.roundTrip) ?? roundTrip
        let told = Quality(
            lost: details.number(.remoteLost), expected: details.number(.remoteExpected), loss: details.number(.remoteLoss),
            jitter: details.number(.remoteJitter), mos: details.number(.remoteMOS))
        if told != Quality() { outgoingQuality = told }
    }

    private static func better(_ before: Heard?, _ text: Text?) -> Heard? {
        [before, text.flatMap { Heard(rawValue: $0.description) }].compactMap(\.self).min()
    }
}
