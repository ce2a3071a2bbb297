import Primitives

/// SIP messages on one time axis, between their peers and the gateway: a ladder of what was seen on the wire, and of nothing else.
///
/// Peers whose first message came in stand on the left of the gateway. The time is in milliseconds since the first message, and is written
/// where it changes.
public struct MessageLadder: Sendable {
    /// One message.
    public struct Arrow: Equatable, Sendable {
        /// The peer that sent it, or got it.
        public var peer: String
        public var isReceived: Bool
        /// The same was there before.
        public var isRetransmission: Bool
        /// `INVITE`, `200 OK (BYE)`
        public var label: String
        /// The status of a response.
        public var status: Int?
        /// Nanoseconds since 1970-01-01 UTC.
        public var wall: UInt64

        public init(peer: String, isReceived: Bool, isRetransmission: Bool, label: String, status: Int?, wall: UInt64) {
            (self.peer, self.isReceived, self.isRetransmission) = (peer, isReceived, isRetransmission)
            (self.label, self.status, self.wall) = (label, status, wall)
        }
    }

    private let peers: [String]
    private let layout: LadderLayout
    private let arrows: [Arrow]
    private let options: LadderOptions
    /// Peers that do not fit into the width, and messages with them.
    public let omitted: Int

    /// The arrows in their order, drawn as wide as the options allow.
    public init(_ arrows: [Arrow], options: LadderOptions = LadderOptions()) {
        var found: [(name: String, isIncoming: Bool)] = []
        for arrow in arrows where !found.contains(where: { $0.name == arrow.peer }) { found.append((arrow.peer, arrow.isReceived)) }
        let widest = (found.map(\.name.count).max() ?? 0) + 2
        let shown = found.prefix(max(1, (options.width - LadderLayout.timeWidth) / max(widest, LadderLayout.narrowestColumn) - 1))
        let names = shown.map(\.name)
        peers = names
        layout = LadderLayout(shown.map(\.isIncoming), width: options.width, hasBars: false)
        self.arrows = arrows.filter { names.contains($0.peer) }
        (self.options, omitted) = (options, found.count - shown.count)
    }

    /// The whole ladder, each line with a newline.
    public var text: String {
        var text = omitted > 0 ? "and \(omitted) more peers that do not fit\n" : "", last: UInt64?
        text += header()
        for arrow in arrows {
            text += row(arrow, showsTime: last != arrow.wall)
            last = arrow.wall
        }
        return text
    }

    private func header() -> String {
        var row = LadderRow(width: options.width)
        row.put("ms", at: LadderLayout.timeWidth - 2)
        row.put("gateway", at: layout.gateway - 3)
        for (name, column) in zip(peers, layout.lifelines) {
            row.put(name, at: max(LadderLayout.timeWidth + 1, min(column - name.count / 2, options.width - name.count)))
        }
        return row.text(colour: options.colour)
    }

    private func row(_ arrow: Arrow, showsTime: Bool) -> String {
        var row = LadderRow(width: options.width)
        for column in layout.lifelines + [layout.gateway] { row.put("│", at: column, .faint) }
        if showsTime, let first = arrows.first {
            row.put(time: Duration.nanoseconds(Int64(bitPattern: arrow.wall &- first.wall)).millisecondsText)
        }
        let message = LadderStep.Message(label: arrow.label, isReceived: arrow.isReceived, isRetransmission: arrow.isRetransmission)
        let column = peers.firstIndex(of: arrow.peer).map { layout.lifelines[$0] } ?? layout.gateway
        layout.draw(message, LadderStep.Tone(ofStatus: arrow.status).colour, from: column, in: &row)
        return row.text(colour: options.colour)
    }
}
