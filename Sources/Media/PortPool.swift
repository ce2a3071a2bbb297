import Primitives

/// The port numbers that media may use, in pairs: RTP on the even one, RTCP on the odd one above it.
///
/// Numbers only; nothing is bound here. Every operation takes constant time and the memory is fixed by the range. A number that was
/// released stays in quarantine, so that late packets of the old call cannot reach a new one.
public struct PortPool: Sendable {
    public enum State: UInt8, Hashable, Sendable { case free, reserved, open, quarantined }

    /// Pairs by state.
    public struct Counts: Hashable, Sendable {
        public var free = 0, reserved = 0, open = 0, quarantined = 0

        public init() {}
    }

    public let quarantine: Duration
    public private(set) var counts = Counts()
    private let firstPort: Int
    private var states: [State]
    /// Free pairs in any order: one is drawn by chance and the last takes its place.
    private var free: [UInt16]
    /// Pairs in quarantine, oldest first, in a ring: each pair is in it at most once.
    private var waiting: [(pair: UInt16, until: Instant)]
    private var oldest = 0

    /// - Parameters:
    ///   - range: the numbers to use; odd edges are left out. An empty range makes a pool that is always exhausted.
    ///   - quarantine: how long a released number rests.
    public init(range: ClosedRange<UInt16>, quarantine: Duration = .seconds(1)) {
        self.quarantine = quarantine
        firstPort = Int(range.lowerBound) + Int(range.lowerBound) % 2
        let pairs = max(0, (Int(range.upperBound) - firstPort + 1) / 2)
        states = Array(repeating: .free, count: pairs)
        free = (0..<pairs).map(UInt16.init)
        waiting = Array(repeating: (0, .zero), count: pairs)
        counts.free = pairs
    }

    /// Draws a free pair by chance, so that a stranger cannot guess the next one.
    /// Throws `.portsExhausted` with the time until the next number leaves quarantine, if one is there.
    public mutating func reserve(using random: inout some RandomNumberGenerator, at now: Instant) throws(MediaError) -> PortReservation {
        advance(to: now)
        guard !free.isEmpty else { throw .portsExhausted(retryAfter: deadline.map { $0 - now }) }
        let drawn = Int.random(in: free.indices, using: &random)
        free.swapAt(drawn, free.count - 1)
        let pair = free.removeLast()
        move(Int(pair), to: .reserved)
        return PortReservation(rtp: UInt16(firstPort + 2 * Int(pair)))
    }

    /// Its sockets were bound.
    public mutating func opened(_ reservation: PortReservation) throws(MediaError) {
        guard let pair = index(of: reservation), states[pair] == .reserved else { throw .notReserved(reservation) }
        move(pair, to: .open)
    }

    /// Its sockets were closed; the number still belongs to its leg.
    public mutating func closed(_ reservation: PortReservation) throws(MediaError) {
        guard let pair = index(of: reservation), states[pair] == .open else { throw .notOpen(reservation) }
        move(pair, to: .reserved)
    }

    /// The leg gives its number up: it rests in quarantine until `advance` lets it out.
    public mutating func release(_ reservation: PortReservation, at now: Instant) throws(MediaError) {
        let pair = try held(reservation)
        let slot = (oldest + counts.quarantined) % waiting.count
        move(pair, to: .quarantined)
        waiting[slot] = (UInt16(pair), now + quarantine)
    }

    /// Gives back a number that no peer was ever told: it is free at once.
    public mutating func takeBack(_ reservation: PortReservation) throws(MediaError) {
        let pair = try held(reservation)
        move(pair, to: .free)
        free.append(UInt16(pair))
    }

    /// Frees the numbers whose quarantine is over. Constant time for each that leaves.
    public mutating func advance(to now: Instant) {
        while counts.quarantined > 0, waiting[oldest].until <= now {
            let pair = waiting[oldest].pair
            oldest = (oldest + 1) % waiting.count
            move(Int(pair), to: .free)
            free.append(pair)
        }
    }

    /// When the next number leaves quarantine; nil while none is there.
    public var deadline: Instant? { counts.quarantined > 0 ? waiting[oldest].until : nil }

    /// Nil for a number outside the range.
    public func state(of reservation: PortReservation) -> State? { index(of: reservation).map { states[$0] } }

    private func index(of reservation: PortReservation) -> Int? {
        let pair = (Int(reservation.rtp) - firstPort) / 2
        return Int(reservation.rtp) >= firstPort && pair < states.count ? pair : nil
    }

    private func held(_ reservation: PortReservation) throws(MediaError) -> Int {
        guard let pair = index(of: reservation) else { throw .notReserved(reservation) }
        switch states[pair] {
        case .reserved: return pair
        case .open: throw .stillOpen(reservation)
        case .free, .quarantined: throw .notReserved(reservation)
        }
    }

    private mutating func move(_ pair: Int, to state: State) {
        counts[states[pair]] -= 1
        counts[state] += 1
        states[pair] = state
    }
}

extension PortPool.Counts {
    subscript(state: PortPool.State) -> Int {
        get {
            switch state {
            case .free: free
            case .reserved: reserved
            case .open: open
            case .quarantined: quarantined
            }
        }
        set {
            switch state {
            case .free: free = newValue
            case .reserved: reserved = newValue
            case .open: open = newValue
            case .quarantined: quarantined = newValue
            }
        }
    }
}
