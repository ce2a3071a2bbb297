import Foundation
import Primitives
import Runtime
import UserAgent

extension Gateway {
    /// Requests a transaction of a line's system, as its controller does. Its actions are performed, or wait for the network, when this
    /// returns: what becomes of each is in the journal (`action.fulfilled`, `action.failed`, `action.timeout`).
    ///
    /// - Returns: the transaction, accepted.
    public func request(_ order: TransactionOrder, at now: Instant) throws(TransactionOrderError) -> TransactionReceipt {
        enter(now)
        defer { settle() }
        return try Transactions(table, ringing.originations).request(order, isDraining: isDraining)
    }
}

extension GatewayServer {
    /// As ``Gateway/request(_:at:)``. Any thread; returns at once, and `then` is called on the signalling lane.
    public func request(_ order: TransactionOrder, then: @escaping @Sendable (Result<TransactionReceipt, TransactionOrderError>) -> Void) {
        lane.post { host, now in
            do throws(TransactionOrderError) {
                then(.success(try host.endpoint.request(order, at: now)))
            } catch { then(.failure(error)) }
        }
    }
}
