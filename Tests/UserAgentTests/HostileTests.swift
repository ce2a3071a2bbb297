import Primitives
import SIP
import Testing
import UserAgent

/// Two telephones that talk, and somebody who sends changed copies of what they say.
@Suite struct HostileTests {
    @Test(arguments: [11, 12, 13] as [UInt64])
    func `changed copies of real messages neither trap nor leave anything behind`(seed: UInt64) {
        let pair = Pair(seed: seed)
        var chance = SeededRandom(seed: seed)
        var overheard: [(bytes: [UInt8], flow: Flow)] = []
        pair.link.delay = 5...50
        pair.link.drops = { packet in
            if overheard.count < 400 { overheard.append((packet.bytes, packet.flow)) }
            return false
        }
        for phone in [pair.alice, pair.bob] {
            phone.onIncoming = { session, now in
                session.respond(status: 180, at: now)
                pair.link.plan(after: .seconds(1)) { session.respond(status: 200, body: Array("v=0".utf8), at: $0) }
                pair.link.plan(after: .seconds(120)) { session.bye(at: $0) }
            }
        }
        for round in 0..<60 {
            let call = round % 2 == 0 ? pair.alice.call(pair.bob) : pair.bob.call(pair.alice)
            pair.link.plan(after: .seconds(2)) { call.reinvite(body: Array("v=0 again".utf8), at: $0) }
            pair.link.plan(after: .seconds(Int(4 + round % 5))) { call.bye(at: $0) }
            pair.link.plan(after: .seconds(120)) { call.bye(at: $0) }
            for _ in 0..<60 where !overheard.isEmpty {
                let original = overheard[Int(chance.next() % UInt64(overheard.count))]
                let agent = original.flow.local == pair.alice.address ? pair.alice.agent : pair.bob.agent
                agent.receive(changed(original.bytes, &chance), over: original.flow, at: pair.link.now)
            }
            pair.link.run(seconds: 0.7)
        }
        pair.finish()
        #expect(pair.alice.sessions.count >= 30 && pair.alice.events.contains("accepted"))
    }

    /// One to three changes: a byte, a cut, a doubled piece, two exchanged lines, another number.
    private func changed(_ bytes: [UInt8], _ chance: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0...(chance.next() % 3) where bytes.count > 4 {
            let at = Int(chance.next() % UInt64(bytes.count))
            let end = min(bytes.count, at + Int(chance.next() % 20))
            switch chance.next() % 5 {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: chance.next())
            case 1: bytes.removeSubrange(at..<end)
            case 2: bytes.insert(contentsOf: Array(bytes[at..<end]), at: at)
            case 3: exchangeLines(&bytes, &chance)
            default: renumber(&bytes, &chance)
            }
        }
        return bytes
    }

    private func exchangeLines(_ bytes: inout [UInt8], _ chance: inout SeededRandom) {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        lines.swapAt(Int(chance.next() % UInt64(lines.count)), Int(chance.next() % UInt64(lines.count)))
        bytes = Array(lines.joined(separator: [0x0A]))
    }

    private func renumber(_ bytes: inout [UInt8], _ chance: inout SeededRandom) {
        let digits = bytes.indices.filter { (0x30...0x39).contains(bytes[$0]) }
        guard !digits.isEmpty else { return }
        bytes[digits[Int(chance.next() % UInt64(digits.count))]] = 0x30 + UInt8(chance.next() % 10)
    }
}
