import Glibc
import Primitives
import Runtime

/// Lanes that several threads enter by `post` and `sync`, with alarms, and that are closed while others enter.
func raceLanes(_ run: Run) -> [Figure] {
    let turns = Tally(), alarms = Tally(), refusals = Tally()
    onThreads(2) { number in
        var random = run.random(number)
        while !run.isOver {
            let lane = Lane<Counter>(label: "race-\(number)", hasPoller: .random(using: &random)) { _, _ in Counter(turns, alarms) }
            let turnsToClose = Int.random(in: 1...300, using: &random)
            enter(lane, closingAfter: turnsToClose, refusals)
        }
    }
    return [("turns", turns.count), ("alarms", alarms.count), ("turns of closed lanes refused", refusals.count)]
}

private func enter(_ lane: Lane<Counter>, closingAfter turnsToClose: Int, _ refusals: Tally) {
    onThreads(3) { number in
        for turn in 0..<200 {
            if number == 0, turn == turnsToClose { lane.close() }
            if turn % 5 == number {
                if lane.sync({ counter, now in counter.turn(at: now) }) == nil { refusals.add() }
            } else {
                lane.post { counter, now in counter.turn(at: now) }
            }
            if turn % 64 == 0 { usleep(500) }   // so that alarms ring meanwhile
        }
    }
}

/// Plain, as every resident.
private final class Counter: LaneResident {
    private(set) var deadline: Instant?
    private var count = 0
    private let turns: Tally, alarms: Tally

    init(_ turns: Tally, _ alarms: Tally) { (self.turns, self.alarms) = (turns, alarms) }

    func turn(at now: Instant) {
        count += 1
        turns.add()
        if deadline == nil { deadline = now + .microseconds(200) }
    }

    func advance(to now: Instant) {
        guard let due = deadline, due <= now else { return }
        deadline = nil
        count += 1
        alarms.add()
    }
}

/// Pollers whose sockets other threads watch, change, forget and close, that are woken meanwhile, and that are stopped while busy.
func racePoller(_ run: Run) throws -> [Figure] {
    let batches = Tally(), reports = Tally(), sockets = Tally()
    while !run.isOver {
        let poller = try Poller(), seen = Seen()
        try poller.start(name: "race", batch: .immediate) { ready in
            seen.batches += 1
            for socket in ready { seen.tokens.insert(socket.token) }
            batches.add()
            reports.add(ready.count)
            return MonotonicClock.now + .milliseconds(1)
        }
        onThreads(3) { number in
            for turn in 0..<50 { if watch(poller, token: UInt64(1_000 * number + turn)) { sockets.add() } }
            if number == 0 { poller.stop() }
        }
        poller.stop()
    }
    return [("batches", batches.count), ("ready sockets", reports.count), ("sockets watched", sockets.count)]
}

/// What a drain may keep without a lock: it is never called twice at a time.
private final class Seen: @unchecked Sendable {
    var batches = 0
    var tokens: Set<UInt64> = []
}

/// A socket with a datagram for itself.
private func watch(_ poller: Poller, token: UInt64) -> Bool {
    guard let socket = try? FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: 0)), let address = socket.localAddress else {
        return false
    }
    guard (try? poller.watch(socket.raw, token: token)) != nil else { return false }
    let byte: [UInt8] = [1]
    _ = address.withSockaddr { sendto(socket.raw, byte, 1, 0, $0, $1) }
    poller.wake()
    if token % 3 == 0 { try? poller.change(socket.raw, token: token, to: [.readable, .writable]) }
    if token % 2 == 0 { poller.unwatch(socket.raw) }
    return true
}
