import Primitives
import SIP
import Testing
import UserAgent

/// Thousands of calls between two telephones over a bad link, with everything that callers and callees do to each other.
@Suite struct StormTests {
    final class Storm {
        /// What one session has told.
        struct Book {
            var endings = 0
            var eventsAfterEnd: [String] = []
            var connections = 0
            /// It refused the call itself, and so hears of no end.
            var hasRefused = false
        }

        let link: Link
        let phones: [Phone]
        private(set) var books: [ObjectIdentifier: Book] = [:]
        private(set) var seen: [String: Int] = [:]
        private var chance: SeededRandom

        init(seed: UInt64) {
            link = Link(seed: seed)
            (link.loss, link.doubling, link.delay) = (12, 6, 5...80)
            chance = SeededRandom(seed: seed &+ 1)
            phones = [Phone(link, "192.0.2.1:5060"), Phone(link, "192.0.2.2:5060")]
            for phone in phones {
                phone.onIncoming = { [unowned self] session, now in receive(session, at: now) }
                phone.onEvent = { [unowned self] session, event, now in note(session, event, at: now) }
            }
        }

        private func dice(_ sides: UInt64) -> UInt64 { chance.next() % sides }
        private func later(_ milliseconds: UInt64, _ action: @escaping (Instant) -> Void) {
            link.plan(after: .milliseconds(Int64(dice(milliseconds))), action)
        }

        func start(calls: Int, over seconds: UInt64) {
            for _ in 0..<calls { later(seconds * 1_000) { [unowned self] now in call(at: now) } }
        }

        private func call(at now: Instant) {
            let caller = dice(2)
            let session = phones[Int(caller)].call(phones[Int(1 - caller)]) { if dice(10) == 0 { $0.body = [] } }
            if dice(4) == 0 { later(4_000) { now in session.cancel(at: now) } }
        }

        private func receive(_ session: InviteSession, at now: Instant) {
            books[ObjectIdentifier(session)] = Book()
            session.respond(status: 100, at: now)
            switch dice(6) {
            case 0: refuse(session, 486, at: now)
            case 1: later(3_000) { [unowned self] now in refuse(session, 480, at: now) }
            default:
                session.respond(status: 180, at: now)
                later(3_000) { now in session.respond(status: 200, body: Array("v=0".utf8), at: now) }
                if dice(20) == 0 { later(4_000) { [unowned self] now in end(session, at: now) } }
            }
            // Whatever else goes wrong: nobody talks for ever.
            link.plan(after: .seconds(60)) { [unowned self] now in end(session, at: now) }
        }

        private func refuse(_ session: InviteSession, _ status: Int, at now: Instant) {
            if session.respond(status: status, at: now) { books[ObjectIdentifier(session)]?.hasRefused = true }
        }

        private func end(_ session: InviteSession, at now: Instant) {
            if session.state == .inviting { books[ObjectIdentifier(session)]?.hasRefused = true }
            session.bye(at: now)
        }

        private func note(_ session: InviteSession, _ event: SessionEvent, at now: Instant) {
            if case .traced(_, let message, let retransmission) = event {
                seen[retransmission ? "again" : message.summary, default: 0] += 1
                return
            }
            let name = event.summary
            seen[name, default: 0] += 1
            var book = books[ObjectIdentifier(session)] ?? Book()
            if book.endings > 0 { book.eventsAfterEnd.append(name) }
            act(session, event, &book, at: now)
            books[ObjectIdentifier(session)] = book
        }

        private func act(_ session: InviteSession, _ event: SessionEvent, _ book: inout Book, at now: Instant) {
            switch event {
            case .accepted:
                book.connections += 1
                if dice(10) == 0 { session.bye(at: now) } else { session.acknowledge(body: Array("v=0".utf8), at: now) }
                talk(session)
            case .acknowledged where book.connections == 0:
                book.connections += 1
                talk(session)
            case .offered(let offer):
                if dice(3) == 0 {
                    later(2_000) { now in session.answer(offer, status: 200, body: Array("v=0".utf8), at: now) }
                } else {
                    session.answer(offer, status: dice(5) == 0 ? 488 : 200, body: Array("v=0".utf8), at: now)
                }
            case .acknowledgeTimeout, .refused(481), .refused(408): session.bye(at: now)
            case .cancelled, .rejected, .ended, .byeCompleted: book.endings += 1
            default: break
            }
        }

        private func talk(_ session: InviteSession) {
            for _ in 0..<dice(4) {
                switch dice(3) {
                case 0: later(6_000) { now in session.reinvite(body: Array("v=0".utf8), at: now) }
                case 1: later(6_000) { now in session.update(body: Array("v=0".utf8), at: now) }
                default: later(6_000) { now in session.info(contentType: "application/dtmf-relay", body: Array("Signal=1".utf8), at: now) }
                }
            }
            later(8_000) { now in session.bye(at: now) }
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `after a storm of calls everybody has heard of one end and nothing is left`(seed: UInt64) {
        let storm = Storm(seed: seed)
        storm.start(calls: 1_000, over: 60)
        storm.link.run()
        print("storm seed \(seed): \(storm.seen.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))")
        for phone in storm.phones { #expect(phone.agent.counts == nothingLeft, "seed \(seed)") }
        let sessions = storm.phones.flatMap(\.sessions)
        #expect(sessions.allSatisfy { $0.state == .ended }, "seed \(seed)")
        for session in sessions {
            let book = storm.books[ObjectIdentifier(session)] ?? .init()
            #expect(book.endings == (book.hasRefused ? 0 : 1), "seed \(seed)")
            #expect(book.eventsAfterEnd == [], "seed \(seed)")
        }
        for kind in [
            "again", "accepted", "acknowledged", "cancelled", "rejected 486", "491 INVITE", "reanswered", "ended", "byeCompleted 200",
            "info",
        ] {
            #expect((storm.seen[kind] ?? 0) > 0, "\(kind), seed \(seed)")
        }
    }
}
