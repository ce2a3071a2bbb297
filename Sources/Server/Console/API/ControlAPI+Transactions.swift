import CallJournal
import CallKit
import Foundation
import Gateway
import HTTP
import Primitives
import SIP

// Transactions, and the short forms of those with one action.
extension ControlAPI {
    func addTransactions(to routes: inout HTTPRoutes) {
        routes.on(.post, "/v1/transactions") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let body = try JSONBody.decode(TransactionBody.self, ask.request.body, as: "Transaction")
                return try transact(body, ask, responder)
            }
        }
        routes.on(.get, "/v1/transactions/{id}") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let id = try uuid("id", in: ask)
                guard let reply = desk.outcome(of: id.uuidString, ask.grant) else {
                    throw .notFound("no transaction \(id) was asked for within the last hour, or its outcome is not known yet")
                }
                return reply
            }
        }
        routes.on(.post, "/v1/calls") { [unowned self] ask, responder in
            oneAction(ask, responder, as: "StartForm") { (form: StartForm) in
                TransactionBody.Action(type: "CXStartCallAction", call: form.id, handle: form.handle ?? form.to.map { .init(value: $0) })
            }
        }
        addShortForms(to: &routes)
    }

    private func addShortForms(to routes: inout HTTPRoutes) {
        for (path, type) in [("answer", "CXAnswerCallAction"), ("end", "CXEndCallAction")] {
            routes.on(.post, "/v1/calls/{id}/\(path)") { [unowned self] ask, responder in
                oneAction(ask, responder, as: "ActionForm") { (_: EmptyForm) in TransactionBody.Action(type: type) }
            }
        }
        routes.on(.post, "/v1/calls/{id}/hold") { [unowned self] ask, responder in
            oneAction(ask, responder, as: "HoldForm") { (form: HoldForm) in
                TransactionBody.Action(type: "CXSetHeldCallAction", onHold: form.onHold ?? true)
            }
        }
        routes.on(.post, "/v1/calls/{id}/mute") { [unowned self] ask, responder in
            oneAction(ask, responder, as: "MuteForm") { (form: MuteForm) in
                TransactionBody.Action(type: "CXSetMutedCallAction", muted: form.muted ?? true)
            }
        }
        routes.on(.post, "/v1/calls/{id}/group") { [unowned self] ask, responder in
            oneAction(ask, responder, as: "GroupForm") { (form: GroupForm) in
                TransactionBody.Action(type: "CXSetGroupCallAction", with: form.with)
            }
        }
        routes.on(.post, "/v1/calls/{id}/digits") { [unowned self] ask, responder in
            oneAction(ask, responder, as: "DigitsForm") { (form: DigitsForm) in
                TransactionBody.Action(type: "CXPlayDTMFCallAction", digits: form.digits)
            }
        }
        routes.on(.post, "/v1/calls/{id}/transfer") { [unowned self] ask, responder in
            answer(ask, responder) { () throws(Problem) in
                let call = try uuid("id", in: ask), form = try JSONBody.decode(TransferForm.self, ask.request.body, as: "TransferForm")
                guard let target = try? URI(parsing: Text(form.to)) else { throw .badRequest("to: '\(form.to)' is no SIP URI") }
                if let state = hub.view.calls[CallUUID(call)], !ask.grant.covers(state.line) { throw .notFound("there is no call \(call)") }
                try transfer(call, to: target, responder)
                return nil
            }
        }
    }

    private func transfer(_ call: UUID, to target: URI, _ responder: HTTPResponder) throws(Problem) {
        let later = park(responder)
        try running().refer(call, to: target) { isAsked in
            later { responder, now in
                let problem = Problem(.conflict, "invalidAction", "the call is not connected, or another transfer of it is under way")
                responder.reply(isAsked ? HTTPReply(.accepted) : problem.reply, at: now)
            }
        }
    }

    /// A transaction with the one action of a short form. The call of the path is that of the action.
    private func oneAction<Form: Decodable>(
        _ ask: HTTPAsk, _ responder: HTTPResponder, as schema: String, _ action: (Form) -> TransactionBody.Action
    ) {
        answer(ask, responder) { () throws(Problem) in
            let content = ask.request.body.isEmpty ? Array("{}".utf8) : ask.request.body
            var action = action(try JSONBody.decode(Form.self, content, as: schema))
            let options = try JSONBody.decode(ShortFormOptions.self, content, as: schema)
            if ask.parameters["id"] != nil {
                let call = try uuid("id", in: ask)
                guard let state = hub.view.calls[CallUUID(call)], ask.grant.covers(state.line) else {
                    throw .notFound("there is no call \(call)")
                }
                action.call = call
            }
            let body = TransactionBody(
                id: options.transaction, line: options.line, actions: [action], wait: options.wait, within: options.within)
            return try transact(body, ask, responder)
        }
    }

    /// A token for some lines does nothing on others: their calls are not there.
    private func check(_ order: TransactionOrder, _ grant: AccessGrant) throws(Problem) {
        guard grant.lines != nil else { return }
        if let line = order.line, !grant.covers(line) { throw Problem(.noLine(line)) }
        for action in order.actions {
            if case .start = action {
                guard order.line != nil else { throw .badRequest("line is missing: the token is for some lines only") }
            } else if let call = action.call {
                guard let state = hub.view.calls[CallUUID(call)], grant.covers(state.line) else {
                    throw Problem(.refused(.unknownCallUUID))
                }
            }
        }
    }

    /// - Returns: nil: the answer comes later.
    func transact(_ body: TransactionBody, _ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let gateway = try running(), level = try body.level(), patience = try body.patience()
        var order = try body.order()
        try check(order, ask.grant)
        let key: String
        if let idempotency = HTTPField.Name("Idempotency-Key").flatMap({ ask.request.head.headerFields[$0] }), body.id == nil {
            key = "key:" + idempotency
        } else {
            let id = order.id ?? UUID()
            order.id = id
            key = id.uuidString
        }
        desk.request(order, key: key, wait: level, within: patience, responder, at: ask.now) {
            guard !order.actions.contains(where: isShown) else {
                return desk.note(.failure(.refused(.callUUIDAlreadyExists)), of: key, at: ask.now)
            }
            let post = self.post
            gateway.request(order) { result in post { api, now in api.desk.note(result, of: key, at: now) } }
        }
        return nil
    }

    /// A start under the UUID of a call that reads show: it may be one of an earlier run, of which the gateway does not know.
    private func isShown(_ action: TransactionOrder.Action) -> Bool {
        guard case .start(let call?, _) = action else { return false }
        return hub.view.calls[CallUUID(call)] != nil
    }
}

private struct EmptyForm: Decodable {}
private struct HoldForm: Decodable { var onHold: Bool? }
private struct MuteForm: Decodable { var muted: Bool? }
private struct GroupForm: Decodable { var with: UUID? }
private struct DigitsForm: Decodable { var digits: String }
private struct TransferForm: Decodable { var to: String }
private struct StartForm: Decodable {
    var id: UUID?
    var handle: TransactionBody.Handle?
    /// In the place of a handle: its value.
    var to: String?
}

/// The members that each short form may have besides.
struct ShortFormOptions: Decodable {
    var transaction: UUID?
    var line: String?
    var wait: String?
    var within: Double?
}
