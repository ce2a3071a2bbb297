import Dispatch
import Glibc
import Primitives

/// A socket that a lane's poller watches. Lives on the lane.
protocol LaneSocket: AnyObject {
    /// Called in a turn of the lane.
    func ready(_ events: Poller.Events, at now: Instant)
}

/// The name of a watched socket in its lane. No name is given twice.
struct SocketToken: Hashable, Sendable { fileprivate let number: UInt64 }

/// The ready sockets of one turn. Unchecked: they lie in the poller's memory, and the poller waits until the turn is over.
struct ReadySockets: @unchecked Sendable {
    fileprivate let entries: Slice<UnsafeBufferPointer<Poller.Ready>>
}

/// The sockets of one lane and the poller that waits for all of them, and for the lane's alarm.
///
/// The poller, with its thread, is made for the first socket, or at the start of a lane that wants one. Held by the lane; used on the
/// lane's queue.
///
/// Unchecked: the queue keeps threads apart, and each call asks for it.
public final class LaneSockets: @unchecked Sendable {
    /// The most ready sockets that one turn of the lane serves; the rest of a batch comes in the next turn, behind what was posted
    /// meanwhile.
    static let socketsPerTurn = 32

    private struct Place { weak var socket: (any LaneSocket)? }

    /// The lane's.
    let queue: DispatchQueue
    private let isPatient: Bool
    private var poller: Poller?
    private var places: [UInt64: Place] = [:]
    private var lastToken: UInt64 = 0
    private var isClosed = false
    /// Does one turn of the lane with these sockets. Called on the poller's thread.
    private var turn: (@Sendable (ReadySockets) -> Void)?

    init(on queue: DispatchQueue, isPatient: Bool = false) { (self.queue, self.isPatient) = (queue, isPatient) }

    /// Once only, before anything else.
    func start(turn: @escaping @Sendable (ReadySockets) -> Void) { self.turn = turn }

    deinit { poller?.stop() }

    /// Lets the poller's thread end. Nothing is reported any more.
    func close() {
        isClosed = true
        poller?.stop()
        (poller, places, turn) = (nil, [:], nil)
    }

    /// Has `socket` told of `events` at the descriptor, until `forget`. The lane does not hold the socket.
    func watch(_ descriptor: Int32, for events: Poller.Events = .readable, _ socket: any LaneSocket) throws(PollerError) -> SocketToken {
        dispatchPrecondition(condition: .onQueue(queue))
        let poller = try startedPoller()
        lastToken += 1
        try poller.watch(descriptor, token: lastToken, for: events)
        places[lastToken] = Place(socket: socket)
        return SocketToken(number: lastToken)
    }

    func change(_ descriptor: Int32, _ token: SocketToken, to events: Poller.Events) throws(PollerError) {
        dispatchPrecondition(condition: .onQueue(queue))
        try poller?.change(descriptor, token: token.number, to: events)
    }

    /// Call it while the descriptor is open; what was reported before is dropped.
    func forget(_ descriptor: Int32, _ token: SocketToken) {
        guard places.removeValue(forKey: token.number) != nil else { return }
        poller?.unwatch(descriptor)
    }

    /// Tells the sockets of one turn. One that was forgotten since is passed over.
    func deliver(_ ready: ReadySockets, at now: Instant) {
        for entry in ready.entries { places[entry.token]?.socket?.ready(entry.events, at: now) }
    }

    // MARK: The alarm

    /// Whether the lane has a poller, which is then its alarm.
    var hasPoller: Bool { poller != nil }

    /// Makes the poller without a socket.
    /// - Returns: false where the system refuses it.
    func startPoller() -> Bool { (try? startedPoller()) != nil }

    /// Has a turn begin at this time; the time that was set before counts no more.
    func ring(at instant: Instant) { poller?.ring(at: instant) }

    private func startedPoller() throws(PollerError) -> Poller {
        if let poller { return poller }
        guard !isClosed, let turn else { throw PollerError(code: ECANCELED) }
        let poller = try Poller()
        try poller.start(name: String(queue.label.prefix(15)), batch: .immediate, isPatient: isPatient) { ready in
            var rest = ready[...]
            repeat {
                turn(ReadySockets(entries: rest.prefix(Self.socketsPerTurn)))
                rest = rest.dropFirst(Self.socketsPerTurn)
            } while !rest.isEmpty
            return nil
        }
        self.poller = poller
        return poller
    }
}
