import CallJournal
import CallKit
import Calls
import Foundation
import Primitives
import SIP
import UserAgent

/// Which INVITE an app means that reports a call under a UUID of its own.
extension AppLine {
    /// Gives an INVITE that waits for its report the UUID under which the app reports it. None where nothing waits, or the settings want it
    /// told more exactly: then the report is of a call that the line does not have.
    ///
    /// Of those that the handle names, or of all where it names none, the oldest that is not over yet.
    func adopt(_ uuid: UUID, reportedFor handle: CXHandle?) {
        guard settings.adoption != .never, call(uuid) == nil, system.call(uuid)?.isOutgoing != true else { return }
        let waiting = callsInOrder.filter { $0.direction == .incoming && $0.standing == .unreported }
        let named = handle.map { handle in waiting.filter { $0.isFrom(handle) } } ?? []
        let meant = named.isEmpty ? waiting : named
        guard let call = meant.first(where: { $0.networkEnd == nil }) ?? meant.first else { return }
        if meant.count > 1 {
            journal.record(.reportAmbiguous, line: settings.number, at: now, [.with: .init(uuid), .count: .init(meant.count)])
            guard settings.adoption == .oldest else { return }
        }
        call.scribe.write(.reportAdopted, at: now, [.with: .init(uuid), .count: .init(waiting.count)])
        give(uuid, to: call)
    }

    private func give(_ uuid: UUID, to call: AppCall) {
        let first = call.uuid
        calls[first] = nil
        call.rename(uuid)
        add(call)
        ownUUIDs[first] = uuid
        scribe.setName(first, of: uuid)
        tell(.adopted(first, as: uuid))
    }

    func forgetName(of call: AppCall) {
        guard ownUUIDs.removeValue(forKey: call.journalUUID) != nil else { return }
        scribe.setName(nil, of: call.uuid)
    }

    /// The app's UUID of a call, which may be named by that of its `.incoming`, too.
    func ownUUID(of uuid: UUID) -> UUID { ownUUIDs[uuid] ?? uuid }

    func call(_ uuid: UUID) -> AppCall? { calls[ownUUID(of: uuid)] }
}

extension AppCall {
    /// Whether a handle is the caller's: number, address or, as some apps have it, display name.
    fileprivate func isFrom(_ handle: CXHandle) -> Bool {
        guard let from = session?.request.from else { return false }
        if let name = from.displayName?.description, name == handle.value { return true }
        guard let named = line.settings.target(handle.value), named.number == from.uri.number else { return false }
        return !handle.value.contains("@") || named.host == from.uri.host
    }
}

extension URI {
    /// The user without the plus that an international number may begin with.
    fileprivate var number: Substring { (plainUser?.description ?? "").drop { $0 == "+" } }
}
