import Gateway
import Primitives

/// The calls that are up, by line: pairs of them are grouped, parted and ended at random, as programs do by the control interface.
struct RandomGroups {
    private struct Call {
        let id: CallUUID
        let isOutgoing: Bool
    }

    private var lines: [Text: [Call]] = [:]
    private var random: SeededRandom
    private static let devices = Set(Cast.devices.map(\.line))
    /// Actions that take a call out of its conversation, until they are done.
    private var parting: Set<CallUUID> = []
    /// Calls that were moved into the conversation of another one, and that were taken out of theirs.
    private(set) var grouped = 0, parted = 0

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func note(_ event: borrowing JournalEvent) {
        guard let call = event.call else { return }
        switch event.kind {
        case .actionFulfilled:
            switch event.details.text(.class) {
            case "answer": lines[event.line, default: []].append(Call(id: call, isOutgoing: false))
            case "group": noteGroup(event.details.uuid(.action))
            default: break
            }
        case .reportConnected: lines[event.line, default: []].append(Call(id: call, isOutgoing: true))
        case .performGroup: if event.details.uuid(.with) == nil, let action = event.details.uuid(.action) { parting.insert(action) }
        case .callEnded: lines[event.line]?.removeAll { $0.id == call }
        default: break
        }
    }

    private mutating func noteGroup(_ action: CallUUID?) {
        if let action, parting.remove(action) != nil { parted += 1 } else { grouped += 1 }
    }

    /// Actions on two calls of a line with devices; nil while none has two.
    mutating func order() -> TransactionOrder? {
        let candidates = talking.filter { $0.value.count > 1 }
        guard let (line, calls) = candidates.randomElement(using: &random).map({ ($0.key, $0.value.shuffled(using: &random)) }) else {
            return nil
        }
        let one = calls[0].id.uuid, other = calls[1].id.uuid
        let actions: [TransactionOrder.Action] =
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6: [.setGroup(one, with: other)]
            case 6..<8: [.setGroup(one, with: nil)]
            case 8: [.end(one)]
            default: join(calls) ?? [.setGroup(one, with: other)]
            }
        return TransactionOrder(line: line, actions: actions)
    }

    /// The ends of all calls that are up on lines with devices: a call that waits alone, and whose far end is an application, has no other.
    func ends() -> [TransactionOrder] {
        talking.flatMap { line, calls in calls.map { TransactionOrder(line: line, actions: [.end($0.id.uuid)]) } }
    }

    /// Lines with devices, in the same order in each replay.
    private var talking: [(key: Text, value: [Call])] {
        lines.filter { Self.devices.contains($0.key) }.sorted { $0.key.description < $1.key.description }
    }

    /// The callers of two conversations talk with each other, and the devices are out.
    private func join(_ calls: [Call]) -> [TransactionOrder.Action]? {
        let callers = calls.filter { !$0.isOutgoing }.map(\.id.uuid), devices = calls.filter(\.isOutgoing).map(\.id.uuid)
        guard callers.count > 1, devices.count > 1 else { return nil }
        return [.setGroup(callers[0], with: callers[1]), .end(devices[0]), .end(devices[1])]
    }
}
