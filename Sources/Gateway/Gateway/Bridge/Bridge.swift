import Foundation
import Primitives

/// The legs of one bridged call: what one leg reported becomes what is wanted of the others.
///
/// One caller, and the callees that its line forked to; the first callee to connect is joined with the caller and the others are told
/// so. Later one of the two may have the other transferred (`transfer`), or may be replaced. Outputs are in the order in which they must be
/// done.
final class Bridge {
    enum State: Equatable {
        /// Callees are being called. Next: `answering` when one connects, `ended` when none is left or the caller goes.
        case calling
        /// A callee connected and the caller's answer is wanted. Next: `joined` when the caller's leg is connected, `ended`.
        case answering(winner: UUID)
        /// Both talk. Next: `transferring`, `ended`.
        case joined(with: UUID)
        /// Somebody else is called in the place of one of the two. Next: `joined` with whoever connects or, if nobody does, as before;
        /// `ended`.
        case transferring(Transfer)
        /// Calls that their user has grouped, and not two: three or more hear each other, and one waits. Next: `joined` when two are left,
        /// `ended`.
        case grouped([UUID])
        case ended
    }

    struct Transfer: Equatable {
        let staying: UUID
        /// nil when whoever asked for it hung up meanwhile.
        var leaving: UUID?
        var targets: [UUID] = []
    }

    enum Event {
        /// The last callee was added; from here on running out of callees ends the call, or the transfer.
        case dialled
        case calleeConnected(UUID)
        case callerConnected
        case ended(UUID, EndCause)
        /// Nothing came from this callee: nobody waits for it while others are busy.
        case silent(UUID)
        /// Something came from one that was silent.
        case heard(UUID)
        case remoteHold(UUID, Bool)
        /// This leg wants the one that it talks with to be called by others, who are added next.
        case transfer(by: UUID)
        /// A new leg takes the place of another: of one of two that talk, or of a callee that rings.
        case replaced(UUID, by: UUID)
        /// Its user groups this call, which is up, with those that talk here.
        case grouped(UUID)
        /// Its user takes this call out of those that talk here.
        case parted(UUID)
    }

    enum Output: Equatable {
        case answer(UUID)
        case end(UUID, EndCause)
        /// A fork that lost.
        case answeredElsewhere(UUID)
        /// A fork is over, and the call goes on without it.
        case forkEnded(UUID, EndCause)
        case hold(UUID, Bool)
        /// Nobody of those who were called is left, and others may still be: they are to be called now.
        case callNext
        /// `staying` talks with `to` from here on, and `from`, where it is still there, goes.
        case transferred(staying: UUID, from: UUID?, to: UUID)
        /// Nobody took the call: it goes on with whoever asked for the transfer.
        case transferFailed(by: UUID, EndCause)
        /// From here on these are all that there are: two talk with each other, more hear each other, and one waits.
        case conversation([UUID])
    }

    /// The call that opened it.
    let id: UUID
    private(set) var caller: UUID
    private(set) var state = State.calling
    private(set) var callees: [UUID] = []
    private var isDialled = false
    private var best: EndCause?
    /// Callees that have said nothing.
    private var silent: Set<UUID> = []
    /// A callee has ended, or one of them.
    private var isRefused = false
    private var heldByRemote: Set<UUID> = []

    /// Several people rather than several telephones of one: a 6xx speaks for who sent it, and not for all (RFC 3261 §21.6).
    private let isGroup: Bool

    init(caller: UUID, isGroup: Bool = false) {
        (id, self.caller, self.isGroup) = (caller, caller, isGroup)
        // A group of which nobody is there is unavailable, as a line without a device is.
        if isGroup { best = EndCause(status: 480, reasons: [.q850(20)]) }
    }

    /// Joins two legs that were bridged with others before.
    init(id: UUID, joining caller: UUID, with callee: UUID) {
        (self.id, self.caller, callees, state, isGroup) = (id, caller, [callee], .joined(with: callee), false)
    }

    func add(callee: UUID) {
        if case .transferring(var transfer) = state {
            transfer.targets.append(callee)
            return state = .transferring(transfer)
        }
        precondition(state == .calling, "a callee joins while the call is made")
        callees.append(callee)
    }

    func receive(_ event: Event) -> [Output] {
        switch (event, state) {
        case (.replaced(_, let other), .ended), (.grouped(let other), .ended): return [.end(other, .failed)]
        case (_, .ended): return []
        case (.dialled, _):
            isDialled = true
            return giveUpWhenAlone()
        case (.calleeConnected(let winner), .calling):
            state = .answering(winner: winner)
            return [.answer(caller)] + others(than: winner).map(Output.answeredElsewhere)
        case (.calleeConnected(let target), .transferring(let transfer)) where transfer.targets.contains(target):
            return complete(transfer, with: target)
        case (.calleeConnected(let loser), _): return [.answeredElsewhere(loser)]
        case (.callerConnected, .answering(let winner)):
            state = .joined(with: winner)
            return heldByRemote.compactMap { peer(of: $0).map { .hold($0, true) } }
        case (.callerConnected, _): return []
        case (.silent(let leg), _):
            silent.insert(leg)
            return giveUpWhenAlone()
        case (.heard(let leg), _):
            silent.remove(leg)
            return []
        case (.ended(let leg, let cause), .transferring(let transfer)): return ended(leg, cause, during: transfer)
        case (.ended(let leg, let cause), .grouped(let members)): return ended(leg, cause, among: members)
        case (.ended(let leg, let cause), _): return ended(leg, cause)
        case (.remoteHold(let leg, let isHeld), _): return remoteHold(leg, isHeld)
        case (.transfer(let leg), .joined): return begin(transferBy: leg)
        case (.transfer, _): return []
        case (.replaced(let leg, let other), .joined): return replace(leg, by: other)
        case (.replaced(let leg, let other), .calling) where callees.contains(leg): return pickUp(by: other)
        case (.replaced(_, let other), _): return [.end(other, .failed)]
        case (.grouped(let leg), _): return group(leg)
        case (.parted(let leg), _): return part(leg)
        }
    }

    /// Whether the far end of a leg holds, as the bridge was told.
    func isHolding(_ leg: UUID) -> Bool { heldByRemote.contains(leg) }

    /// The leg that a leg talks with once both are connected.
    func peer(of leg: UUID) -> UUID? {
        switch state {
        case .answering(let winner), .joined(let winner): leg == caller ? winner : leg == winner ? caller : nil
        case .transferring(let transfer): leg == transfer.staying ? transfer.leaving : leg == transfer.leaving ? transfer.staying : nil
        case .calling, .grouped, .ended: nil
        }
    }

    private func ended(_ leg: UUID, _ cause: EndCause) -> [Output] {
        if leg == caller {
            state = .ended
            return callees.map { .end($0, cause) }
        }
        guard let index = callees.firstIndex(of: leg) else { return [] }
        callees.remove(at: index)
        heldByRemote.remove(leg)
        switch state {
        case .answering(leg), .joined(leg):
            state = .ended
            return [.end(caller, cause)] + callees.map { .end($0, cause) }
        case .calling where cause.status >= 600 && !isGroup:
            // Nobody else is to be asked (RFC 3261 §16.7 step 5, §21.6).
            state = .ended
            return [.end(caller, cause)] + callees.map { .end($0, cause.endingFork) }
        case .calling:
            refuse(cause, by: leg)
            let next = giveUpWhenAlone()
            return state == .calling ? [.forkEnded(leg, cause)] + next : next
        default: return []
        }
    }

    private func refuse(_ cause: EndCause, by leg: UUID) {
        best = best.map { Self.better($0, cause) } ?? cause
        if !silent.contains(leg) { isRefused = true }
        silent.remove(leg)
    }

    /// Nobody is left to wait for: those who are, if any, are silent, and somebody else has said no.
    private func isAlone(with others: [UUID]) -> Bool { others.isEmpty || isRefused && others.allSatisfy(silent.contains) }

    private func giveUpWhenAlone() -> [Output] {
        switch state {
        case .calling where !isDialled: return callees.allSatisfy(silent.contains) ? [.callNext] : []
        case .calling where isAlone(with: callees):
            state = .ended
            let cause = best ?? .failed
            return [.end(caller, cause)] + callees.map { .end($0, cause) }
        case .transferring(let transfer) where isDialled && isAlone(with: transfer.targets):
            return transfer.targets.map { .end($0, best ?? .failed) } + giveUp(transfer)
        default: return []
        }
    }

    private func remoteHold(_ leg: UUID, _ isHeld: Bool) -> [Output] {
        guard leg == caller || callees.contains(leg) else { return [] }
        let changed = isHeld ? heldByRemote.insert(leg).inserted : heldByRemote.remove(leg) != nil
        guard changed, isJoined, let peer = peer(of: leg) else { return [] }
        return [.hold(peer, isHeld)]
    }

    private var isJoined: Bool {
        switch state {
        case .joined, .transferring: true
        case .calling, .answering, .grouped, .ended: false
        }
    }

    private func others(than winner: UUID) -> [UUID] { callees.filter { $0 != winner } }

    /// RFC 3261 §16.7: a 6xx before all, else the lowest class, and in it what tells the caller most.
    private static func better(_ left: EndCause, _ right: EndCause) -> EndCause {
        func rank(_ cause: EndCause) -> Int {
            switch cause.status {
            case 600...: 0
            case 401, 407, 415, 420, 484: 100
            case 486: 101
            case 480: 150
            case 408: 199
            default: cause.status / 100 * 100 + 50 - 300
            }
        }
        return rank(right) < rank(left) ? right : left
    }
}

extension Bridge {
    /// The outputs for an event whose bridge is gone.
    static func orphaned(by event: Event) -> [Output] {
        switch event {
        case .replaced(_, let other), .grouped(let other): [.end(other, .failed)]
        default: []
        }
    }
}

// One of two that are joined goes, and somebody else comes.
extension Bridge {
    private func begin(transferBy leg: UUID) -> [Output] {
        guard let staying = peer(of: leg) else { return [] }
        (isDialled, best, isRefused) = (false, nil, false)
        state = .transferring(Transfer(staying: staying, leaving: leg))
        return []
    }

    private func complete(_ transfer: Transfer, with target: UUID) -> [Output] {
        let losers = transfer.targets.filter { $0 != target }
        return [.transferred(staying: transfer.staying, from: transfer.leaving, to: target)] + losers.map(Output.answeredElsewhere)
            + join(transfer.staying, with: target)
    }

    private func replace(_ leg: UUID, by other: UUID) -> [Output] {
        guard let staying = peer(of: leg) else { return [.end(other, .failed)] }
        return [.transferred(staying: staying, from: leg, to: other)] + join(staying, with: other)
    }

    /// Somebody else took the call: as if one of those that ring had connected.
    private func pickUp(by other: UUID) -> [Output] {
        callees.append(other)
        state = .answering(winner: other)
        return [.answer(caller)] + others(than: other).map(Output.answeredElsewhere)
    }

    /// Joins two legs. A leg that was held by the one that goes is held no more. A leg that holds goes on holding, now towards the new one.
    private func join(_ staying: UUID, with other: UUID) -> [Output] {
        (caller, callees, state) = (staying, [other], .joined(with: other))
        let wasHeld = !heldByRemote.isSubset(of: [staying, other])
        heldByRemote.formIntersection([staying, other])
        return (wasHeld ? [.hold(staying, false)] : []) + (heldByRemote.contains(staying) ? [.hold(other, true)] : [])
    }

    private func ended(_ leg: UUID, _ cause: EndCause, during transfer: Transfer) -> [Output] {
        var transfer = transfer
        if leg == transfer.staying {
            state = .ended
            return (transfer.targets + [transfer.leaving].compactMap(\.self)).map { .end($0, cause) }
        }
        if leg == transfer.leaving {
            transfer.leaving = nil
        } else if let index = transfer.targets.firstIndex(of: leg) {
            transfer.targets.remove(at: index)
            refuse(cause, by: leg)
        }
        state = .transferring(transfer)
        return giveUpWhenAlone()
    }

    private func giveUp(_ transfer: Transfer) -> [Output] {
        let cause = best ?? EndCause(status: 480, reasons: [.q850(31)])
        guard let leaving = transfer.leaving else {
            state = .ended
            return [.end(transfer.staying, cause)]
        }
        (caller, callees, state) = (transfer.staying, [leaving], .joined(with: leaving))
        return [.transferFailed(by: leaving, cause)]
    }
}

// Calls that are up are grouped by their user, and taken apart again.
extension Bridge {
    /// A conversation without anybody, which calls are grouped in.
    convenience init(id: UUID) {
        self.init(caller: id)
        state = .grouped([])
    }

    /// The calls that talk with each other; nil where somebody is being called still.
    var members: [UUID]? {
        switch state {
        case .joined(let other): [caller, other]
        case .grouped(let members): members
        case .calling, .answering, .transferring, .ended: nil
        }
    }

    private func group(_ leg: UUID) -> [Output] {
        guard let members else { return [.end(leg, .failed)] }
        return members.contains(leg) ? [] : converse(members + [leg])
    }

    /// A call that is left alone waits, and does not end.
    private func part(_ leg: UUID) -> [Output] {
        guard let members, members.contains(leg) else { return [] }
        return converse(members.filter { $0 != leg })
    }

    /// The last one of a conversation goes with the one before.
    private func ended(_ leg: UUID, _ cause: EndCause, among members: [UUID]) -> [Output] {
        let left = members.filter { $0 != leg }
        guard left.count < 2 else { return converse(left) }
        state = .ended
        return left.map { .end($0, cause) }
    }

    /// A far end that holds is waited for where there are two; among more of them it is only silent.
    private func converse(_ members: [UUID]) -> [Output] {
        let before = waiting
        if let first = members.first { (caller, callees) = (first, Array(members.dropFirst())) }
        heldByRemote.formIntersection(members)
        state = members.count == 2 ? .joined(with: members[1]) : members.isEmpty ? .ended : .grouped(members)
        let after = waiting
        return before.filter { !after.contains($0) }.map { .hold($0, false) } + (members.isEmpty ? [] : [.conversation(members)])
            + after.filter { !before.contains($0) }.map { .hold($0, true) }
    }

    /// Calls of two whose other one has a far end that holds.
    private var waiting: [UUID] {
        guard case .joined(let other) = state else { return [] }
        return [caller, other].filter { peer(of: $0).map(heldByRemote.contains) ?? false }
    }
}
