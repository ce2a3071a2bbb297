import Foundation
import Primitives
import SDP
import SIP
import UserAgent

/// An answered call as gateways that share a database keep it for each other, beside its dialog: all that another one needs to go on with
/// it, or why it cannot.
public struct SavedCall: Sendable, Equatable, Codable {
    /// The reason why the call can only be ended when its gateway dies; nil: another one can go on with it.
    public var obstacle: Obstacle?
    /// The INVITE was the gateway's.
    public var isCaller: Bool
    /// The other call of the conversation was made for this one.
    public var isFirst: Bool
    /// Seconds since 1970.
    public var answered: Double
    /// The line whose device the far end is; nil: it is none.
    public var device: String?
    /// The far end may have the one that it talks with transferred.
    public var mayTransfer: Bool
    /// The `o=` of the gateway's descriptions.
    public var session: UInt64, version: UInt64
    /// Values of `a=rtpmap` that the session has had.
    public var payloadTypes: [String]
    /// The codecs that were agreed, as in `a=rtpmap` without their numbers.
    public var codecs: [String]
    /// Keys were exchanged in the descriptions (SDES).
    public var isEncrypted: Bool

    /// A reason why a call cannot go on at another gateway.
    public enum Obstacle: String, Sendable, Codable, CaseIterable {
        /// One of the two holds.
        case held
        /// Its media is encrypted with keys of a handshake, or has connectivity checks.
        case dtls, ice
        /// An application, or a program, speaks and hears.
        case application
        case conference
        /// A transfer is under way.
        case transfer
        /// A call without a partner.
        case alone
        /// The far end has taken the sound away.
        case noAudio = "no-audio"
        /// The gateway has called itself.
        case own
    }
}

extension SavedCall {
    /// The call of a leg that is connected.
    /// - Parameter answered: when it was.
    init(_ leg: Leg, in table: CallTable, answered: Date) {
        let identity = leg.call.negotiation.identity
        self.init(
            obstacle: Self.obstacle(to: leg, in: table), isCaller: leg.session?.role == .caller,
            isFirst: table.bridge(of: leg)?.caller == leg.uuid, answered: answered.timeIntervalSince1970,
            device: (leg.direction == .incoming ? leg.origin?.line : leg.lines.device)?.configuration.number.description,
            mayTransfer: leg.mayTransfer, session: identity.id,
            version: identity.version, payloadTypes: identity.payloadTypes.map(\.description),
            codecs: leg.call.agreed?.codecs.map(\.codec.map.description) ?? [], isEncrypted: leg.call.agreed?.security.hasKeys ?? false)
    }

    private static func obstacle(to leg: Leg, in table: CallTable) -> Obstacle? {
        if leg.application != nil || leg.sound.stream != nil { return .application }
        guard leg.sound.place == .partner else { return leg.sound.place == .alone ? .alone : .conference }
        guard let agreed = leg.call.agreed, !leg.call.hasNoAudio else { return .noAudio }
        guard case .joined = table.bridge(of: leg)?.state, leg.transfer == nil else { return .transfer }
        if leg.call.isHeld || leg.call.isHeldByRemote || leg.hold.isEntertained { return .held }
        if case .dtls = agreed.security { return .dtls }
        if agreed.ice != nil { return .ice }
        return leg.session?.isToOurselves == true || leg.context.policy.isOurs(leg.flow) ? .own : nil
    }

    /// The codecs to offer: those that were agreed, as this gateway describes them.
    func codecs(of known: [Codec]) -> [Codec] { codecs.compactMap { name in known.first { $0.map == Text(name) } } }

    /// The session as its next description goes on. Versions of which the row does not know may have been sent.
    var identity: SessionIdentity {
        SessionIdentity(id: session, version: version + UInt64(SavedDialog.unknownRequests), payloadTypes: payloadTypes.map { Text($0) })
    }
}

extension NegotiatedSecurity {
    fileprivate var hasKeys: Bool { if case .keys = self { true } else { false } }
}

/// A dialog of a gateway that has died, which this one goes on with.
final class Adoption {
    let orphan: OrphanedDialog
    let dialog: Dialog
    let call: SavedCall

    init(_ orphan: OrphanedDialog, _ dialog: Dialog, _ call: SavedCall) { (self.orphan, self.dialog, self.call) = (orphan, dialog, call) }

    var answered: Date { Date(timeIntervalSince1970: call.answered) }
}
