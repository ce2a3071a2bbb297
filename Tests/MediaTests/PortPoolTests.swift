import Media
import Primitives
import Testing

@Suite struct PortPoolTests {
    private var random = SeededRandom(seed: 7)

    @Test(arguments: [
        (10_000, 10_009, 10), (10_001, 10_010, 8), (10_000, 10_000, 0), (10_001, 10_001, 0), (10_000, 10_001, 2), (65_534, 65_535, 2),
        (65_535, 65_535, 0), (0, 3, 4),
    ])
    func `holds the whole pairs of its range`(first: Int, last: Int, count: Int) {
        let range = UInt16(first)...UInt16(last)
        #expect(PortPool(range: range).counts.free == count && PortPool.size(of: range) == count)
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

    @Test mutating func `every number of the range is a leg where RTCP shares the port`() throws {
        var pool = PortPool(range: 20_000...20_039)
        let given = try (0..<40).map { _ in try pool.reserve(.one, using: &random, at: .zero) }
        #expect(Set(given.map(\.rtp)) == Set(20_000...20_039) && given.allSatisfy { $0.rtcp == nil })
        #expect(throws: MediaError.portsExhausted(retryAfter: nil)) { try pool.reserve(.one, using: &random, at: .zero) }
        #expect(throws: MediaError.portsExhausted(retryAfter: nil)) { try pool.reserve(.twoIfPossible, using: &random, at: .zero) }
    }

    @Test mutating func `single numbers come from broken pairs first, and two neighbours are a pair again`() throws {
        var pool = PortPool(range: 20_000...20_007, quarantine: .zero)
        let singles = try (0..<2).map { _ in try pool.reserve(.one, using: &random, at: .zero) }
        #expect(singles[0].rtp ^ 1 == singles[1].rtp, "one pair is broken, not two")
        for _ in 0..<3 { _ = try pool.reserve(.two, using: &random, at: .zero) }
        #expect(throws: MediaError.portsExhausted(retryAfter: nil)) { try pool.reserve(.two, using: &random, at: .zero) }
        for single in singles { try pool.release(single, at: .zero) }
        let pair = try pool.reserve(.two, using: &random, at: .zero)
        #expect(pair.rtp == singles[0].rtp & ~1)
    }

    @Test mutating func `the number for RTCP goes back when the far end shares the port, and is another leg's after its quarantine`() throws
    {
        var pool = PortPool(range: 20_000...20_001, quarantine: .seconds(1))
        let pair = try pool.reserve(.twoIfPossible, using: &random, at: .zero)
        #expect(pair.rtcp == 20_001)
        let kept = try pool.share(pair, at: .zero)
        #expect(kept == PortReservation(shared: 20_000))
        try pool.opened(kept)
        #expect(throws: MediaError.portsExhausted(retryAfter: .seconds(1))) { try pool.reserve(.one, using: &random, at: .zero) }
        let other = try pool.reserve(.twoIfPossible, using: &random, at: .zero + .seconds(1))
        #expect(other == PortReservation(shared: 20_001))
        #expect(pool.counts.open == 1 && pool.counts.reserved == 1)
        #expect(throws: MediaError.stillOpen(pair)) { try pool.release(pair, at: .zero) }
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

    @Test mutating func `a number of another program is left alone for a minute, or for its quarantine where that is longer`() throws {
        for (quarantine, rest) in [(Duration.seconds(1), Duration.seconds(60)), (.seconds(90), .seconds(90))] {
            var pool = PortPool(range: 20_000...20_003, quarantine: quarantine)
            let taken = try pool.reserve(using: &random, at: .zero)
            try pool.releaseTaken(taken, at: .zero)
            #expect(pool.state(of: taken) == .taken && pool.counts.taken == 2 && pool.counts.quarantined == 0)
            #expect(throws: MediaError.notReserved(taken)) { try pool.releaseTaken(taken, at: .zero) }
            let other = try pool.reserve(using: &random, at: .zero)
            #expect(other != taken)
            #expect(throws: MediaError.portsExhausted(retryAfter: nil)) {
                try pool.reserve(using: &random, at: .zero + (rest - .nanoseconds(1)))
            }
            let again = try pool.reserve(using: &random, at: .zero + rest)
            #expect(again == taken)
            #expect(pool.counts.taken == 0)
        }
    }

    @Test mutating func `refuses what is out of order and stays as it was`() throws {
        var pool = PortPool(range: 20_000...20_003)
        let (known, foreign) = (try pool.reserve(using: &random, at: .zero), PortReservation(rtp: 30_000))
        #expect(throws: MediaError.notReserved(foreign)) { try pool.opened(foreign) }
        #expect(throws: MediaError.notReserved(foreign)) { try pool.release(foreign, at: .zero) }
        #expect(throws: MediaError.notReserved(foreign)) { try pool.share(foreign, at: .zero) }
        #expect(throws: MediaError.notOpen(known)) { try pool.closed(known) }
        try pool.opened(known)
        #expect(throws: MediaError.notReserved(known)) { try pool.opened(known) }
        #expect(throws: MediaError.stillOpen(known)) { try pool.release(known, at: .zero) }
        #expect(throws: MediaError.stillOpen(known)) { try pool.takeBack(known) }
        try pool.closed(known)
        try pool.release(known, at: .zero)
        #expect(throws: MediaError.notReserved(known)) { try pool.release(known, at: .zero) }
        #expect(pool.counts.quarantined == 2 && pool.counts.free == 2 && pool.counts.open == 0 && pool.counts.reserved == 0)
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

/// What a pool of forty numbers must do, written down without its rings and lists.
private struct Model {
    /// What legs have, and how far each has come.
    var held: [PortReservation: PortPool.State] = [:]
    var resting: [UInt16: Instant] = [:]
    var now = Instant.zero
    var reservations = 0

    mutating func step(_ pool: inout PortPool, using chance: inout SeededRandom) throws {
        letOut()
        switch Int.random(in: 0..<7, using: &chance) {
        case 0...1: try reserve(&pool, &chance)
        case 2: try move(.reserved, to: .open, &chance) { try pool.opened($0) }
        case 3: try move(.open, to: .reserved, &chance) { try pool.closed($0) }
        case 4:
            guard let gone = try move(.reserved, to: nil, &chance, { [now] in try pool.release($0, at: now) }) else { break }
            for number in Self.numbers(gone) { resting[number] = now + .milliseconds(50) }
        case 5:
            guard let pair = pick(.reserved, &chance), pair.rtcp != nil else { break }
            let kept = try pool.share(pair, at: now)
            (held[pair], held[kept], resting[pair.rtp + 1]) = (nil, .reserved, now + .milliseconds(50))
        default: try move(.reserved, to: nil, &chance) { try pool.takeBack($0) }
        }
        pool.advance(to: now)
    }

    static func numbers(_ reservation: PortReservation) -> [UInt16] { [reservation.rtp] + (reservation.rtcp.map { [$0] } ?? []) }

    var free: Set<UInt16> {
        Set(20_000...20_039 as ClosedRange<UInt16>).subtracting(held.keys.flatMap(Self.numbers)).subtracting(resting.keys)
    }

    private mutating func reserve(_ pool: inout PortPool, _ chance: inout SeededRandom) throws {
        let demand = [PortPool.Demand.one, .two, .twoIfPossible].randomElement(using: &chance)!, free = free
        let hasPair = free.contains { $0.isMultiple(of: 2) && free.contains($0 + 1) }
        do throws(MediaError) {
            let given = try pool.reserve(demand, using: &chance, at: now)
            #expect(Set(Self.numbers(given)).isSubset(of: free), "\(given) was another's")
            #expect((given.rtcp != nil) == (demand != .one && hasPair))
            held[given] = .reserved
            reservations += 1
        } catch {
            #expect(demand == .two ? !hasPair : free.isEmpty)
            #expect(error == .portsExhausted(retryAfter: resting.values.min().map { $0 - now }))
        }
    }

    private func pick(_ state: PortPool.State, _ chance: inout SeededRandom) -> PortReservation? {
        held.filter { $0.value == state }.keys.sorted { $0.rtp < $1.rtp }.randomElement(using: &chance)
    }

    @discardableResult
    private mutating func move(
        _ from: PortPool.State, to next: PortPool.State?, _ chance: inout SeededRandom, _ act: (PortReservation) throws -> Void
    ) throws -> PortReservation? {
        guard let reservation = pick(from, &chance) else { return nil }
        try act(reservation)
        held[reservation] = next
        return reservation
    }

    private mutating func letOut() {
        for (number, time) in resting where time <= now { resting[number] = nil }
    }

    func agrees(with pool: PortPool) -> Bool {
        held.allSatisfy { pool.state(of: $0) == $1 } && free.allSatisfy { pool.state(of: PortReservation(shared: $0)) == .free }
            && pool.counts.free == free.count && pool.counts.quarantined == resting.count && pool.deadline == resting.values.min()
    }
}
