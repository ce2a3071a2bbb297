import Foundation
import SIP
import Testing

@testable import Gateway

@Suite struct BridgeTests {
    let caller = UUID(), first = UUID(), second = UUID()
    let busy = EndCause(status: 486, reasons: []), declined = EndCause(status: 603, reasons: []),
        missing = EndCause(status: 404, reasons: [])
    let hungUp = EndCause.normalClearing

    func dialled() -> Bridge {
        let bridge = Bridge(caller: caller)
        bridge.add(callee: first)
        bridge.add(callee: second)
        _ = bridge.receive(.dialled)
        return bridge
    }

    func joined() -> Bridge {
        let bridge = dialled()
        _ = bridge.receive(.calleeConnected(first))
        _ = bridge.receive(.ended(second, .answeredElsewhere))
        _ = bridge.receive(.callerConnected)
        return bridge
    }

    @Test func `the first callee that connects answers the caller, and the others are told`() {
        let bridge = dialled()
        #expect(bridge.receive(.calleeConnected(second)) == [.answer(caller), .answeredElsewhere(first)])
        #expect(bridge.peer(of: caller) == second)
        #expect(bridge.peer(of: second) == caller)
        #expect(bridge.peer(of: first) == nil)
    }

    @Test func `a second callee that connects lost`() {
        let bridge = dialled()
        _ = bridge.receive(.calleeConnected(second))
        #expect(bridge.receive(.calleeConnected(first)) == [.answeredElsewhere(first)])
    }

    @Test func `the caller hears the best of the refusals when all callees are gone`() {
        let bridge = dialled()
        #expect(bridge.receive(.ended(first, missing)) == [.forkEnded(first, missing)])
        #expect(bridge.receive(.ended(second, busy)) == [.end(caller, busy)])
    }

    @Test func `nobody waits for a callee that says nothing once another has refused`() {
        let bridge = dialled()
        #expect(bridge.receive(.silent(second)) == [])
        #expect(bridge.receive(.ended(first, busy)) == [.end(caller, busy), .end(second, busy)])
        let later = dialled()
        _ = later.receive(.ended(first, busy))
        #expect(later.receive(.silent(second)) == [.end(caller, busy), .end(second, busy)])
        let back = dialled()
        _ = back.receive(.silent(second))
        _ = back.receive(.heard(second))
        #expect(back.receive(.ended(first, busy)) == [.forkEnded(first, busy)], "it rings")
        let alone = dialled()
        #expect(alone.receive(.silent(first)) == [] && alone.receive(.silent(second)) == [], "nobody has refused: both are waited for")
    }

    @Test func `a 6xx is the answer of all: the others ring no more`() {
        let bridge = dialled()
        #expect(bridge.receive(.ended(first, declined)) == [.end(caller, declined), .end(second, declined.endingFork)])
        #expect(bridge.receive(.ended(second, busy)) == [])
    }

    @Test func `nothing is given up before the last callee was dialled`() {
        let bridge = Bridge(caller: caller)
        bridge.add(callee: first)
        #expect(bridge.receive(.ended(first, busy)) == [.forkEnded(first, busy), .callNext])
        #expect(bridge.receive(.dialled) == [.end(caller, busy)])
    }

    @Test func `the caller's end ends every callee`() {
        let bridge = dialled()
        #expect(bridge.receive(.ended(caller, hungUp)) == [.end(first, hungUp), .end(second, hungUp)])
        #expect(bridge.receive(.calleeConnected(first)) == [], "ended is absorbing")
    }

    @Test func `an end on one side of a joined call ends the other`() {
        var bridge = joined()
        #expect(bridge.receive(.ended(first, hungUp)) == [.end(caller, hungUp)])
        bridge = joined()
        #expect(bridge.receive(.ended(caller, hungUp)) == [.end(first, hungUp)])
    }

    @Test func `hold on one side holds the other, once`() {
        let bridge = joined()
        #expect(bridge.receive(.remoteHold(caller, true)) == [.hold(first, true)])
        #expect(bridge.receive(.remoteHold(caller, true)) == [])
        #expect(bridge.receive(.remoteHold(caller, false)) == [.hold(first, false)])
    }

    @Test func `a hold before the answer is done after it`() {
        let bridge = dialled()
        _ = bridge.receive(.calleeConnected(first))
        #expect(bridge.receive(.remoteHold(first, true)) == [])
        #expect(bridge.receive(.callerConnected) == [.hold(caller, true)])
    }

    @Test func `somebody else takes the call that rings: the caller is answered, and those that ring are told`() {
        var bridge = dialled()
        let other = UUID()
        #expect(bridge.receive(.replaced(second, by: other)) == [.answer(caller), .answeredElsewhere(first), .answeredElsewhere(second)])
        #expect(bridge.peer(of: caller) == other && bridge.receive(.callerConnected) == [])
        #expect(bridge.receive(.ended(other, hungUp)).first == .end(caller, hungUp))
        bridge = dialled()
        #expect(bridge.receive(.replaced(caller, by: other)) == [.end(other, .failed)], "the caller's own place is not to be had")
    }

    @Test func `a winner that goes before the caller was answered takes the caller with it`() {
        let bridge = dialled()
        _ = bridge.receive(.calleeConnected(first))
        #expect(bridge.receive(.ended(first, hungUp)) == [.end(caller, hungUp), .end(second, hungUp)])
    }
}

@Suite struct BridgeTransferTests {
    let caller = UUID(), callee = UUID(), third = UUID(), fourth = UUID()
    let busy = EndCause(status: 486, reasons: [])

    private func transferring(by leg: UUID) -> Bridge {
        let bridge = Bridge(caller: caller)
        bridge.add(callee: callee)
        _ = bridge.receive(.dialled)
        _ = bridge.receive(.calleeConnected(callee))
        _ = bridge.receive(.callerConnected)
        #expect(bridge.receive(.transfer(by: leg)) == [])
        bridge.add(callee: third)
        bridge.add(callee: fourth)
        _ = bridge.receive(.dialled)
        return bridge
    }

    @Test func `whoever connects first takes the place of the one who asked`() {
        let bridge = transferring(by: caller)
        #expect(
            bridge.receive(.calleeConnected(fourth)) == [
                .transferred(staying: callee, from: caller, to: fourth), .answeredElsewhere(third),
            ])
        #expect(bridge.peer(of: callee) == fourth && bridge.peer(of: fourth) == callee && bridge.peer(of: caller) == nil)
        #expect(bridge.receive(.ended(caller, .transferred)) == [])
        #expect(bridge.receive(.ended(fourth, busy)) == [.end(callee, busy)])
    }

    @Test func `a hold of the one who goes goes with it`() {
        let bridge = transferring(by: callee)
        #expect(bridge.receive(.remoteHold(callee, true)) == [.hold(caller, true)])
        let outputs = bridge.receive(.calleeConnected(third))
        #expect(outputs == [.transferred(staying: caller, from: callee, to: third), .answeredElsewhere(fourth), .hold(caller, false)])
    }

    @Test func `the one who stays holds the new one as it held the old one`() {
        let bridge = transferring(by: callee)
        _ = bridge.receive(.remoteHold(caller, true))
        #expect(bridge.receive(.calleeConnected(third)).last == .hold(third, true))
    }

    @Test func `a new one that is on hold holds the one who stays, and one that came too late does not`() {
        let bridge = transferring(by: caller)
        _ = bridge.receive(.calleeConnected(third))
        #expect(bridge.receive(.remoteHold(third, true)) == [.hold(callee, true)])
        #expect(bridge.receive(.calleeConnected(fourth)) == [.answeredElsewhere(fourth)])
        #expect(bridge.receive(.remoteHold(fourth, true)) == [])
        #expect(bridge.receive(.remoteHold(third, false)) == [.hold(callee, false)])
    }

    @Test func `when nobody takes it the two go on, and the best refusal is told`() {
        let bridge = transferring(by: caller)
        #expect(bridge.receive(.ended(third, EndCause(status: 480, reasons: []))) == [])
        #expect(bridge.receive(.ended(fourth, busy)) == [.transferFailed(by: caller, busy)])
        #expect(bridge.peer(of: callee) == caller)
        #expect(bridge.receive(.ended(caller, .normalClearing)) == [.end(callee, .normalClearing)])
    }

    @Test func `when the one who asked is gone and nobody takes it, the one who stays ends`() {
        let bridge = transferring(by: caller)
        #expect(bridge.receive(.ended(caller, .normalClearing)) == [])
        _ = bridge.receive(.ended(third, busy))
        #expect(bridge.receive(.ended(fourth, busy)) == [.end(callee, busy)])
        #expect(bridge.state == .ended)
    }

    @Test func `when the one who stays hangs up everybody is told`() {
        let bridge = transferring(by: caller)
        #expect(bridge.receive(.ended(callee, busy)) == [.end(third, busy), .end(fourth, busy), .end(caller, busy)])
    }

    @Test func `one transfer at a time, and none before both talk`() {
        let bridge = transferring(by: caller)
        #expect(bridge.receive(.transfer(by: callee)) == [])
        #expect(bridge.peer(of: callee) == caller)
        let early = Bridge(caller: caller)
        early.add(callee: callee)
        #expect(early.receive(.transfer(by: caller)) == [] && early.state == .calling)
    }
}

/// Calls that their user groups, and takes apart.
@Suite struct BridgeGroupTests {
    private let calls = (0..<4).map { _ in UUID() }

    private func grouped(_ count: Int) -> Bridge {
        let bridge = Bridge(id: UUID())
        for call in calls.prefix(count) { _ = bridge.receive(.grouped(call)) }
        return bridge
    }

    @Test func `one waits, two talk with each other, more are a conference`() {
        let bridge = grouped(0)
        #expect(bridge.receive(.grouped(calls[0])) == [.conversation([calls[0]])] && bridge.peer(of: calls[0]) == nil)
        #expect(bridge.receive(.grouped(calls[1])) == [.conversation([calls[0], calls[1]])])
        #expect(bridge.state == .joined(with: calls[1]) && bridge.peer(of: calls[1]) == calls[0])
        #expect(bridge.receive(.grouped(calls[2])) == [.conversation(Array(calls.prefix(3)))] && bridge.peer(of: calls[0]) == nil)
        #expect(bridge.receive(.grouped(calls[2])).isEmpty, "it is there already")
        #expect(bridge.receive(.parted(calls[0])) == [.conversation([calls[1], calls[2]])])
        #expect(bridge.receive(.parted(calls[0])).isEmpty, "it is there no more")
        #expect(bridge.receive(.parted(calls[2])) == [.conversation([calls[1]])])
        #expect(bridge.receive(.parted(calls[1])).isEmpty && bridge.state == .ended)
    }

    @Test func `of three the others go on when one ends, and the last goes with the one before`() {
        let bridge = grouped(3)
        #expect(bridge.receive(.ended(calls[0], .normalClearing)) == [.conversation([calls[1], calls[2]])])
        #expect(bridge.receive(.ended(calls[2], .normalClearing)) == [.end(calls[1], .normalClearing)])
        #expect(bridge.state == .ended && bridge.receive(.grouped(calls[3])) == [.end(calls[3], .failed)])
        let alone = grouped(1)
        #expect(alone.receive(.ended(calls[0], .normalClearing)).isEmpty && alone.state == .ended)
    }

    @Test func `the other one is held where there are two, and not among more`() {
        let bridge = grouped(2)
        #expect(bridge.receive(.remoteHold(calls[0], true)) == [.hold(calls[1], true)])
        #expect(bridge.receive(.grouped(calls[2])) == [.hold(calls[1], false), .conversation(Array(calls.prefix(3)))])
        #expect(bridge.receive(.remoteHold(calls[2], true)).isEmpty)
        #expect(bridge.receive(.parted(calls[1])) == [.conversation([calls[0], calls[2]]), .hold(calls[0], true), .hold(calls[2], true)])
        #expect(bridge.receive(.remoteHold(calls[0], false)) == [.hold(calls[2], false)])
    }

    @Test func `nobody is grouped with calls that are being made`() {
        let bridge = Bridge(caller: calls[0])
        bridge.add(callee: calls[1])
        #expect(bridge.members == nil && bridge.receive(.grouped(calls[2])) == [.end(calls[2], .failed)])
        #expect(bridge.receive(.parted(calls[0])).isEmpty && bridge.state == .calling)
    }
}
