import CallKit
import Primitives
import SIP

/// The class of an action, as `actions` and `class` name it.
package enum ActionClass: String, CaseIterable, Sendable {
    case start, answer, end, held, group, muted, dtmf, translating
    /// Any other name.
    case other

    init(_ name: Text) { self = Self.named.first { $0.name == name }?.kind ?? .other }

    private static let named = allCases.map { (name: Text($0.rawValue), kind: $0) }
    private static let startName = Text(start.rawValue), answerName = Text(answer.rawValue), endName = Text(end.rawValue),
        groupName = Text(group.rawValue)

    /// Its text; that of what every call has is made once.
    package var name: Text {
        switch self {
        case .start: Self.startName
        case .answer: Self.answerName
        case .end: Self.endName
        case .group: Self.groupName
        case .held, .muted, .dtmf, .translating, .other: Text(rawValue)
        }
    }
}

extension CallAction.Kind {
    /// As the journal has it.
    package var actionClass: ActionClass {
        switch self {
        case .start: .start
        case .answer: .answer
        case .end: .end
        case .hold: .held
        case .mute: .muted
        case .group: .group
        case .tones: .dtmf
        case .translate: .translating
        case .other: .other
        }
    }
}

extension [CallAction] {
    /// As `actions` has them: `answer:…` with the action's UUID; blanks between them.
    var text: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(48 * count)
        for action in self {
            if !bytes.isEmpty { bytes.append(0x20) }
            bytes.append(contentsOf: action.kind.actionClass.name.bytes)
            bytes.append(0x3A)
            CallUUID(action.uuid).append(to: &bytes)
        }
        return Text(bytes)
    }
}

/// An action of a transaction, by its identity.
struct ListedAction {
    let kind: ActionClass
    let action: JournalEvent.Value
}

/// The time that an action may take before the system calls it failed (mapping §10).
enum ActionLimits {
    static let longest = Duration.seconds(600)

    static func limit(of kind: ActionClass) -> Duration {
        switch kind {
        case .start: longest
        case .answer: .seconds(60)
        default: .seconds(5)
        }
    }
}

extension JournalEvent {
    /// The actions of a transaction, in order.
    var listedActions: [ListedAction] {
        if case .actions(let actions)? = details[.actions] {
            return actions.map { ListedAction(kind: $0.kind.actionClass, action: .init($0.uuid)) }
        }
        guard let list = details.text(.actions) else { return [] }
        var actions: [ListedAction] = []
        var rest = list.bytes
        while !rest.isEmpty {
            let item = rest.prefix { $0 != 0x20 }, name = item.prefix { $0 != 0x3A }
            if !item.isEmpty {
                actions.append(
                    ListedAction(kind: ActionClass(Text(name)), action: Value.text(Text(item[name.endIndex...].dropFirst())).identity))
            }
            rest = rest[item.endIndex...].dropFirst()
        }
        return actions
    }

    /// The identity of the event's action.
    var action: Value? { details[.action]?.identity }

    /// When the event's action was made, where the event says so.
    var createdAt: Instant? { details.number(.created).flatMap(UInt64.init(exactly:)).map(Instant.init(nanoseconds:)) }

    /// Whether the audit begins to remember a call with this event: late echoes of a call that was forgotten do not revive it.
    func beginsFacts(_ message: AuditMessage?) -> Bool {
        switch kind {
        case .sipReceived, .sipSent: message?.isRequest(.invite) ?? false
        case .reportIncoming, .mediaReserved: true
        default: kind.isPerform
        }
    }
}

extension JournalEvent.Kind {
    var isPerform: Bool {
        switch self {
        case .performStart, .performAnswer, .performEnd, .performHeld, .performGroup, .performMuted, .performDTMF: true
        default: false
        }
    }
}

extension JournalEvent.Value {
    /// Identities are compared however they were written: as text, as a UUID or as a number.
    var identity: Self {
        guard case .text(let text) = self else { return self }
        return CallUUID(text).map(Self.uuid) ?? text.integer(Int64.self).map(Self.number) ?? self
    }
}
