import CallJournal
import CallKit
import Calls
import Foundation
import Primitives

/// Events that a line tells its app, in the order in which they happened. Told on the line's queue, inside of the turn of the event.
public enum AppLineEvent: Sendable {
    /// The server knows where we are, for so many seconds; it is refreshed before.
    case registered(seconds: UInt32)
    /// It is tried again.
    case registrationFailed(status: Int)
    /// The server has forgotten us, as we asked.
    case unregistered
    /// Somebody calls: report it to CallKit under this UUID, and let it `ring` when that was accepted.
    case incoming(UUID, AppCaller)
    /// The app reports the call of an `.incoming` under a UUID of its own: events name it by that from here on, and the line's methods take
    /// both. Its report is neither accepted nor refused yet.
    case adopted(UUID, as: UUID)
    /// The app has reported a call that the line does not have, as when no INVITE waits: it ends with `.failed` at once.
    case reportedUnknown(UUID)
    /// A start that was asked for names nobody that can be called: it has failed, as the action will.
    case cannotCall(UUID, String)
    /// An outgoing call rings somewhere. Report it.
    case connecting(UUID)
    /// An outgoing call was answered. Report it; what the app does not report before it returns, the line reports.
    case connected(UUID)
    /// The network has ended the call, or never let it be. Report it; what the app does not report or end before it returns, the line
    /// reports.
    case ended(UUID, CXCallEndedReason)
    /// An event that CallKit has no word for. The delegate of the call's provider is told, too, when it is a `CallExtensionDelegate`.
    case extended(UUID, CallExtension)
    /// The first packet of sound left, or arrived, after a start.
    case firstSent(UUID, Instant), firstReceived(UUID, Instant)
    /// The call has ended, its sockets are closed and its port number has been given back; at once where it never came to the network.
    case released(UUID, Instant)
    /// The journal's audit found something wrong.
    case violation(Violation)
    /// The journal's audit found something that telephones put up with, and that is better not done.
    case advice(Violation)
}

/// The caller.
public struct AppCaller: Hashable, Sendable {
    /// A number, or an address as `sip:user@host`.
    public var handle: String
    /// Whether `handle` is a telephone number.
    public var isNumber: Bool
    /// The caller's display name; nil where it gives none, or does not want to be named.
    public var name: String?
}
