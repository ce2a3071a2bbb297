import CallKit
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import SIP
import UserAgent

/// The requests of the control interface to a gateway: the only way into its signalling lane.
///
/// Any thread; each returns at once. A completion is called on the signalling lane, and never once the gateway has stopped.
public protocol GatewayControl: Sendable {
    func request(_ order: TransactionOrder, then: @escaping @Sendable (Result<TransactionReceipt, TransactionOrderError>) -> Void)
    func lineSummaries(then: @escaping @Sendable ([LineSummary]) -> Void)
    func recents(ofLines numbers: Set<Text>, then: @escaping @Sendable ([Text: [RecentCall]]) -> Void)
    func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void)
    func setBlocked(_ isBlocked: Bool, caller: CXHandle, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void)
    func refer(_ call: UUID, to target: URI, then: @escaping @Sendable (Bool) -> Void)
    func attachStream(_ attachment: StreamAttachment, to call: UUID, then: @escaping @Sendable (Result<UInt64, StreamRefusal>) -> Void)
    func connect(_ connection: ReleasedConnection, toStream id: UInt64)
    func detachStream(from call: UUID, then: @escaping @Sendable (Bool) -> Void)
    func drain()
    func queueSummaries(then: @escaping @Sendable ([QueueSummary]) -> Void)
    func mailboxSummaries(then: @escaping @Sendable ([MailboxSummary]) -> Void)
    func setHeard(_ isHeard: Bool, message id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void)
    func removeMessage(_ id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void)
    func trunkSummaries(then: @escaping @Sendable ([TrunkSummary]) -> Void)
    func mediaStatistics(of calls: [UUID], then: @escaping @Sendable ([UUID: MediaStatistics]) -> Void)
    func unregister(_ contact: Text, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void)
    /// nil: it has stopped. Waits for the signalling lane.
    var figures: GatewayFigures? { get }
    var directorySummaries: [DirectorySummary] { get }
    func reloadDirectory(_ name: String) -> Bool
    /// nil: messages are not traced.
    var trace: MessageTrace? { get }
}

extension GatewayServer: GatewayControl {}
