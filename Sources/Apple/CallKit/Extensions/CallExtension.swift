import Foundation
import Primitives

/// Events of a call on a network that CallKit has no word for. Nothing here exists on a telephone: code that is to run there as well
/// keeps it apart.
///
/// It is told like everything else: whoever knows reports it (`CXProvider.report(_:of:)`), and the provider's delegate hears of it in its
/// turn, when it is a `CallExtensionDelegate`. It changes nothing that CallKit knows: a call that the far end holds is not `isOnHold`.
public enum CallExtension: Hashable, Sendable {
    /// An outgoing call rings, or is being looked for: the status of a provisional response, 101–199.
    case progress(status: Int)
    /// The far end holds us, or takes us back.
    case remoteHold(Bool)
    /// The far end pressed a key: `0`–`9`, `*`, `#`, `A`–`D`. Once, whether it came in the media (RFC 4733) or by INFO.
    case digit(Character)
    /// The far end asks that we call somebody else in its place.
    case transferRequested(to: String)
    /// The progress of a transfer that the far end makes for us, or that we make for it: the status of the new call. A status of 200 or
    /// more is the last.
    case transferProgress(status: Int)
    /// The call goes on under the same UUID, with somebody else.
    case transferred(to: String)
    /// At the end of its media.
    case mediaStatistics(CallMediaStatistics)
}

/// The figures that were measured of a call's media. A figure that was not measured is nil.
public struct CallMediaStatistics: Hashable, Sendable {
    public var packetsSent: UInt64 = 0, packetsReceived: UInt64 = 0
    /// Packets that were sent to us and were lost.
    public var packetsLost: Int64?
    /// Interarrival jitter of what was received (RFC 3550 §6.4.1).
    public var jitter: Duration?
    /// From here to the far end and back.
    public var roundTrip: Duration?
    /// Mean opinion score of what was received, 1–4.5 (ITU-T G.107).
    public var score: Double?

    public init() {}
}

/// A provider's delegate that also wants to know what CallKit has no word for.
public protocol CallExtensionDelegate: CXProviderDelegate {
    /// In order with all other callbacks of the provider, on its queue. The call may have ended: its statistics come when its media is
    /// closed.
    func provider(_ provider: CXProvider, call: UUID, did event: CallExtension)
}

extension CXProvider {
    /// Reports what CallKit has no word for, about a call of this provider. Ignored when nobody wants to know.
    public func report(_ event: CallExtension, of call: UUID) { system.report(event, of: call, by: number) }

    /// The account that this provider's calls belong to: the line of a gateway, or of an app. CallKit has one telephone; a gateway has one
    /// for each line.
    public var account: String? { system.configuration.account }
}

extension CXCallController {
    /// The account whose calls this controller asks for.
    public var account: String? { system.configuration.account }
}

extension CallSystem {
    /// Reports an event of the network of a call, where the app's provider has not said it: `CXProvider.report(_:of:)` without a provider
    /// at hand.
    public func report(_ event: CallExtension, of call: UUID) {
        guard let provider = self.call(call)?.provider else { return }
        report(event, of: call, by: provider)
    }

    /// The same for a provider that is known. Told for a call that has ended, too.
    ///
    /// - Parameters:
    ///   - event: what the network says.
    ///   - call: of which call.
    ///   - provider: its number, as `CallSnapshot.provider` has it.
    public func report(_ event: CallExtension, of call: UUID, by provider: Int) {
        guard self.provider(provider)?.delegate is any CallExtensionDelegate else { return }
        core.withLock { $0.deliveries.append(.extended(call, event, provider)) }
        settle()
    }
}
