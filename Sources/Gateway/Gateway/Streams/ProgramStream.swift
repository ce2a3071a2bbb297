import HTTP
import Media
import Primitives
import Runtime
import Streaming

/// One stream on its lane: the WebSocket to the program, and what passes between that and the port of a leg.
final class ProgramStream {
    /// Bytes that wait for a program before its sound is left out: a few seconds.
    private static let mostUnsent = 65_536
    /// The connection's deadlines are seconds away: they are not looked at each time that sound is passed on.
    private static let patience = Duration.milliseconds(100)

    private let order: StreamOrder
    private let port: StreamPort
    private let report: (StreamEvent) -> Void
    private let session: StreamSession
    /// The ears for what the far end says, and for what it hears; those of the tap alone.
    private let ears: [(track: StreamTrack, ear: StreamEar)]
    private var socket: ProgramSocket?
    private var isOpen = false, isHeld = false
    /// Nothing more is told.
    private(set) var isOver = false
    private let deadlineOfLookup: Instant
    /// When the deadlines are looked at next.
    private var lookAt: Instant
    /// As the port told it last.
    private var played = 0
    private let scratch: UnsafeMutableBufferPointer<Int16>

    init(_ order: StreamOrder, at now: Instant, report: @escaping (StreamEvent) -> Void) throws {
        (self.order, port, self.report, lookAt) = (order, order.port, report, now)
        session = try StreamSession(order.settings.format, order.call, tap: order.tap)
        let rate = session.sampleRate
        ears = (order.tap ?? .in).tracks.compactMap { track in
            let copies = track == .inbound ? order.port.heard : order.port.said
            return copies.map { (track, StreamEar($0, sampleRate: rate, at: now)) }
        }
        deadlineOfLookup = now + ProgramSocket.openingTimeout
        scratch = .allocate(capacity: session.sampleRate / 50)
        scratch.initialize(repeating: 0)
    }

    deinit { scratch.deallocate() }

    /// Nothing of it is left on the wire either.
    var isGone: Bool { isOver && socket?.isOver != false }

    /// The name of the program's host was looked up.
    func connect(to addresses: [SocketAddress], trusting trust: TLSContexts, on lane: any LaneDoor, at now: Instant) {
        guard !isOver, socket == nil, let place = order.settings.place else { return }
        let headers = order.settings.headers
        begin(
            ProgramSocket(to: place, at: addresses, headers: headers, trusting: trust, on: lane, at: now) { [weak self] in
                self?.take($0, at: $1)
            }, at: now)
    }

    /// The program has called.
    func connect(over released: ReleasedConnection, on lane: any LaneDoor, at now: Instant) {
        guard !isOver, socket == nil else { return released.connection.close() }
        begin(ProgramSocket(taking: released, on: lane, at: now) { [weak self] in self?.take($0, at: $1) }, at: now)
    }

    private func begin(_ socket: ProgramSocket, at now: Instant) {
        self.socket = socket
        socket.begin(at: now)
    }

    /// Passes on what there is, and looks now and then whether the connection has something to do.
    func advance(to now: Instant) {
        if lookAt <= now { look(at: now) }
        guard isOpen, !isOver else { return }
        if isHeld {
            rest(until: now)
        } else {
            for index in ears.indices {
                let track = ears[index].track
                ears[index].ear.read(at: now) { session.hear($0, of: track, isSent: isRead) }
            }
        }
        pump()
        notePlayed()
        flush(at: now)
    }

    private func look(at now: Instant) {
        lookAt = now + Self.patience
        if socket == nil, !isOver, deadlineOfLookup <= now { return end(order.settings.place == nil ? .timeout : .unreachable, at: now) }
        if let due = socket?.deadline, due <= now { socket?.advance(to: now) }
    }

    /// The program takes what it is sent.
    private var isRead: Bool { (socket?.unsentCount ?? 0) <= Self.mostUnsent }

    private func notePlayed() {
        let played = port.played
        guard played != self.played || session.hasMarks else { return }
        self.played = played
        let underruns = port.underruns
        session.played(played, underruns: underruns.count, missing: underruns.missing)
    }

    func press(_ digit: Character, at now: Instant) {
        guard isOpen else { return }
        session.press(digit)
        flush(at: now)
    }

    func hold(_ isHeld: Bool, at now: Instant) {
        self.isHeld = isHeld
        rest(until: now)
        guard isOpen else { return }
        session.hold(isHeld)
        flush(at: now)
    }

    /// The call is over, or goes on without it. Nil: it was over.
    func close(_ end: StreamEnd, at now: Instant) -> StreamSession.Counts? {
        guard !isOver else { return nil }
        if isOpen {
            session.stop(end.rawValue)
            flush(at: now)
        }
        isOver = true
        socket?.close(at: now)
        return session.counts
    }

    private func take(_ event: ProgramSocket.Event, at now: Instant) {
        switch event {
        case .opened: open(at: now)
        case .text(let text): session.receive(text: text)
        case .binary(let bytes): session.receive(binary: bytes)
        case .ended(let end): return self.end(StreamEnd(end, wasOpen: isOpen), at: now)
        }
        pump()
        flush(at: now)
    }

    private func rest(until now: Instant) { for (_, ear) in ears { ear.rest(until: now) } }

    private func open(at now: Instant) {
        isOpen = true
        rest(until: now)
        session.start(position: (now - order.answered).wholeMilliseconds)
        if isHeld { session.hold(true) }
    }

    /// Hands out what the port has room for.
    private func pump() {
        while session.waiting > 0, port.room > 0 {
            let room = UnsafeMutableBufferPointer(rebasing: scratch[..<min(scratch.count, port.room)])
            let count = session.hand(into: room)
            guard count > 0 else { return }
            port.put(UnsafeBufferPointer(rebasing: room[..<count]))
        }
    }

    private func flush(at now: Instant) {
        for output in session.takeOutputs() where !isOver {
            switch output {
            case .text(let text): socket?.send(text: text, at: now)
            case .binary(let bytes): socket?.send(binary: bytes, at: now)
            case .forget: port.forget()
            case .pause(let isPaused): port.pause(isPaused)
            case .digits(let digits): report(.digits(digits))
            case .transfer(let number): report(.transfer(number))
            case .hangUp: end(.hangUp, at: now)
            case .failed: end(.nonsense, at: now)
            }
        }
    }

    private func end(_ end: StreamEnd, at now: Instant) {
        guard !isOver else { return }
        isOver = true
        port.forget()
        socket?.close(at: now)
        report(.ended(end, session.counts))
    }
}

extension StreamEnd {
    /// A program that says goodbye in order has ended the call; one that breaks off has failed.
    fileprivate init(_ end: ProgramSocket.End, wasOpen: Bool) {
        switch end {
        case .closed(let code): self = !wasOpen ? .refused : [.normal, .goingAway, .none].contains(code) ? .closed : .gone
        case .unreachable: self = .unreachable
        case .refused: self = .refused
        case .tls: self = .tls
        case .timeout: self = .timeout
        case .broken: self = .gone
        case .stalled: self = .stalled
        case .protocolError: self = .nonsense
        }
    }
}
