public import Primitives

/// Holds samples of the kernel's sockets, and the packets that left, against a journal as it grows: the second witness of the promise that
/// media is open only between answer and end.
///
/// An event tells of a step that was taken: the kernel took it between the event's time and the moment at which the event was read. So a
/// port is judged only in samples in which it was open, or was not, from their beginning to their end; and a sample only when the journal
/// has told all until its end, which a later event shows, or ``grace``.
public struct KernelWitness: Sendable {
    /// Counts until now.
    public struct Tally: Equatable, Sendable {
        /// Samples that were judged.
        public var samples = 0
        /// Calls that had a port, and those of them whose socket the kernel had.
        public var calls = 0, callsWithMedia = 0
        /// Calls that came and went between two samples.
        public var missedCalls = 0
        /// Sockets that the kernel had, and those of them that are not judged, as events are missing.
        public var sockets = 0, unjudgedSockets = 0
        /// Packets that left from ports for media.
        public var packets = 0
        /// Places in the journal where events are missing.
        public var gaps = 0
    }

    /// The kinds of events that it needs; of the others it takes the place alone.
    public static let kinds: Set<JournalEvent.Kind> = [
        .gatewayStarted, .gatewayStopped, .mediaReserved, .mediaRefused, .mediaOpened, .mediaStarted, .mediaStopped, .mediaClosed,
        .mediaReleased, .journalLost,
    ]
    /// The time within which a gateway with a working disk has written an event.
    public static let grace: Duration = .seconds(1)
    /// A packet is read later than it left, by less than this.
    private static let delay: Duration = .seconds(2)

    public internal(set) var tally = Tally()
    /// The journal's last event is the orderly end of its run.
    public private(set) var isOver = false
    /// A port of the journal that is outside of the range.
    public private(set) var strayPort: UInt16?

    let range: ClosedRange<UInt16>
    private(set) var ports: [WitnessedPort]
    /// Ports with openings.
    private var active: Set<UInt16> = []
    /// Ports that other programs have.
    private var foreign: Set<UInt16> = []
    /// Ports whose unexpected socket was told of, and of those that unexpected packets left from, what was told last.
    private var unexpected: Set<UInt16> = []
    var noisy: [UInt16: KernelDisagreement] = [:]
    /// The open port of a call.
    private var open: [CallUUID: UInt16] = [:]
    /// Calls by their reserved ports, and those that no sample has met.
    private var reserved: [CallUUID: Int] = [:]
    private var unmet: [CallUUID: (since: Instant, until: Instant?)] = [:]
    private var waiting: [KernelSample] = []
    private var hasSamples: Bool { firstSample != nil }
    /// When the first sample began.
    private(set) var firstSample: Instant?
    private var last: (sequence: UInt64, time: Instant)?

    /// - Parameter ports: those of the gateway's media.
    public init(ports: ClosedRange<UInt16>) {
        range = ports
        self.ports = Array(repeating: WitnessedPort(), count: ports.count)
    }

    /// Takes a sample, in the order of time.
    public mutating func note(_ sample: KernelSample) {
        if firstSample == nil { firstSample = sample.begin }
        waiting.append(sample)
    }

    /// Judges the samples that can be judged.
    ///
    /// - Parameter instant: a time from which on the journal was read to its end.
    /// - Returns: each disagreement once for as long as it lasts.
    public mutating func judge(readAt instant: Instant) -> [KernelDisagreement] {
        var found: [KernelDisagreement] = [], count = 0
        for sample in waiting {
            guard sample.end < last?.time ?? .zero || sample.end + Self.grace <= instant else { break }
            found += judge(sample)
            count += 1
        }
        waiting.removeFirst(count)
        let horizon = (waiting.first?.begin ?? instant) + (.zero - Self.delay)
        for port in active {
            ports[index(port)].forget(before: horizon)
            if ports[index(port)].openings.isEmpty { active.remove(port) }
        }
        return found
    }

    /// Whether samples wait for the journal.
    public var isWaiting: Bool { !waiting.isEmpty }
}

// The journal.
extension KernelWitness {
    /// Takes the next event.
    ///
    /// - Parameters:
    ///   - event: of any kind.
    ///   - instant: a time at which it had been read.
    public mutating func note(_ event: borrowing JournalEvent, readAt instant: Instant) {
        if event.kind == .gatewayStarted {
            begin(known: instant)
        } else if event.kind == .journalLost || last.map({ $0.sequence &+ 1 != event.sequence }) ?? true {
            if last != nil { tally.gaps += 1 }
            begin(known: nil)
        }
        last = (event.sequence, event.time)
        isOver = event.kind == .gatewayStopped
        let step = WitnessedPort.Step(earliest: event.time, latest: instant, wall: event.wall)
        switch event.kind {
        case .mediaStarted, .mediaStopped: return run(event.call, event.kind == .mediaStarted, at: step)
        case .mediaClosed: return close(event.call, at: step)
        default: break
        }
        guard Self.kinds.contains(event.kind), let port = port(of: event) else { return }
        switch event.kind {
        case .mediaReserved: reserve(port, event.call, at: step)
        case .mediaRefused: refuse(port)
        case .mediaOpened: open(port, event.call, at: step)
        case .mediaReleased: release(port, at: step)
        default: break
        }
    }

    /// From here on the journal tells all, or nothing is known. Samples that were not judged are of another run, or have events missing.
    private mutating func begin(known: Instant?) {
        for index in ports.indices { (ports[index].reservation, ports[index].knownSince) = (nil, known) }
        for port in active { ports[index(port)] = WitnessedPort(knownSince: known, sample: ports[index(port)].sample) }
        (active, open, reserved, unmet, waiting) = ([], [:], [:], [:], [])
    }

    private mutating func port(of event: borrowing JournalEvent) -> UInt16? {
        guard let port = event.details.number(.port).flatMap(UInt16.init(exactly:)) else { return nil }
        if range.contains(port) { return port }
        strayPort = port
        return nil
    }

    func index(_ port: UInt16) -> Int { Int(port - range.lowerBound) }

    private mutating func reserve(_ port: UInt16, _ call: CallUUID?, at step: WitnessedPort.Step) {
        guard let call else { return }
        ports[index(port)].reservation = (call, step)
        if ports[index(port)].knownSince == nil { ports[index(port)].knownSince = step.latest }
        reserved[call, default: 0] += 1
        if unmet[call] == nil, reserved[call] == 1 { unmet[call] = (step.earliest, nil) }
    }

    private mutating func refuse(_ port: UInt16) {
        ports[index(port)].isForeign = true
        foreign.insert(port)
    }

    private mutating func open(_ port: UInt16, _ call: CallUUID?, at step: WitnessedPort.Step) {
        guard let call else { return }
        ports[index(port)].open(call, at: step)
        active.insert(port)
        open[call] = port
    }

    /// Media starts or stops.
    private mutating func run(_ call: CallUUID?, _ isStart: Bool, at step: WitnessedPort.Step) {
        guard let call, let port = open[call] else { return }
        if isStart {
            ports[index(port)].start(call, at: step)
        } else {
            ports[index(port)].stop(call, at: step)
        }
    }

    private mutating func close(_ call: CallUUID?, at step: WitnessedPort.Step) {
        guard let call, let port = open.removeValue(forKey: call) else { return }
        ports[index(port)].close(call, at: step)
        // Nothing is held against it before the first sample.
        if !hasSamples {
            ports[index(port)].forget(before: Instant(nanoseconds: .max))
            active.remove(port)
        }
    }

    private mutating func release(_ port: UInt16, at step: WitnessedPort.Step) {
        let call = ports[index(port)].reservation?.call
        ports[index(port)].reservation = nil
        if ports[index(port)].knownSince == nil { ports[index(port)].knownSince = step.latest }
        guard let call, let count = reserved[call] else { return }
        reserved[call] = count > 1 ? count - 1 : nil
        guard count == 1 else { return }
        if hasSamples { unmet[call]?.until = step.latest } else { unmet[call] = nil }
    }
}

// The judgement.
extension KernelWitness {
    private mutating func judge(_ sample: KernelSample) -> [KernelDisagreement] {
        tally.samples += 1
        for socket in sample.sockets where range.contains(socket.port) { see(socket, in: sample) }
        meetCalls(in: sample)
        return unexpectedSockets(in: sample) + missingSockets(in: sample) + unexpectedPackets(in: sample)
    }

    private mutating func see(_ socket: KernelSample.Socket, in sample: KernelSample) {
        let index = index(socket.port)
        // Of two sockets on two addresses of a port one counts.
        guard ports[index].sample != tally.samples else { return }
        if ports[index].sample == 0 || ports[index].sample != tally.samples - 1 || ports[index].inode != socket.inode {
            tally.sockets += 1
            if ports[index].knownSince == nil { tally.unjudgedSockets += 1 }
        }
        (ports[index].sample, ports[index].inode) = (tally.samples, socket.inode)
    }

    private func isSeen(_ port: UInt16) -> Bool { ports[index(port)].sample == tally.samples }

    private mutating func meetCalls(in sample: KernelSample) {
        for (call, life) in unmet where life.since <= sample.end {
            let isMet = life.until.map { $0 >= sample.begin } ?? true
            if isMet { tally.calls += 1 } else { tally.missedCalls += 1 }
            unmet[call] = nil
        }
    }

    private mutating func unexpectedSockets(in sample: KernelSample) -> [KernelDisagreement] {
        unexpected = unexpected.filter(isSeen)
        for port in foreign where !isSeen(port) {
            ports[index(port)].isForeign = false
            foreign.remove(port)
        }
        return sample.sockets.compactMap { socket in
            guard range.contains(socket.port), !isExplained(socket.port, in: sample.span) else { return nil }
            guard unexpected.insert(socket.port).inserted else { return nil }
            let (call, statement) = statement(on: socket.port, at: sample.end)
            return KernelDisagreement(
                call: call, port: socket.port, wall: sample.wall, journal: statement, kernel: .socket(socket.inode))
        }
    }

    /// Whether the port may have been open, or is not known of.
    func isExplained(_ port: UInt16, in span: ClosedRange<Instant>) -> Bool {
        let own = ports[index(port)]
        if own.isForeign || own.mayBeOpen(in: span) || !own.isKnown(in: span) { return true }
        guard let partner = partner(of: port), ports[index(partner)].mayBeOpen(in: span) else { return false }
        // A call that has this number by itself got it when the other had given it up.
        return own.reservation.map { $0.since.earliest > span.lowerBound } ?? true
    }

    /// The port for RTP whose RTCP this may be: the even one below it.
    private func partner(of port: UInt16) -> UInt16? { port % 2 == 1 && port > range.lowerBound ? port - 1 : nil }

    func statement(on port: UInt16, at end: Instant) -> (CallUUID?, KernelDisagreement.Statement) {
        for port in [port, partner(of: port)].compactMap(\.self) {
            let record = ports[index(port)]
            let reservation = record.reservation.flatMap { $0.since.earliest <= end ? $0 : nil }
            if let past = record.past, let closed = past.closed, closed.earliest <= end, reservation.map({ $0.call == past.call }) ?? true {
                return (past.call, .closed(closed.wall))
            }
            if let reservation { return (reservation.call, .reserved) }
        }
        return (nil, .unused)
    }

    /// A list of the kernel's may leave a socket out when others close meanwhile, but hardly the same one twice.
    private static let absencesToTell = 2

    private mutating func missingSockets(in sample: KernelSample) -> [KernelDisagreement] {
        var found: [KernelDisagreement] = []
        for port in active {
            let index = index(port)
            if isSeen(port) {
                ports[index].absences = 0
                tally.callsWithMedia += ports[index].see(in: sample)
            } else if let opening = ports[index].opening(throughout: sample) {
                ports[index].absences += 1
                guard ports[index].absences == Self.absencesToTell else { continue }
                found.append(
                    KernelDisagreement(
                        call: opening.call, port: port, wall: sample.wall, journal: .open(opening.opened.wall), kernel: .noSocket))
            } else {
                ports[index].absences = 0
            }
        }
        return found
    }
}
