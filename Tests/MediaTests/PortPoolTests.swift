import Media
import Primitives
import Testing

@Suite struct PortPoolTests {
    private var random = SeededRandom(seed: 7)

    @Test(arguments: [
        (10_000, 10_009, 5), (10_001, 10_010, 4), (10_000, 10_000, 0), (10_001, 10_001, 0), (10_000, 10_001, 1), (65_534, 65_535, 1), (65_535, 65_535, 0), (0, 3, 2),
    ])
    func `holds the whole pairs of its range`(first: Int, last: Int, pairs: Int) {
        #expect(PortPool(range: UInt16(first)...UInt16(last)).counts.free == pairs)
    }

    @Test mutating func `gives every pair once and then says when the next comes`() throws {
        var pool = PortPool(range: 20_000...20_007, quarantine: .seconds(2))
        var given: Set<UInt16> = []
        for _ in 0..<4 { given.insert(try pool.reserve(using: &random, at: .zero).rtp) }
        #expect(given == [20_000, 20_002, 20_004, 20_006])
        #expect(throws: MediaError.portsExhausted(retryAfter: nil)) { try pool.reserve(using: &random, at: .zero) }

        try pool.release(PortReservation(rtp: 20_002), at: .zero + .seconds(1))
        #expect(throws: MediaError.portsExhausted(retryAfter: .seconds(1))) { try pool.reserve(using: &random, at: .zero + .seconds(2)) }
        let next = try pool.reserve(using: &random, at: .zero + .seconds(3))
        #expect(next.rtp == 20_002)
    }

    @Test mutating func `a number is drawn by chance`() throws {
        var pool = PortPool(range: 20_000...29_999)
        let drawn = try (0..<20).map { _ in try pool.reserve(using: &random, at: .zero).rtp }
        #expect(drawn != drawn.sorted())
    }

    @Test mutating func `a number that no one was told is free at once`() throws {
        var pool = PortPool(range: 20_000...20_001)
        let reservation = try pool.reserve(using: &random, at: .zero)
        try pool.takeBack(reservation)
        let again = try pool.reserve(using: &random, at: .zero)
        #expect(again == reservation)
    }

    @Test mutating func `refuses what is out of order and stays as it was`() throws {
        var pool = PortPool(range: 20_000...20_003)
        let (known, foreign) = (try pool.reserve(using: &random, at: .zero), PortReservation(rtp: 30_000))
        #expect(throws: MediaError.notReserved(foreign)) { try pool.opened(foreign) }
        #expect(throws: MediaError.notReserved(foreign)) { try pool.release(foreign, at: .zero) }
        #expect(throws: MediaError.notOpen(known)) { try pool.closed(known) }
        try pool.opened(known)
        #expect(throws: MediaError.notReserved(known)) { try pool.opened(known) }
        #expect(throws: MediaError.stillOpen(known)) { try pool.release(known, at: .zero) }
        #expect(throws: MediaError.stillOpen(known)) { try pool.takeBack(known) }
        try pool.closed(known)
        try pool.release(known, at: .zero)
        #expect(throws: MediaError.notReserved(known)) { try pool.release(known, at: .zero) }
        #expect(pool.counts.quarantined == 1 && pool.counts.free == 1 && pool.counts.open == 0 && pool.counts.reserved == 0)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `behaves like a dictionary of states under any order of calls`(seed: UInt64) throws {
        var chance = SeededRandom(seed: seed)
        var pool = PortPool(range: 20_000...20_039, quarantine: .milliseconds(50))
        var model = Model()
        for _ in 0..<4_000 {
            model.now += .milliseconds(Int.random(in: 0...8, using: &chance))
            try model.step(&pool, using: &chance)
            try #require(model.agrees(with: pool))
        }
        #expect(model.reservations > 500)
    }
}

/// What a pool of twenty pairs must do, written down without its rings and lists.
private struct Model {
    var states: [UInt16: PortPool.State] = [:]
    var until: [UInt16: Instant] = [:]
    var now = Instant.zero
    var reservations = 0

    mutating func step(_ pool: inout PortPool, using chance: inout SeededRandom) throws {
        letOut()
        switch Int.random(in: 0..<5, using: &chance) {
        case 0: try reserve(&pool, &chance)
        case 1: try move(.reserved, to: .open, &chance) { try pool.opened($0) }
        case 2: try move(.open, to: .reserved, &chance) { try pool.closed($0) }
        case 3: if let port = try move(.reserved, to: .quarantined, &chance, { [now] in try pool.release($0, at: now) }) { until[port] = now + .milliseconds(50) }
        default: try move(.reserved, to: nil, &chance) { try pool.takeBack($0) }
        }
        pool.advance(to: now)
    }

    private mutating func reserve(_ pool: inout PortPool, _ chance: inout SeededRandom) throws {
        guard states.count < 20 else {
            do throws(MediaError) {
                let extra = try pool.reserve(using: &chance, at: now)
                Issue.record("gave \(extra) with none free")
            } catch {
                #expect(error == .portsExhausted(retryAfter: until.values.min().map { $0 - now }))
            }
            return
        }
        let port = try pool.reserve(using: &chance, at: now).rtp
        #expect(states[port] == nil, "\(port) was given twice")
        states[port] = .reserved
        reservations += 1
    }

    @discardableResult
    private mutating func move(
        _ from: PortPool.State, to next: PortPool.State?, _ chance: inout SeededRandom, _ act: (PortReservation) throws -> Void
    ) throws -> UInt16? {
        guard let port = states.filter({ $0.value == from }).keys.sorted().randomElement(using: &chance) else { return nil }
        try act(PortReservation(rtp: port))
        states[port] = next
        return port
    }

    private mutating func letOut() {
        for (port, time) in until where time <= now { (until[port], states[port]) = (nil, nil) }
    }

    func agrees(with pool: PortPool) -> Bool {
        stride(from: 20_000 as UInt16, to: 20_040, by: 2).allSatisfy { pool.state(of: PortReservation(rtp: $0)) == states[$0] ?? .free }
            && pool.counts.free == 20 - states.count && pool.counts.open == states.values.count { $0 == .open }
            && pool.deadline == until.values.min()
    }
}
