import CallKit
import Foundation
import Primitives

/// A CXTransaction that somebody outside wants: actions on the calls of one line, accepted or refused as one.
public struct TransactionOrder: Sendable, Equatable {
    /// An action on one call.
    public enum Action: Sendable, Equatable {
        /// CXStartCallAction: the line's devices ring, and the one that answers is connected with whom is called. The call is that of the
        /// first device; nil: the gateway names it.
        case start(call: UUID?, CallRequest)
        /// CXAnswerCallAction of an incoming call that rings. Devices that ring for it go on ringing, and the first that answers joins.
        case answer(UUID)
        /// CXEndCallAction.
        case end(UUID)
        /// CXSetHeldCallAction.
        case setHeld(UUID, Bool)
        /// CXSetGroupCallAction: it talks with all that the other call, of the same line, talks with; nil: it is taken out and waits alone.
        case setGroup(UUID, with: UUID?)
        /// CXSetMutedCallAction: the far end hears silence.
        case setMuted(UUID, Bool)
        /// CXPlayDTMFCallAction: the far end gets these keys (0–9, `*`, `#`, A–D).
        case playDTMF(UUID, digits: String)
    }

    /// The UUID of the transaction; nil: the gateway names it.
    public var id: UUID?
    /// The line whose system is asked; nil: that of the first call.
    public var line: Text?
    /// In the order in which they are performed.
    public var actions: [Action]

    /// - Parameters:
    ///   - id: nil: the gateway names it.
    ///   - line: its number; nil: that of the first call.
    ///   - actions: in the order in which they are performed.
    public init(id: UUID? = nil, line: Text? = nil, actions: [Action]) { (self.id, self.line, self.actions) = (id, line, actions) }
}

extension TransactionOrder.Action {
    /// The call that it is about; nil for a start whose call the gateway names.
    public var call: UUID? {
        switch self {
        case .start(let call, _): call
        case .answer(let call), .end(let call), .setHeld(let call, _), .setGroup(let call, _), .setMuted(let call, _),
            .playDTMF(let call, _):
            call
        }
    }

    /// The name of its class.
    public var name: String {
        switch self {
        case .start: "CXStartCallAction"
        case .answer: "CXAnswerCallAction"
        case .end: "CXEndCallAction"
        case .setHeld: "CXSetHeldCallAction"
        case .setGroup: "CXSetGroupCallAction"
        case .setMuted: "CXSetMutedCallAction"
        case .playDTMF: "CXPlayDTMFCallAction"
        }
    }
}

/// A transaction that was accepted.
public struct TransactionReceipt: Sendable, Equatable {
    /// One of its actions, by the UUIDs that the journal has.
    public struct Action: Sendable, Equatable {
        public var id: UUID, call: UUID
        /// The name of its class.
        public var name: String
    }

    public var id: UUID
    /// The number of the line.
    public var line: Text
    public var actions: [Action]
}

/// Why a transaction was not accepted: nothing of it is performed.
public enum TransactionOrderError: Error, Equatable, Sendable {
    /// There is no such line.
    case noLine(Text)
    /// The system's own reason.
    case refused(CXErrorCodeRequestTransactionError.Code)
    /// A start that cannot be: no route, no device, no room and the like.
    case start(CallRequestError)
    /// The gateway has stopped.
    case stopped
}
