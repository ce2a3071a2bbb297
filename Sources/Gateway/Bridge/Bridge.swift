import Foundation
import Primitives

/// The legs of one bridged call, as a value: what one leg reported becomes what is wanted of the others.
///
/// One caller, and the callees that its line forked to; the first callee to connect is joined with the caller and the others are told
/// so. Outputs are in the order in which they must be done.
struct Bridge {
    enum State: Equatable {
        /// Callees are being called. Next: `answering` when one connects, `ended` when none is left or the caller goes.
        case calling
        /// A callee connected and the caller's answer is wanted. Next: `joined` when the caller's leg is connected, `ended`.
        case answering(winner: UUID)
        /// Both talk. Next: `ended`.
        case joined(with: UUID)
        case ended
    }

    enum Event {
        /// The last callee was added; from here on running out of callees ends the call.
        case dialled
        case calleeConnected(UUID)
        case callerConnected
        case ended(UUID, EndCause)
        case remoteHold(UUID, Bool)
    }

    enum Output: Equatable {
        case answer(UUID)
        case end(UUID, EndCause)
        /// A fork that lost.
        case answeredElsewhere(UUID)
        case hold(UUID, Bool)
    }

    let caller: UUID
    private(set) var state = State.calling
    private(set) var callees: [UUID] = []
    private var isDialled = false
    private var best: EndCause?
    private var heldByRemote: Set<UUID> = []

    init(caller: UUID) { self.caller = caller }

    mutating func add(callee: UUID) {
        precondition(state == .calling, "a callee joins while the call is made")
        callees.append(callee)
    }

    mutating func receive(_ event: Event) -> [Output] {
        switch (event, state) {
        case (_, .ended): return []
        case (.dialled, _):
            isDialled = true
            return giveUpWhenAlone()
        case (.calleeConnected(let winner), .calling):
            state = .answering(winner: winner)
            return [.answer(caller)] + others(than: winner).map(Output.answeredElsewhere)
        case (.calleeConnected(let loser), _): return [.answeredElsewhere(loser)]
        case (.callerConnected, .answering(let winner)):
            state = .joined(with: winner)
            return heldByRemote.compactMap { peer(of: $0).map { .hold($0, true) } }
        case (.callerConnected, _): return []
        case (.ended(let leg, let cause), _): return ended(leg, cause)
        case (.remoteHold(let leg, let isHeld), _): return remoteHold(leg, isHeld)
        }
    }

    /// The leg that a leg talks with once both are connected.
    func peer(of leg: UUID) -> UUID? {
        switch state {
        case .answering(let winner), .joined(let winner): leg == caller ? winner : leg == winner ? caller : nil
        case .calling, .ended: nil
        }
    }

    private mutating func ended(_ leg: UUID, _ cause: EndCause) -> [Output] {
        if leg == caller {
            state = .ended
            return callees.map { .end($0, cause) }
        }
        guard let index = callees.firstIndex(of: leg) else { return [] }
        callees.remove(at: index)
        switch state {
        case .answering(leg), .joined(leg):
            state = .ended
            return [.end(caller, cause)] + callees.map { .end($0, cause) }
        case .calling where cause.status >= 600:
            // Nobody else is to be asked (RFC 3261 §16.7 step 5, §21.6).
            state = .ended
            return [.end(caller, cause)] + callees.map { .end($0, cause.endingFork) }
        case .calling:
            best = best.map { Self.better($0, cause) } ?? cause
            return giveUpWhenAlone()
        default: return []
        }
    }

    private mutating func giveUpWhenAlone() -> [Output] {
        guard state == .calling, isDialled, callees.isEmpty else { return [] }
        state = .ended
        return [.end(caller, best ?? .failed)]
    }

    private mutating func remoteHold(_ leg: UUID, _ isHeld: Bool) -> [Output] {
        let changed = isHeld ? heldByRemote.insert(leg).inserted : heldByRemote.remove(leg) != nil
        guard changed, case .joined = state, let peer = peer(of: leg) else { return [] }
        return [.hold(peer, isHeld)]
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
