import Calls
import Media
import Primitives
import Runtime
import Streaming

/// The stream of one leg, with its lines in the journal. Lives on the signalling lane.
final class LegStream {
    let id: UInt64
    private let port: StreamPort
    private let plane: any StreamPlane
    private let scribe: LegJournal
    private let tally: StreamTally
    private let tap: StreamTap?
    /// The program is expected at the control interface.
    private var isAwaited: Bool
    private(set) var isOver = false
    private var isPaused = false

    /// It begins.
    init(
        _ order: StreamOrder, as id: UInt64, over plane: any StreamPlane, _ scribe: LegJournal, _ tally: StreamTally, at now: Instant
    ) {
        (self.id, port, self.plane, self.scribe, self.tally) = (id, order.port, plane, scribe, tally)
        (tap, isAwaited) = (order.tap, order.settings.place == nil)
        let remote = order.settings.place.map { Text($0.name) } ?? StreamSettings.caller
        scribe.write(
            .streamStarted, at: now,
            [.direction: .init(direction), .codec: .init(order.settings.format.name), .remote: .init(remote)])
        tally.began()
        plane.open(order, as: id)
    }

    /// The program listens alone: it neither speaks nor has a say in the call.
    var isTap: Bool { tap != nil }

    /// As the journal has it: a program that speaks hears the far end alone.
    private var direction: Text { tap.map { Text("tap-" + $0.rawValue) } ?? "both" }

    /// The place where the leg's media lays copies of the packets of the far end; nil while the program is not to hear them.
    var listener: RecordingTap? { isOver || isPaused || tap == .out ? nil : port.heard }

    /// The same for the packets to the far end.
    var sentListener: RecordingTap? { isOver || isPaused ? nil : port.said }

    /// The program that is awaited is there. False: none is, or not any more.
    func claim() -> Bool {
        guard isAwaited, !isOver else { return false }
        isAwaited = false
        return true
    }

    /// The connection of the program that was awaited.
    func connect(over connection: ReleasedConnection) { plane.connect(id, over: connection) }

    func press(_ digit: Character) { if !isOver { plane.press(digit, on: id) } }

    /// The call is held, or no more: the program is told, and hears nothing meanwhile.
    func pause(_ isPaused: Bool, at now: Instant) {
        guard !isOver, self.isPaused != isPaused else { return }
        self.isPaused = isPaused
        port.interrupt()
        scribe.write(.streamPaused, at: now, [.on: .init(isPaused)])
        plane.hold(isPaused, id)
    }

    /// Ends it from our side. No sound reaches the program after this returns.
    func close(_ end: StreamEnd, at now: Instant) {
        guard !isOver else { return }
        isOver = true
        stopped(end, plane.close(id, end) ?? StreamSession.Counts(), at: now)
    }

    /// It has ended by itself.
    func ended(_ end: StreamEnd, _ counts: StreamSession.Counts, at now: Instant) {
        guard !isOver else { return }
        isOver = true
        stopped(end, counts, at: now)
    }

    private func stopped(_ end: StreamEnd, _ counts: StreamSession.Counts, at now: Instant) {
        tally.ended(end, counts)
        let text = counts.text
        scribe.write(
            .streamStopped, at: now,
            text.isEmpty
                ? [.direction: .init(direction), .cause: .init(Text(end.rawValue))]
                : [.direction: .init(direction), .cause: .init(Text(end.rawValue)), .text: .init(text)])
    }
}

extension StreamSession.Counts {
    /// Those that are not zero, as `malformed:3 underruns:1`.
    fileprivate var text: Text {
        let all = [
            ("malformed", malformed), ("unknown", unknown), ("overflow-bytes", overflow), ("underruns", underruns), ("missing-ms", missing),
            ("marks", marks), ("unsent", unsent),
        ]
        return Text(all.filter { $0.1 > 0 }.map { "\($0.0):\($0.1)" }.joined(separator: " "))
    }
}
