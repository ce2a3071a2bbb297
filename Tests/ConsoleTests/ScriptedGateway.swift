import CallJournal
import CallKit
import Foundation
import HTTP
import Media
import Primitives
import RTP
import Runtime
import SIP
import Synchronization
import Testing
import UserAgent

@testable import Console
@testable import Gateway

/// A gateway that answers from a script, at once or when it is told to.
final class ScriptedGateway: GatewayControl {
    struct State {
        var orders: [TransactionOrder] = []
        var error: TransactionOrderError?
        /// Completions that wait.
        var waiting: [@Sendable () -> Void] = []
        var isSlow = false
        var lineAsks = 0, recentsAsks = 0
        var isDraining = false
        var isDoNotDisturbOn = false
        var recents: [RecentCall] = []
        var trace: MessageTrace?
        var statisticsAsks = 0
        /// Contacts that were taken away, and directories that were loaded anew.
        var unregistered: [Text] = [], reloaded: [String] = []
        /// Of the mailbox 1900.
        var messages: [MailboxMessage] = []
        /// Programs that were to be attached, and the call that has one.
        var attachments: [StreamAttachment] = [], callWithStream: UUID?
        /// Takes the connections of programs; nil: there is no call for them.
        var onProgram: (@Sendable (ReleasedConnection) -> Void)?
    }
    let state = Mutex(State())
    /// That of the first order; each has another.
    static let action = action(1)
    private static func action(_ order: Int) -> UUID {
        UUID(uuidString: "00000000-0000-0000-0000-0000000000" + (order < 10 ? "0" : "") + "\(order)")!
    }

    func request(_ order: TransactionOrder, then: @escaping @Sendable (Result<TransactionReceipt, TransactionOrderError>) -> Void) {
        let (error, isSlow, count) = state.withLock { state in
            state.orders.append(order)
            return (state.error, state.isSlow, state.orders.count)
        }
        let receipt = TransactionReceipt(
            id: order.id ?? UUID(), line: order.line ?? "1001",
            actions: order.actions.map { .init(id: Self.action(count), call: $0.call ?? UUID(), name: $0.name) })
        let answer: @Sendable () -> Void = { then(error.map(Result.failure) ?? .success(receipt)) }
        if isSlow { state.withLock { $0.waiting.append(answer) } } else { answer() }
    }

    func lineSummaries(then: @escaping @Sendable ([LineSummary]) -> Void) {
        let isOn = state.withLock { state in
            state.lineAsks += 1
            return state.isDoNotDisturbOn
        }
        then([
            LineSummary(
                number: "1001", name: "Alice", kind: .devices, isDoNotDisturbOn: isOn,
                devices: [.init(contact: "sip:a@x", agent: "phone", expires: 60)], blocked: ["+39"])
        ])
    }

    func recents(ofLines numbers: Set<Text>, then: @escaping @Sendable ([Text: [RecentCall]]) -> Void) {
        let recents = state.withLock { state in
            state.recentsAsks += 1
            return state.recents
        }
        let answer: @Sendable () -> Void = { then(numbers.contains("1001") ? ["1001": recents] : [:]) }
        let isSlow = state.withLock { state in
            if state.isSlow { state.waiting.append(answer) }
            return state.isSlow
        }
        if !isSlow { answer() }
    }
    func setDoNotDisturb(_ isOn: Bool, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        if number == "1001" { state.withLock { $0.isDoNotDisturbOn = isOn } }
        then(number == "1001")
    }
    func setBlocked(_ isBlocked: Bool, caller: CXHandle, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        then(number == "1001")
    }
    func refer(_ call: UUID, to target: URI, then: @escaping @Sendable (Bool) -> Void) { then(target.user == "1002") }
    func attachStream(_ attachment: StreamAttachment, to call: UUID, then: @escaping @Sendable (Result<UInt64, StreamRefusal>) -> Void) {
        let isThere = state.withLock { state in
            if state.onProgram != nil { (state.attachments, state.callWithStream) = (state.attachments + [attachment], call) }
            return state.onProgram != nil
        }
        then(isThere ? .success(7) : .failure(.noCall))
    }
    func connect(_ connection: ReleasedConnection, toStream id: UInt64) { state.withLock { $0.onProgram }?(connection) }
    func detachStream(from call: UUID, then: @escaping @Sendable (Bool) -> Void) {
        then(state.withLock { $0.callWithStream } == call)
    }
    func drain() { state.withLock { $0.isDraining = true } }

    func queueSummaries(then: @escaping @Sendable ([QueueSummary]) -> Void) {
        then([
            QueueSummary(
                line: "700", name: "support", strategy: .inTurn, length: 5,
                members: [.init(line: "1001", state: .ringing), .init(line: "1002", state: .busy)],
                callers: [.init(call: UUID(), waited: .milliseconds(1_500))], entered: 9, answered: 5, abandoned: 2, overflowed: 1,
                meanWait: .seconds(3))
        ])
    }

    func mailboxSummaries(then: @escaping @Sendable ([MailboxSummary]) -> Void) {
        then([
            MailboxSummary(line: "1900", name: "Office", messages: state.withLock { $0.messages }),
            MailboxSummary(line: "1001", name: nil, messages: []),
        ])
    }

    func setHeard(_ isHeard: Bool, message id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        then(
            state.withLock { state in
                guard number == "1900", let index = state.messages.firstIndex(where: { $0.id == id }) else { return false }
                state.messages[index].isHeard = isHeard
                return true
            })
    }

    func removeMessage(_ id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        then(
            state.withLock { state in
                guard number == "1900", let index = state.messages.firstIndex(where: { $0.id == id }) else { return false }
                state.messages.remove(at: index)
                return true
            })
    }

    func trunkSummaries(then: @escaping @Sendable ([TrunkSummary]) -> Void) {
        let server = TrunkSummary.Server(name: "carrier.test", address: anyLoopbackPort, transport: .udp, isDown: false)
        let down = TrunkSummary.Server(name: "carrier.test", address: anyLoopbackPort, transport: .udp, isDown: true)
        func trunk(_ line: Text, _ name: Text?, _ registration: TrunkSummary.Registration, _ servers: [TrunkSummary.Server]) -> TrunkSummary
        {
            TrunkSummary(
                line: line, name: name, registration: registration, registrationStatus: registration == .none ? nil : 403, servers: servers,
                isWatched: true, calls: 0, maximumCalls: 10)
        }
        then([
            trunk("800", "carrier", .none, [server, down]), trunk("801", nil, .unregistered, [server]), trunk("802", nil, .none, [down]),
            trunk("803", nil, .none, []),
        ])
    }

    func mediaStatistics(of calls: [UUID], then: @escaping @Sendable ([UUID: MediaStatistics]) -> Void) {
        state.withLock { $0.statisticsAsks += 1 }
        var statistics = MediaStatistics()
        statistics.receiving.packets = 77
        then(Dictionary(uniqueKeysWithValues: calls.map { ($0, statistics) }))
    }

    func unregister(_ contact: Text, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.unregistered.append(contact) }
        then(true)
    }

    var figures: GatewayFigures? { .idle }

    var directorySummaries: [DirectorySummary] {
        [DirectorySummary(name: "spam", blocked: 3, identified: 2, loaded: Date(timeIntervalSince1970: 0), failure: "no file")]
    }

    func reloadDirectory(_ name: String) -> Bool {
        state.withLock { $0.reloaded.append(name) }
        return name == "spam"
    }

    var trace: MessageTrace? { state.withLock { $0.trace } }
}
