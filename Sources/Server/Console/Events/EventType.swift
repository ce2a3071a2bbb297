import CallJournal
import Primitives

/// The events that are told outside, by name.
public enum EventType: String, CaseIterable, Sendable {
    case serverStarted = "server.started"
    case serverStopped = "server.stopped"
    case serverReloaded = "server.reloaded"
    case overload

    case callIncoming = "call.incoming"
    case callFiltered = "call.filtered"
    case callRefused = "call.refused"
    case callStarted = "call.started"
    case callConnecting = "call.connecting"
    case callConnected = "call.connected"
    case callUpdated = "call.updated"
    case callHeld = "call.held"
    case callResumed = "call.resumed"
    case callMuted = "call.muted"
    case callUnmuted = "call.unmuted"
    case callGrouped = "call.grouped"
    case callRemoteHold = "call.remote-hold"
    case callDigits = "call.digits"
    case callTransferred = "call.transferred"
    case callTransferFailed = "call.transfer-failed"
    case callEnded = "call.ended"

    case transactionAccepted = "transaction.accepted"
    case transactionRefused = "transaction.refused"
    case actionFulfilled = "action.fulfilled"
    case actionFailed = "action.failed"
    case actionTimedOut = "action.timed-out"

    case mediaOpened = "media.opened"
    case mediaStarted = "media.started"
    case mediaStopped = "media.stopped"
    case mediaClosed = "media.closed"
    case sessionActivated = "session.activated"
    case sessionDeactivated = "session.deactivated"
    case recordingStarted = "recording.started"
    case recordingEnded = "recording.ended"
    case streamStarted = "stream.started"
    case streamPaused = "stream.paused"
    case streamStopped = "stream.stopped"

    case lineRegistered = "line.registered"
    case lineUnregistered = "line.unregistered"
    case lineRegistrationRefused = "line.registration-refused"
    case lineDoNotDisturb = "line.dnd"
    case lineBlocked = "line.blocked"
    case mailboxMessage = "mailbox.message"
    case menuEntered = "menu.entered"
    case menuChoice = "menu.choice"
    case menuFailed = "menu.failed"
    case queueEntered = "queue.entered"
    case queueOffered = "queue.offered"
    case queueAnswered = "queue.answered"
    case queueLeft = "queue.left"
    case trunkState = "trunk.state"
    case hookAsked = "hook.asked"
    case hookAnswered = "hook.answered"
    case hookDefaulted = "hook.defaulted"
    case violation
}

extension EventType {
    /// The types of a name: one, or with `.*` at its end all of a kind; nil: there is none.
    public static func named(_ name: String) -> Set<EventType>? {
        let found =
            name.hasSuffix(".*") ? allCases.filter { $0.rawValue.hasPrefix(name.dropLast()) } : EventType(rawValue: name).map { [$0] } ?? []
        return found.isEmpty ? nil : Set(found)
    }

    /// The public type of a journal event; nil: the event is not public.
    ///
    /// - Parameter isOn: of an action of this event that switches something: what it switches to.
    init?(_ event: borrowing JournalEvent, isOn: Bool?) {
        switch event.kind {
        case .actionFulfilled: self = Self.fulfilled(event.details.text(.class)?.description ?? "", isOn: isOn ?? false)
        case .registerAccepted: self = event.details.number(.expires) ?? 0 > 0 ? .lineRegistered : .lineUnregistered
        default:
            guard let type = Self.byKind[event.kind] else { return nil }
            self = type
        }
    }

    /// Whether events of the kind are told, or tell something of one that is.
    static func concerns(_ kind: JournalEvent.Kind) -> Bool {
        switch kind {
        case .actionFulfilled, .registerAccepted, .performHeld, .performMuted, .performGroup, .sipSent, .sipReceived, .inviteReceived,
            .reportIncoming, .reportEnded, .lineConfigured:
            true
        default: byKind[kind] != nil
        }
    }

    private static func fulfilled(_ action: String, isOn: Bool) -> EventType {
        switch action {
        case "answer": .callConnected
        case "held": isOn ? .callHeld : .callResumed
        case "muted": isOn ? .callMuted : .callUnmuted
        case "group": .callGrouped
        default: .actionFulfilled
        }
    }

    static let byKind: [JournalEvent.Kind: EventType] = [
        .gatewayStarted: .serverStarted, .gatewayStopped: .serverStopped, .configurationReloaded: .serverReloaded, .overload: .overload,
        .reportIncomingAccepted: .callIncoming, .reportIncomingRefused: .callFiltered, .callRefused: .callRefused,
        .performStart: .callStarted, .reportConnecting: .callConnecting, .reportConnected: .callConnected, .reportUpdated: .callUpdated,
        .remoteHold: .callRemoteHold, .dtmfReceived: .callDigits, .transferred: .callTransferred, .transferFailed: .callTransferFailed,
        .callEnded: .callEnded, .transactionAccepted: .transactionAccepted, .transactionRefused: .transactionRefused,
        .actionFailed: .actionFailed, .actionTimedOut: .actionTimedOut, .mediaOpened: .mediaOpened, .mediaStarted: .mediaStarted,
        .mediaStopped: .mediaStopped, .mediaClosed: .mediaClosed, .sessionActivated: .sessionActivated,
        .sessionDeactivated: .sessionDeactivated, .recordingStarted: .recordingStarted, .recordingEnded: .recordingEnded,
        .registerRefused: .lineRegistrationRefused, .registerExpired: .lineUnregistered, .doNotDisturbChanged: .lineDoNotDisturb,
        .blockListChanged: .lineBlocked, .mailboxMessage: .mailboxMessage, .trunkState: .trunkState, .auditViolation: .violation,
        .streamStarted: .streamStarted, .streamPaused: .streamPaused, .streamStopped: .streamStopped,
        .menuEntered: .menuEntered, .menuChoice: .menuChoice, .menuFailed: .menuFailed, .queueEntered: .queueEntered,
        .queueOffered: .queueOffered, .queueAnswered: .queueAnswered, .queueLeft: .queueLeft,
        .hookAsked: .hookAsked, .hookAnswered: .hookAnswered, .hookDefaulted: .hookDefaulted,
    ]
}
