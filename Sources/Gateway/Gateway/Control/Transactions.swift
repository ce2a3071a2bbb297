import CallKit
import Foundation
import Primitives

/// Requests transactions that come from outside of the line's telephones. Lives on the signalling lane.
final class Transactions {
    private let table: CallTable
    private let originations: Originations

    init(_ table: CallTable, _ originations: Originations) { (self.table, self.originations) = (table, originations) }

    /// Legs of starts are there before the request, as it performs them at once; where it is refused they are let go again.
    func request(_ order: TransactionOrder, isDraining: Bool) throws(TransactionOrderError) -> TransactionReceipt {
        let line = try line(of: order)
        var starts: [Originations.Start] = []
        do throws(TransactionOrderError) {
            let actions = try order.actions.map { action throws(TransactionOrderError) in
                try self.action(action, of: line, &starts, isDraining: isDraining)
            }
            let transaction = CXTransaction(uuid: order.id ?? originations.randomUUID(), hookswitchActions: actions)
            try request(transaction, of: line)
            for start in starts { originations.ringOthers(start) }
            return TransactionReceipt(
                id: transaction.uuid, line: line.configuration.number,
                actions: zip(actions, order.actions).map { .init(id: $0.uuid, call: $0.callUUID, name: $1.name) })
        } catch {
            for start in starts { originations.discard(start) }
            throw error
        }
    }

    private func line(of order: TransactionOrder) throws(TransactionOrderError) -> Line {
        if let number = order.line {
            guard let line = table.lines.line(numbered: number) else { throw .noLine(number) }
            return line
        }
        guard !order.actions.isEmpty else { throw .refused(.emptyTransaction) }
        guard let line = order.actions.lazy.compactMap(\.call).compactMap(table.leg).first?.line else { throw .refused(.unknownCallUUID) }
        return line
    }

    private func action(
        _ action: TransactionOrder.Action, of line: Line, _ starts: inout [Originations.Start], isDraining: Bool
    ) throws(TransactionOrderError) -> CXCallAction {
        switch action {
        case .start(let call, let request):
            guard call.map({ !table.isTaken($0) }) ?? true else { throw .refused(.callUUIDAlreadyExists) }
            do throws(CallRequestError) {
                let start = try originations.prepare(request, of: line, as: call, isDraining: isDraining)
                starts.append(start)
                return CXStartCallAction(call: start.first.uuid, handle: start.handle)
            } catch { throw .start(error) }
        case .answer(let call): return CXAnswerCallAction(call: call)
        case .end(let call): return CXEndCallAction(call: call)
        case .setHeld(let call, let isHeld): return CXSetHeldCallAction(call: call, onHold: isHeld)
        case .setGroup(let call, let other): return CXSetGroupCallAction(call: call, callUUIDToGroupWith: other)
        case .setMuted(let call, let isMuted): return CXSetMutedCallAction(call: call, muted: isMuted)
        case .playDTMF(let call, let digits): return CXPlayDTMFCallAction(call: call, digits: digits, type: .singleTone)
        }
    }

    /// The system of a line answers at once.
    private func request(_ transaction: CXTransaction, of line: Line) throws(TransactionOrderError) {
        var refusal: (any Error)?
        line.calls.request(transaction) { refusal = $0 }
        guard let refusal else { return }
        throw .refused((refusal as? CXErrorCodeRequestTransactionError)?.code ?? .unknown)
    }
}
