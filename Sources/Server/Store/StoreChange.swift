import CallKit
import Foundation
import Gateway
import Primitives
import SIP
import UserAgent

/// A part of the kept state that is read as one, and that other gateways are told of when it changes.
enum StoreTopic: Hashable, Sendable {
    case registrations(user: String)
    case doNotDisturb(line: String)
    case blocked(line: String)
    case pushBindings(line: String)
    case recent(line: String, id: UUID, direction: RecentCall.Direction)
    case messages(line: String)
    /// Leases of trunks, and their states. They are read with those of gateways.
    case trunks
}

/// A row that is to be written, or to be taken away. Rows of one user that several gateways write are apart from each other.
enum StoreChange: Sendable, Equatable {
    case recent(RecentCall)
    case noRecent(line: String, id: UUID, RecentCall.Direction)
    case doNotDisturb(line: String, DoNotDisturbState)
    case blocked(line: String, caller: String, Bool)
    case pushBinding(line: String, PushBinding)
    case noPushBinding(line: String, PushBinding)
    case registration(SavedRegistration)
    /// As it was known; one that was refreshed since, elsewhere, stays.
    case noRegistration(SavedRegistration)
    case message(MailboxMessage)
    case noMessage(line: String, id: UUID)
    case dialog(SavedDialog)
    case noDialog(UUID)
    case trunk(line: String, TrunkState)

    /// The name of the row. A later change of the same row takes the place of this one.
    struct Key: Hashable, Sendable {
        /// Nil for rows that no other gateway reads while the one that wrote them is there.
        var topic: StoreTopic?
        var row = ""
    }

    var key: Key {
        switch self {
        case .recent(let call): Key(topic: .recent(line: call.line, id: call.id, direction: call.direction))
        case .noRecent(let line, let id, let direction): Key(topic: .recent(line: line, id: id, direction: direction))
        case .doNotDisturb(let line, _): Key(topic: .doNotDisturb(line: line))
        case .blocked(let line, let caller, _): Key(topic: .blocked(line: line), row: caller)
        case .pushBinding(let line, let binding), .noPushBinding(let line, let binding):
            Key(topic: .pushBindings(line: line), row: binding.rowName)
        case .registration(let saved), .noRegistration(let saved): Key(topic: .registrations(user: saved.user), row: saved.rowName)
        case .message(let message): Key(topic: .messages(line: message.line), row: message.id.uuidString)
        case .noMessage(let line, let id): Key(topic: .messages(line: line), row: id.uuidString)
        case .dialog(let dialog): Key(topic: nil, row: dialog.call.uuidString)
        case .noDialog(let call): Key(topic: nil, row: call.uuidString)
        case .trunk(let line, _): Key(topic: .trunks, row: line)
        }
    }
}

extension StoreChange {
    /// The line whose recents have one call more that is over, and may be too many. A call that goes on comes once more when it ends.
    var trimmedLine: String? {
        guard case .recent(let call) = self, call.reason != RecentCall.gatewayKilled else { return nil }
        return call.line
    }
}

extension PushBinding {
    /// The device among those of its line.
    var rowName: String { device?.description ?? "\(provider) \(identifier)" }
}

extension SavedRegistration {
    /// The device among those of its user: by its instance and flow (RFC 5626), else by its Contact's URI.
    var rowName: String {
        guard let parsed = try? NameAddress(parsing: Text(contact)) else { return contact }
        guard let instance = parsed.parameters.value(of: "+sip.instance") else { return parsed.uri.text.description }
        return "\(instance) \(parsed.parameters.value(of: "reg-id") ?? .empty)"
    }

    /// Whether both are of one REGISTER. Their times went through clocks of several machines. A device that has lost its memory may begin
    /// its Call-ID and CSeq anew when the first has expired.
    func isSame(as other: SavedRegistration) -> Bool {
        expiry > other.refreshed
            && (contact, path, transport, remote, callID, cseq) == (
                other.contact, other.path, other.transport, other.remote, other.callID, other.cseq
            )
    }
}

extension KeptUpdate {
    /// Nil for what is of several topics.
    var topic: StoreTopic? {
        switch self {
        case .doNotDisturb(let line, _): .doNotDisturb(line: line)
        case .blocked(let line, _): .blocked(line: line)
        case .pushBindings(let line, _): .pushBindings(line: line)
        case .registrations(let user, _): .registrations(user: user)
        case .recent(let call): .recent(line: call.line, id: call.id, direction: call.direction)
        case .messages(let line, _): .messages(line: line)
        case .recents: nil
        }
    }
}
