import CallKit
import Foundation
import Gateway
import Testing

@testable import Store

@Suite struct StoreQueueTests {
    /// Within an expectation a value cannot be changed.
    private final class Box {
        private var queue = StoreQueue()
        var count: Int { queue.count }
        var lost: Int { queue.lost }
        var unread: Set<StoreTopic> { queue.unread }
        func begin(with kept: KeptState) { queue.begin(with: kept) }
        func add(_ change: LineChange) { queue.add(change) }
        func next(_ limit: Int) -> [StoreChange] { queue.next(limit) }
        func written() { queue.written() }
        func giveBack() { queue.giveBack() }
        func takes(_ update: KeptUpdate) -> Bool { queue.takes(update) }
        func nextReading(_ limit: Int) -> [StoreTopic]? { queue.nextReading(limit) }
        func endReading() { queue.endReading() }
    }

    private func registration(_ name: String, cseq: UInt32 = 1) -> SavedRegistration {
        SavedRegistration(
            user: "1001", contact: "<sip:\(name)@192.0.2.1>", path: "", transport: "udp", local: "127.0.0.1:5060", remote: "192.0.2.1:5060",
            userAgent: nil, callID: name, cseq: cseq, refreshed: Date(timeIntervalSince1970: 1_790_000_000),
            expiry: Date(timeIntervalSince1970: 1_790_003_600))
    }

    private func doNotDisturb(_ isOn: Bool, _ line: String = "1001") -> LineChange {
        .doNotDisturb(line: line, DoNotDisturbState(isOn: isOn))
    }

    @Test func `a later change of a row takes the place of the one that waits`() {
        let queue = Box()
        for isOn in [true, false, true, false] { queue.add(doNotDisturb(isOn)) }
        queue.add(.blocked(line: "1001", caller: "a", true))
        queue.add(.blocked(line: "1001", caller: "a", false))
        #expect(queue.count == 2)
        #expect(
            queue.next(10) == [
                .doNotDisturb(line: "1001", DoNotDisturbState(isOn: false)), .blocked(line: "1001", caller: "a", false),
            ])
    }

    @Test func `rows that could not be written wait again, before others, and not where they have changed`() {
        let queue = Box()
        queue.add(doNotDisturb(true))
        queue.add(doNotDisturb(true, "1002"))
        #expect(queue.next(2).count == 2)
        queue.add(doNotDisturb(false, "1002"))
        queue.add(doNotDisturb(true, "1003"))
        queue.giveBack()
        #expect(queue.count == 3 && queue.lost == 0)
        #expect(
            queue.next(10) == [
                .doNotDisturb(line: "1001", DoNotDisturbState(isOn: true)), .doNotDisturb(line: "1002", DoNotDisturbState(isOn: false)),
                .doNotDisturb(line: "1003", DoNotDisturbState(isOn: true)),
            ])
        queue.written()
        #expect(queue.count == 0 && queue.next(10).isEmpty)
    }

    @Test func `of a user's registrations only the difference to what the lane knew is written`() {
        let queue = Box()
        var (x, y) = (registration("x"), registration("y"))
        var kept = KeptState()
        kept.registrations = [x, y]
        queue.begin(with: kept)
        // The same REGISTER, whose times went through another clock.
        x.refreshed += 0.001
        queue.add(.registrations(user: "1001", [x, y]))
        #expect(queue.count == 0)
        y = registration("y", cseq: 2)
        queue.add(.registrations(user: "1001", [y]))
        let changes = queue.next(10)
        #expect(changes.count == 2 && changes.contains(.registration(y)) && changes.contains(.noRegistration(registration("x"))))
    }

    @Test(arguments: [(RecentCall.gatewayKilled, String?.none), ("remoteEnded", "1001"), ("failed", "1001")])
    func `recents are trimmed for a call that is over, and not while it goes on`(reason: String, line: String?) {
        let date = Date(timeIntervalSince1970: 1_790_000_000)
        let call = RecentCall(
            id: UUID(), line: "1001", direction: .incoming, handleType: .phoneNumber, handle: "1", name: nil, began: date, connected: nil,
            ended: date, outcome: .missed, reason: reason)
        #expect(StoreChange.recent(call).trimmedLine == line)
        #expect(StoreChange.noRecent(line: "1001", id: call.id, .incoming).trimmedLine == nil)
    }

    @Test func `a registration that is like one that has expired is written`() {
        let queue = Box(), old = registration("x")
        var kept = KeptState(), new = old
        kept.registrations = [old]
        queue.begin(with: kept)
        (new.refreshed, new.expiry) = (old.expiry + 1, old.expiry + 3_601)
        queue.add(.registrations(user: "1001", [new]))
        #expect(queue.next(10) == [.registration(new)])
    }

    @Test func `what was read is not taken over a change of ours, which is read after`() {
        let queue = Box()
        let read = KeptUpdate.doNotDisturb(line: "1001", DoNotDisturbState(isOn: true))
        queue.add(doNotDisturb(false))
        #expect(!queue.takes(read) && queue.unread == [.doNotDisturb(line: "1001")], "it waits")
        _ = queue.next(10)
        #expect(!queue.takes(read), "it is being written")
        queue.written()
        #expect(queue.nextReading(10) == [.doNotDisturb(line: "1001")] && queue.nextReading(10) == nil)
        queue.add(doNotDisturb(false))
        _ = queue.next(10)
        queue.written()
        #expect(!queue.takes(read), "it was written after the reading began")
        queue.endReading()
        #expect(queue.nextReading(10) == [.doNotDisturb(line: "1001")] && queue.takes(read))
    }

    @Test func `one row too many is lost, and counted`() {
        let queue = Box()
        for number in 0...StoreQueue.limit { queue.add(.blocked(line: "1001", caller: "\(number)", true)) }
        queue.add(.blocked(line: "1001", caller: "0", false))
        #expect(queue.count == StoreQueue.limit && queue.lost == 1)
    }
}
