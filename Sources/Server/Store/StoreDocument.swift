import CallKit
import Foundation
import Gateway
import Primitives

/// The kept state as JSON, for moving it from one store to another. Times are seconds since 1970.
public struct StoreDocument: Codable, Sendable {
    /// The form of this document; a later one is refused.
    public static let currentForm = 1

    public var form = Self.currentForm
    var lines: [LineEntry]
    var registrations: [Registration]

    struct LineEntry: Codable {
        var line: String
        var doNotDisturb: DoNotDisturbEntry?
        var blocked: [String]
        var pushBindings: [Push]
        var recents: [Recent]
        var messages: [Message]
    }

    struct DoNotDisturbEntry: Codable {
        var isOn: Bool
        var pausedUntil: Double?
    }

    struct Push: Codable {
        var provider: String, identifier: String, parameter: String?, keptUntil: Double, device: String?
    }

    struct Recent: Codable {
        var id: UUID, direction: String, handleType: Int, handle: String, name: String?, began: Double, connected: Double?, ended: Double
        var outcome: String, reason: String
    }

    struct Message: Codable {
        var id: UUID, caller: String, name: String?, called: String, received: Double, duration: Double, path: String, isHeard: Bool
    }

    struct Registration: Codable {
        var user: String, contact: String, path: String, transport: String, local: String, remote: String, userAgent: String?
        var callID: String, cseq: UInt32, refreshed: Double, expiry: Double
    }

    public init(_ kept: KeptState) {
        lines = kept.lines.sorted { $0.key < $1.key }.map { LineEntry($0, $1) }
        registrations = kept.registrations.map(Registration.init)
    }

    /// The whole state, as changes of a store that has nothing yet. Entries that no gateway has written are left out.
    public var changes: [LineChange] {
        lines.flatMap(\.changes)
            + Dictionary(grouping: registrations, by: \.user).sorted { $0.key < $1.key }.map { user, saved in
                .registrations(user: user, saved.map(\.saved))
            }
    }
}

extension StoreDocument.LineEntry {
    fileprivate init(_ number: String, _ record: LineRecord) {
        line = number
        doNotDisturb = record.doNotDisturb.map { .init(isOn: $0.isOn, pausedUntil: $0.pausedUntil?.timeIntervalSince1970) }
        blocked = record.blocked.sorted()
        pushBindings = record.pushBindings.map(StoreDocument.Push.init)
        recents = record.recents.map(StoreDocument.Recent.init)
        messages = record.messages.map(StoreDocument.Message.init)
    }

    /// The oldest call and message first, as they came.
    fileprivate var changes: [LineChange] {
        var changes: [LineChange] = []
        if let doNotDisturb {
            let until = doNotDisturb.pausedUntil.map(Date.init(timeIntervalSince1970:))
            changes.append(.doNotDisturb(line: line, DoNotDisturbState(isOn: doNotDisturb.isOn, pausedUntil: until)))
        }
        changes += blocked.map { .blocked(line: line, caller: $0, true) }
        if !pushBindings.isEmpty { changes.append(.pushBindings(line: line, pushBindings.map(\.binding))) }
        changes += recents.reversed().compactMap { $0.call(of: line) }.map { .recent($0) }
        return changes + messages.reversed().map { .message($0.message(of: line)) }
    }
}

extension StoreDocument.Push {
    fileprivate init(_ binding: PushBinding) {
        (provider, identifier, parameter) = (
            binding.provider.description, binding.identifier.description, binding.parameter?.description
        )
        (keptUntil, device) = (binding.keptUntil.timeIntervalSince1970, binding.device?.description)
    }

    fileprivate var binding: PushBinding {
        PushBinding(
            provider: Text(provider), identifier: Text(identifier), parameter: parameter.map { Text($0) },
            keptUntil: Date(timeIntervalSince1970: keptUntil), device: device.map { Text($0) })
    }
}

extension StoreDocument.Recent {
    fileprivate init(_ call: RecentCall) {
        (id, direction, handleType, handle, name) = (call.id, call.direction.rawValue, call.handleType.rawValue, call.handle, call.name)
        (began, connected) = (call.began.timeIntervalSince1970, call.connected?.timeIntervalSince1970)
        (ended, outcome, reason) = (call.ended.timeIntervalSince1970, call.outcome.rawValue, call.reason)
    }

    fileprivate func call(of line: String) -> RecentCall? {
        guard let direction = RecentCall.Direction(rawValue: direction), let type = CXHandle.HandleType(rawValue: handleType),
            let outcome = RecentCall.Outcome(rawValue: outcome)
        else { return nil }
        return RecentCall(
            id: id, line: line, direction: direction, handleType: type, handle: handle, name: name,
            began: Date(timeIntervalSince1970: began), connected: connected.map(Date.init(timeIntervalSince1970:)),
            ended: Date(timeIntervalSince1970: ended), outcome: outcome, reason: reason)
    }
}

extension StoreDocument.Message {
    fileprivate init(_ message: MailboxMessage) {
        (id, caller, name, called) = (message.id, message.caller, message.name, message.called)
        (received, duration) = (message.received.timeIntervalSince1970, message.duration)
        (path, isHeard) = (message.path, message.isHeard)
    }

    fileprivate func message(of line: String) -> MailboxMessage {
        MailboxMessage(
            id: id, line: line, caller: caller, name: name, called: called, received: Date(timeIntervalSince1970: received),
            duration: duration, path: path, isHeard: isHeard)
    }
}

extension StoreDocument.Registration {
    fileprivate init(_ saved: SavedRegistration) {
        (user, contact, path, transport) = (saved.user, saved.contact, saved.path, saved.transport)
        (local, remote, userAgent) = (saved.local, saved.remote, saved.userAgent)
        (callID, cseq) = (saved.callID, saved.cseq)
        (refreshed, expiry) = (saved.refreshed.timeIntervalSince1970, saved.expiry.timeIntervalSince1970)
    }

    fileprivate var saved: SavedRegistration {
        SavedRegistration(
            user: user, contact: contact, path: path, transport: transport, local: local, remote: remote, userAgent: userAgent,
            callID: callID, cseq: cseq, refreshed: Date(timeIntervalSince1970: refreshed), expiry: Date(timeIntervalSince1970: expiry))
    }
}
