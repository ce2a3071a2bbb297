/// How much of a call's sound has to arrive: one rule, for a call that is over and for the window of a step. A value.
struct SoundArrival {
    /// Where the sound that is due comes from.
    enum Origin { case otherEnd, echo, target }

    /// Media that ran shorter than this proves nothing.
    static let shortest = Duration.milliseconds(400)
    /// Packets that may be on their way, or wait at the other end, when a call ends, or where a key or a hold interrupts it.
    static let inFlight: UInt64 = 10

    var origin: Origin
    /// Of the end that is heard; with an echo and with a target of which no more is known, of the listener itself.
    var sent: UInt64
    var received: UInt64
    /// Keys and holds, each of which may cost what is on its way.
    var interruptions: Int

    /// - Parameter peer: the other end, where it is one of ours.
    init(at end: EndFigures, from peer: EndFigures?, expectsEcho: Bool, interruptions: Int) {
        origin = peer != nil ? .otherEnd : expectsEcho ? .echo : .target
        (sent, received, self.interruptions) = (peer?.sent ?? end.sent, end.received, interruptions)
    }

    /// What is wrong with it. A target of which no more is known may end what it plays.
    ///
    /// - Parameter place: appended to the words: ` in the step`.
    func fault(in place: String = "") -> Finding? {
        if received == 0, sent > Self.inFlight {
            return Finding(.oneWay, (origin == .otherEnd ? "none of \(sent) packets came" : "no packet came") + place)
        }
        guard origin != .target, sent > received + max(Self.inFlight * UInt64(1 + interruptions), sent / 10) else { return nil }
        return Finding(.missing, "\(sent - received) of \(sent) packets did not come\(origin == .echo ? " back" : "")\(place)")
    }
}
