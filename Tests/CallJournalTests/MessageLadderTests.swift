import CallJournal
import Testing

/// Messages alone, between their peers and the gateway.
@Suite struct MessageLadderTests {
    private static func arrow(
        _ peer: String, _ label: String, received: Bool, at milliseconds: UInt64, status: Int? = nil, again: Bool = false
    ) -> MessageLadder.Arrow {
        MessageLadder.Arrow(
            peer: peer, isReceived: received, isRetransmission: again, label: label, status: status,
            wall: 7_000_000 + milliseconds * 1_000_000)
    }

    static let arrows = [
        arrow("192.0.2.7:5060", "INVITE", received: true, at: 0),
        arrow("192.0.2.7:5060", "100 Trying", received: false, at: 1, status: 100),
        arrow("192.0.2.9:5060", "INVITE", received: false, at: 1), arrow("192.0.2.9:5060", "INVITE", received: false, at: 501, again: true),
        arrow("192.0.2.9:5060", "486 Busy\u{1B}[2J", received: true, at: 502, status: 486),
    ]

    @Test func `who called stands on the left, who was called on the right, and the same again is dotted`() {
        #expect(
            MessageLadder(Self.arrows, options: LadderOptions(width: 84)).text == """
                         ms 192.0.2.7:5060                  gateway                   192.0.2.9:5060
                      0.000  │───────────── INVITE ───────────▶│                                 │
                      1.000  │◀────────── 100 Trying ──────────│                                 │
                             │                                 │───────────── INVITE ───────────▶│
                    501.000  │                                 │╌╌╌╌╌╌╌╌╌╌╌╌╌ INVITE ╌╌╌╌╌╌╌╌╌╌╌▶│
                    502.000  │                                 │◀───────── 486 Busy�[2J ─────────│

                """)
    }

    @Test func `peers that do not fit are counted, and a response has the colour of its class`() {
        let many = (1...20).map { Self.arrow("192.0.2.\($0):5060", "OPTIONS", received: true, at: UInt64($0)) }
        let ladder = MessageLadder(many, options: LadderOptions(width: 72))
        #expect(ladder.omitted > 10 && ladder.text.hasPrefix("and \(ladder.omitted) more peers that do not fit\n"))
        let text = MessageLadder(Self.arrows, options: LadderOptions(width: 84, colour: true)).text
        #expect(text.contains("\u{1B}[0;31m◀") && text.contains("\u{1B}[0;33m◀") && text.contains("\u{1B}[0;36m"))
    }
}
