import CallJournal
import CallKit
import Foundation
import Gateway
import Primitives
import Synchronization

/// Transactions for one call that is not there yet, in the words of `POST /v1/transactions`: an action without a `call` is one on that call.
public struct CallTransactions: Decodable, Sendable {
    /// Why they are none.
    public struct Fault: Error, CustomStringConvertible { public let description: String }

    private static let most = 16
    private let orders: [@Sendable (UUID) -> TransactionOrder]

    public init(from decoder: any Decoder) throws {
        let bodies = try [TransactionBody](from: decoder)
        guard bodies.count <= Self.most else { throw Fault(description: "transactions: \(Self.most) at most") }
        orders = try bodies.enumerated().map { index, body in
            do throws(Problem) { _ = try Self.order(body, UUID()) } catch {
                throw Fault(description: "transactions[\(index)]: \(error.detail)")
            }
            return { call in (try? Self.order(body, call)) ?? TransactionOrder(actions: []) }
        }
    }

    private static func order(_ body: TransactionBody, _ call: UUID) throws(Problem) -> TransactionOrder {
        var body = body
        for index in body.actions.indices where body.actions[index].type != "CXStartCallAction" {
            body.actions[index].call = body.actions[index].call ?? call
        }
        return try body.order()
    }

    fileprivate func orders(for call: UUID) -> [TransactionOrder] { orders.map { $0(call) } }
}

/// Requests the transactions that somebody has for calls that come, when they are reported: one after the other, each when the actions of the
/// one before are fulfilled. One that is refused, or fails, is the last; the journal has it.
///
/// Thread-safe.
public final class CallTransactionsDesk: Sendable {
    private struct Run {
        var left: ArraySlice<TransactionOrder>
        /// Actions that are to be fulfilled before the next; nil: they were asked for, and it is not known which they are.
        var waiting: Set<UUID>? = []
        /// Outcomes of actions that came first.
        var early: [UUID: Bool] = [:]
    }

    private struct State {
        var gateway: (any GatewayControl)?
        /// By the Call-ID of the INVITE, oldest first.
        var expected: [(callID: Text, transactions: CallTransactions)] = []
        var runs: [CallUUID: Run] = [:]
    }

    private static let mostExpected = 1_000
    private let state = Mutex(State())

    public init() {}

    /// - Parameter gateway: that has the calls.
    public func begin(_ gateway: any GatewayControl) { state.withLock { $0.gateway = gateway } }

    /// Keeps transactions for the call of an INVITE that is not reported yet.
    public func expect(_ transactions: CallTransactions, forCallID callID: Text) {
        state.withLock { state in
            if state.expected.count >= Self.mostExpected { state.expected.removeFirst() }
            state.expected.append((callID, transactions))
        }
    }

    /// An event of the journal. On the signalling lane.
    public func note(_ event: borrowing JournalEvent) {
        guard let call = event.call, state.withLock({ !$0.expected.isEmpty || !$0.runs.isEmpty }) else { return }
        let next = state.withLock { [event = copy event] state in Self.note(event, call, &state) }
        if let (order, gateway) = next { request(order, of: call, gateway) }
    }

    private static func note(_ event: JournalEvent, _ call: CallUUID, _ state: inout State) -> (TransactionOrder, any GatewayControl)? {
        switch event.kind {
        case .inviteReceived:
            let callID = event.details.text(.callid)
            guard let index = state.expected.firstIndex(where: { $0.callID == callID }) else { return nil }
            let transactions = state.expected.remove(at: index).transactions
            state.runs[call] = Run(left: transactions.orders(for: call.uuid)[...])
        case .reportIncomingAccepted: return next(call, &state)
        case .reportIncomingRefused, .callRefused, .callEnded: state.runs[call] = nil
        case .actionFulfilled, .actionFailed, .actionTimedOut:
            guard let action = event.details.uuid(.action).map(\.uuid) else { return nil }
            return end(action, isFulfilled: event.kind == .actionFulfilled, call, &state)
        default: break
        }
        return nil
    }

    private static func next(_ call: CallUUID, _ state: inout State) -> (TransactionOrder, any GatewayControl)? {
        guard let gateway = state.gateway, let order = state.runs[call]?.left.popFirst() else {
            state.runs[call] = nil
            return nil
        }
        state.runs[call]?.waiting = nil
        state.runs[call]?.early = [:]
        return (order, gateway)
    }

    private static func end(
        _ action: UUID, isFulfilled: Bool, _ call: CallUUID, _ state: inout State
    ) -> (TransactionOrder, any GatewayControl)? {
        guard var waiting = state.runs[call]?.waiting else {
            state.runs[call]?.early[action] = isFulfilled
            return nil
        }
        guard waiting.remove(action) != nil else { return nil }
        guard isFulfilled else {
            state.runs[call] = nil
            return nil
        }
        state.runs[call]?.waiting = waiting
        return waiting.isEmpty ? next(call, &state) : nil
    }

    private func request(_ order: TransactionOrder, of call: CallUUID, _ gateway: any GatewayControl) {
        gateway.request(order) { [self] result in
            let next = state.withLock { state in Self.take(result, call, &state) }
            if let (order, gateway) = next { request(order, of: call, gateway) }
        }
    }

    private static func take(
        _ result: Result<TransactionReceipt, TransactionOrderError>, _ call: CallUUID, _ state: inout State
    ) -> (TransactionOrder, any GatewayControl)? {
        guard case .success(let receipt) = result, let early = state.runs[call]?.early,
            !receipt.actions.contains(where: { early[$0.id] == false })
        else {
            state.runs[call] = nil
            return nil
        }
        // Nothing is waited for of other calls.
        let waiting = Set(receipt.actions.filter { $0.call == call.uuid && early[$0.id] == nil }.map(\.id))
        state.runs[call]?.waiting = waiting
        return waiting.isEmpty ? next(call, &state) : nil
    }
}
