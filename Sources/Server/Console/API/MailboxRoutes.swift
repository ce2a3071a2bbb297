import Foundation
import Gateway
import HTTP
import Primitives

/// A mailbox as `/v1/mailboxes` shows it.
struct MailboxBody: Encodable {
    struct Message: Encodable {
        var id: UUID
        var caller: String, name: String?, called: String
        var received: String
        /// Seconds.
        var duration: Double
        var heard: Bool
        /// The name of the file, without its folder, and its media type.
        var file: String, type: String

        init(_ message: MailboxMessage) {
            (id, caller, name, called) = (message.id, message.caller, message.name, message.called)
            received = Timestamp(UInt64(max(0, message.received.timeIntervalSince1970) * 1e9)).description
            (duration, heard) = (message.duration, message.isHeard)
            (file, type) = (SoundReply.name(of: message.path), SoundReply.type(of: message.path))
        }
    }

    /// The number of its line.
    var line: String, name: String?
    /// Messages that nobody has marked as heard, and the others.
    var new: Int, old: Int
    /// The newest first; nil in a list of mailboxes.
    var messages: [Message]?

    init(_ mailbox: MailboxSummary, withMessages: Bool) {
        (line, name) = (mailbox.line.description, mailbox.name?.description)
        old = mailbox.messages.count(where: \.isHeard)
        new = mailbox.messages.count - old
        messages = withMessages ? mailbox.messages.map(Message.init) : nil
    }
}

/// Mailboxes and their messages.
struct MailboxRoutes {
    struct Mailboxes: Encodable { var mailboxes: [MailboxBody] }
    struct MessageForm: Codable { var heard: Bool }

    unowned let api: ControlAPI
    private static let message = "/v1/mailboxes/{mailbox}/messages/{message}"

    func add(to routes: inout HTTPRoutes) {
        LineServiceRoutes(api: api).add(
            "mailbox", plural: "mailboxes", to: &routes, read: { $0.mailboxSummaries(then: $1) },
            list: { JSONBody.reply(.ok, Mailboxes(mailboxes: $0.map { MailboxBody($0, withMessages: false) })) },
            one: { JSONBody.reply(.ok, MailboxBody($0, withMessages: true)) })
        routes.on(.get, Self.message) { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try listen(ask, responder) }
        }
        routes.on(.patch, Self.message) { ask, responder in
            change(ask, responder) { gateway, message, then throws(Problem) in
                let form = try JSONBody.decode(MessageForm.self, ask.request.body, as: "MailboxMessageChange")
                gateway.setHeard(form.heard, message: message.id, ofLine: message.line, then: then)
            }
        }
        routes.on(.delete, Self.message) { ask, responder in
            change(ask, responder) { gateway, message, then in gateway.removeMessage(message.id, ofLine: message.line, then: then) }
        }
    }

    /// The line and the message of the path. A mailbox of a line that the token does not cover is not there.
    private func name(in ask: HTTPAsk) throws(Problem) -> (line: Text, id: UUID) {
        let line = Text(ask.parameters["mailbox"] ?? ""), id = try api.uuid("message", in: ask)
        guard ask.grant.covers(line) else { throw Self.missing(id, line) }
        return (line, id)
    }

    private static func missing(_ id: UUID, _ line: Text) -> Problem { .notFound("mailbox \(line) has no message \(id)") }

    /// Its sound.
    private func listen(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let (line, id) = try name(in: ask), later = api.park(responder), request = ask.request
        try api.running().mailboxSummaries { mailboxes in
            let path = mailboxes.first { $0.line == line }?.messages.first { $0.id == id }?.path
            later { responder, now in
                guard let path else { return responder.reply(Self.missing(id, line).reply, at: now) }
                guard let file = HTTPFile(path: path) else {
                    return responder.reply(Problem.notFound("the file of this message is gone").reply, at: now)
                }
                SoundReply.send(file, of: path, request, responder, at: now)
            }
        }
        return nil
    }

    private func change(
        _ ask: HTTPAsk, _ responder: HTTPResponder,
        _ body: (any GatewayControl, (line: Text, id: UUID), @escaping @Sendable (Bool) -> Void) throws(Problem) -> Void
    ) {
        api.answer(ask, responder) { () throws(Problem) in
            let (line, id) = try name(in: ask), gateway = try api.running(), later = api.park(responder)
            try body(gateway, (line, id)) { isThere in
                later { responder, now in responder.reply(isThere ? HTTPReply(.noContent) : Self.missing(id, line).reply, at: now) }
            }
            return nil
        }
    }
}
