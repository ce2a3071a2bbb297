import Primitives

/// The port numbers that media may use: one for a leg whose RTCP comes on the port of its RTP, else an even one and the odd one above it.
///
/// Numbers only; nothing is bound here. Every operation takes constant time and the memory is fixed by the range. A number that was
/// released stays in quarantine, so that late packets of the old call cannot reach a new one. Single numbers are taken from broken pairs
/// first.
public struct PortPool: Sendable {
    /// The use of a port number.
    public enum State: UInt8, Hashable, Sendable {
        /// To be drawn, drawn, bound, and not to be drawn for a while.
        case free, reserved, open, quarantined
        /// Another program had it when it was to be bound: it is not drawn for `takenRest`, nor in its quarantine.
        case taken
    }

    /// Numbers by state.
    public struct Counts: Hashable, Sendable {
        /// They add up to all numbers of the range.
        public var free = 0, reserved = 0, open = 0, quarantined = 0, taken = 0

        /// No numbers.
        public init() {}
    }

    /// The number of ports that a leg is to have.
    public enum Demand: Hashable, Sendable {
        /// RTP and RTCP share one: the far end asked for that.
        case one
        /// One for RTP and one for RTCP.
        case two
        /// Two, for it is not known yet whether the far end can share one; one where no pair is left.
        case twoIfPossible
    }

    /// The time that a released number stays out of use.
    public let quarantine: Duration
    /// Numbers by state, now.
    public private(set) var counts = Counts()
    private let firstPort: Int
    // Numbers are counted from `firstPort` here, which is even.
    private var states: [State]
    /// Pairs whose numbers are both free, by the even one.
    private var pairs: Bag
    /// Free numbers whose neighbour is not free.
    private var singles: Bag
    /// Numbers in quarantine, oldest first, in a ring: each is in it at most once.
    private var waiting: [(number: UInt16, until: Instant)]
    private var oldest = 0
    /// Numbers of other programs, those that rest longest first. They are few, and no room is kept for them.
    private var taken: [(number: Int, until: Instant)] = []

    /// The time that a number of another program is left alone.
    public static let takenRest: Duration = .seconds(60)

    /// - Parameters:
    ///   - range: the numbers to use; odd edges are left out. An empty range makes a pool that is always exhausted.
    ///   - quarantine: how long a released number rests.
    public init(range: ClosedRange<UInt16>, quarantine: Duration = .seconds(1)) {
        self.quarantine = quarantine
        firstPort = Int(range.lowerBound) + Int(range.lowerBound) % 2
        let count = max(0, (Int(range.upperBound) - firstPort + 1) / 2 * 2)
        states = Array(repeating: .free, count: count)
        (pairs, singles) = (Bag(count: count), Bag(count: count))
        for number in stride(from: 0, to: count, by: 2) { pairs.insert(number) }
        waiting = Array(repeating: (0, .zero), count: count)
        counts.free = count
    }

    /// The number of ports in a pool of that range.
    public static func size(of range: ClosedRange<UInt16>) -> Int {
        max(0, (Int(range.upperBound) + 1) / 2 * 2 - (Int(range.lowerBound) + 1) / 2 * 2)
    }

    /// Draws by chance, so that a stranger cannot guess the next number.
    /// Throws `.portsExhausted` with the time until the next number leaves quarantine, if one is there.
    public mutating func reserve(_ demand: Demand = .two, using random: inout some RandomNumberGenerator, at now: Instant)
        throws(MediaError) -> PortReservation
    {
        advance(to: now)
        if demand != .one, let pair = pairs.draw(using: &random) {
            move(pair, to: .reserved)
            move(pair + 1, to: .reserved)
            return PortReservation(rtp: port(pair))
        }
        guard demand != .two, let number = singles.draw(using: &random) ?? half(using: &random) else {
            throw .portsExhausted(retryAfter: deadline.map { $0 - now })
        }
        move(number, to: .reserved)
        return PortReservation(shared: port(number))
    }

    /// Its sockets were bound.
    public mutating func opened(_ reservation: PortReservation) throws(MediaError) {
        guard let numbers = numbers(of: reservation), numbers.allSatisfy({ states[$0] == .reserved }) else {
            throw .notReserved(reservation)
        }
        for number in numbers { move(number, to: .open) }
    }

    /// Its sockets were closed; the numbers still belong to their leg.
    public mutating func closed(_ reservation: PortReservation) throws(MediaError) {
        guard let numbers = numbers(of: reservation), numbers.allSatisfy({ states[$0] == .open }) else { throw .notOpen(reservation) }
        for number in numbers { move(number, to: .reserved) }
    }

    /// The leg gives its numbers up: they rest in quarantine until `advance` lets them out.
    public mutating func release(_ reservation: PortReservation, at now: Instant) throws(MediaError) {
        for number in try held(reservation) { rest(number, from: now) }
    }

    /// The leg gives up numbers that another program has.
    public mutating func releaseTaken(_ reservation: PortReservation, at now: Instant) throws(MediaError) {
        for number in try held(reservation) {
            move(number, to: .taken)
            taken.append((number, now + max(Self.takenRest, quarantine)))
        }
    }

    /// RTCP comes on the port of RTP: the other number goes to quarantine. Returns what the leg keeps.
    public mutating func share(_ reservation: PortReservation, at now: Instant) throws(MediaError) -> PortReservation {
        let numbers = try held(reservation)
        if numbers.count > 1 { rest(numbers.upperBound - 1, from: now) }
        return PortReservation(shared: reservation.rtp)
    }

    /// Gives back numbers that no peer was ever told: they are free at once.
    public mutating func takeBack(_ reservation: PortReservation) throws(MediaError) {
        for number in try held(reservation) { free(number) }
    }

    /// Frees the numbers whose quarantine is over. Constant time for each that leaves.
    public mutating func advance(to now: Instant) {
        while counts.quarantined > 0, waiting[oldest].until <= now {
            let number = waiting[oldest].number
            oldest = (oldest + 1) % waiting.count
            free(Int(number))
        }
        while let first = taken.first, first.until <= now { free(taken.removeFirst().number) }
    }

    /// When the next number leaves quarantine; nil while none is there.
    public var deadline: Instant? { counts.quarantined > 0 ? waiting[oldest].until : nil }

    /// Nil for numbers outside of the range, and for two that are not in one state.
    public func state(of reservation: PortReservation) -> State? {
        guard let numbers = numbers(of: reservation), let state = numbers.first.map({ states[$0] }) else { return nil }
        return numbers.allSatisfy { states[$0] == state } ? state : nil
    }

    private func port(_ number: Int) -> UInt16 { UInt16(firstPort + number) }

    /// Nil where one is outside of the range.
    private func numbers(of reservation: PortReservation) -> Range<Int>? {
        let first = Int(reservation.rtp) - firstPort
        let numbers = first..<(first + (reservation.rtcp == nil ? 1 : 2))
        return numbers.lowerBound >= 0 && numbers.upperBound <= states.count ? numbers : nil
    }

    private func held(_ reservation: PortReservation) throws(MediaError) -> Range<Int> {
        guard let numbers = numbers(of: reservation) else { throw .notReserved(reservation) }
        for number in numbers {
            switch states[number] {
            case .reserved: break
            case .open: throw .stillOpen(reservation)
            case .free, .quarantined, .taken: throw .notReserved(reservation)
            }
        }
        return numbers
    }

    /// The even number of a pair that is free; nil where none is.
    private mutating func half(using random: inout some RandomNumberGenerator) -> Int? {
        guard let pair = pairs.draw(using: &random) else { return nil }
        singles.insert(pair + 1)
        return pair
    }

    private mutating func rest(_ number: Int, from now: Instant) {
        let slot = (oldest + counts.quarantined) % waiting.count
        move(number, to: .quarantined)
        waiting[slot] = (UInt16(number), now + quarantine)
    }

    private mutating func free(_ number: Int) {
        move(number, to: .free)
        guard states[number ^ 1] == .free else { return singles.insert(number) }
        singles.remove(number ^ 1)
        pairs.insert(number & ~1)
    }

    private mutating func move(_ number: Int, to state: State) {
        counts[states[number]] -= 1
        counts[state] += 1
        states[number] = state
    }
}

/// Numbers in any order: one is drawn by chance and the last takes its place.
private struct Bag: Sendable {
    private var numbers: [UInt16] = []
    /// The place of each of them in `numbers`.
    private var places: [UInt16]

    init(count: Int) { places = Array(repeating: 0, count: count) }

    mutating func insert(_ number: Int) {
        places[number] = UInt16(numbers.count)
        numbers.append(UInt16(number))
    }

    mutating func remove(_ number: Int) {
        let last = numbers.removeLast()
        guard last != number else { return }
        numbers[Int(places[number])] = last
        places[Int(last)] = places[number]
    }

    mutating func draw(using random: inout some RandomNumberGenerator) -> Int? {
        guard let drawn = numbers.randomElement(using: &random) else { return nil }
        remove(Int(drawn))
        return Int(drawn)
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
            case .taken: taken
            }
        }
        set {
            switch state {
            case .free: free = newValue
            case .reserved: reserved = newValue
            case .open: open = newValue
            case .quarantined: quarantined = newValue
            case .taken: taken = newValue
            }
        }
    }
}
