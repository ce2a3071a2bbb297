import Foundation
import Synchronization

@testable import Gateway

/// The store that gateways share, as far as dialogs and recents go.
final class SharedRows: LineStore {
    private let kept = Mutex<[UUID: SavedDialog]>([:]), changes = Mutex<[LineChange]>([])
    var sharesCalls: Bool { true }

    func keep(_ change: LineChange) {
        changes.withLock { $0.append(change) }
        switch change {
        case .dialog(let dialog): kept.withLock { $0[dialog.call] = dialog }
        case .noDialog(let call): kept.withLock { $0[call] = nil }
        default: break
        }
    }

    var all: [SavedDialog] { kept.withLock { Array($0.values) } }
    /// Each change of one, the last one last.
    var recents: [RecentCall] { changes.withLock { $0.compactMap { if case .recent(let call) = $0 { call } else { nil } } } }
    /// As the table has them: each once.
    var calls: [RecentCall] {
        recents.reversed().reduce(into: []) { calls, call in
            if !calls.contains(where: { $0.id == call.id && $0.line == call.line && $0.direction == call.direction }) { calls.append(call) }
        }
    }
    func of(_ peer: RawPeer) -> SavedDialog? { all.first { $0.target == "sip:peer@\(peer.address)" } }

    /// All that a gateway leaves when it dies, as another one gets it.
    func orphans(of node: String = "a") -> OrphanedCalls {
        let dialogs = all.sorted { $0.call.uuidString < $1.call.uuidString }
        let unfinished = calls.filter { $0.reason == RecentCall.gatewayKilled }
        return OrphanedCalls(dialogs: dialogs.map { OrphanedDialog($0, node: node) }, recents: unfinished)
    }
}
