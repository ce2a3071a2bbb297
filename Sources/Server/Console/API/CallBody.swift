import CallJournal
import Foundation
import Primitives

/// A call as `/v1/calls` shows it.
struct CallBody: Encodable {
    struct Heard: Encodable {
        /// Packets.
        var received: Int64, sent: Int64
        /// The sound from the far end, and ours as the far end reported it; null where nothing was measured.
        var incoming: String?, outgoing: String?
    }

    var id: String
    var line: String
    var direction: String
    var state: CallState.Phase
    var handle: String?
    var from: String?, to: String?
    var isOutgoing: Bool, isOnHold: Bool, isMuted: Bool, hasConnected: Bool, hasEnded: Bool
    var isHeldByRemote: Bool
    var groupedWith: [String]
    var sipCallID: String?
    var sipStatus: Int64?
    var codec: String?
    var began: String, connected: String?, ended: String?
    var endReason: String?, endedBy: String?, q850: Int64?
    var media: Heard?
    /// The gateway that has it, where several are asked.
    var node: String?

    /// - Parameter others: of its conversation.
    init(_ call: CallState, with others: [CallUUID]) {
        (id, line, state) = (call.id.description, call.line.description, call.phase)
        direction = call.isOutgoing ? "outgoing" : "incoming"
        (handle, from, to) = (call.remote?.description, call.from?.description, call.to?.description)
        (isOutgoing, isOnHold, isMuted, isHeldByRemote) = (call.isOutgoing, call.isOnHold, call.isMuted, call.isHeldByRemote)
        (hasConnected, hasEnded) = (call.connected != nil, call.phase == .ended)
        groupedWith = others.map(\.description)
        (sipCallID, sipStatus, codec) = (call.callID?.description, call.status, call.codec?.description)
        began = Timestamp(call.begun).description
        (connected, ended) = (call.connected.map { Timestamp($0).description }, call.ended.map { Timestamp($0).description })
        (endReason, endedBy, q850) = (call.endReason?.description, call.endedBy?.description, call.q850)
        if let received = call.received, let sent = call.sent {
            media = Heard(
                received: received, sent: sent, incoming: call.incomingBasis?.description, outgoing: call.outgoingBasis?.description)
        }
    }
}

/// A line as `/v1/lines` shows it.
struct LineBody: Encodable {
    struct Device: Encodable {
        var contact: String, agent: String?, expires: Int
    }

    var number: String, name: String?, kind: String
    var doNotDisturb: Bool
    var devices: [Device]
    var calls: Int
    var blocked: [String]
}

/// A recent call as `/v1/lines/{number}/recents` shows it.
struct RecentBody: Encodable {
    var id: UUID, direction: String, handle: String, name: String?
    var began: String, connected: String?, ended: String
    var outcome: String, reason: String
}
