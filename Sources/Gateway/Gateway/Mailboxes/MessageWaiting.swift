import Primitives
import SIP
import UserAgent

/// Message waiting indication: telephones of the owners of a mailbox are told how many messages wait (RFC 3842). Lives on the signalling
/// lane.
final class MessageWaiting {
    /// Subscriptions that a line has; one more ends the oldest, which a telephone may have left behind when it restarted.
    static let limit = 8

    private let context: GatewayContext
    private let lines: LineTable
    private let admission: Admission
    private let registrar: Registrar
    private let userAgent: UserAgent
    /// It has this object.
    private unowned let mailboxes: Mailboxes
    /// By the number of the owner, the oldest first.
    private var subscriptions: [Text: [(mailbox: Text, subscription: EventSubscription)]] = [:]

    init(
        _ context: GatewayContext, _ lines: LineTable, _ mailboxes: Mailboxes, _ admission: Admission, _ registrar: Registrar,
        _ userAgent: UserAgent
    ) {
        (self.context, self.lines, self.mailboxes) = (context, lines, mailboxes)
        (self.admission, self.registrar, self.userAgent) = (admission, registrar, userAgent)
    }

    private var now: Instant { context.now }

    // MARK: Telephones

    /// A SUBSCRIBE for the event, outside of dialogs.
    func subscribe(_ request: Message, over flow: Flow, _ transaction: ServerTransactionID) {
        var headers: [(HeaderName, Text)] = []
        let status: Int?
        switch admission.admission(of: request, from: flow.remote.address) {
        case .admitted(_, let owner?): status = subscribe(request, of: owner, over: flow, transaction)
        case .admitted(_, nil), .forbidden: status = 403
        case .challenged(let challenges): (status, headers) = (401, challenges)
        }
        if let status { userAgent.respond(to: transaction, status: status, headers: headers, at: now) }
    }

    /// The status that refuses it; nil where it is answered.
    private func subscribe(_ request: Message, of owner: Line, over flow: Flow, _ transaction: ServerTransactionID) -> Int? {
        guard request.acceptsSummaries else { return 406 }
        let number = owner.configuration.number
        guard let line = line(askedBy: request, of: owner) else { return 404 }
        let mailbox = line.configuration.number
        guard line.configuration.isMailbox(of: number) else { return 403 }
        guard !registrar.contacts(of: number, at: now).isEmpty else { return 480 }
        EventSubscription.accept(request, over: flow, transaction, by: userAgent, at: now) { subscription in
            add(subscription, to: mailbox, of: number)
        }
        return nil
    }

    /// The line that the Request-URI names; for the owner's own number its first mailbox.
    private func line(askedBy request: Message, of owner: Line) -> Line? {
        let dialled = request.requestURI.flatMap(lines.routing.dialledNumber)
        guard let line = dialled.flatMap({ lines.line(for: $0, host: request.requestURI?.host) }) else { return nil }
        guard line === owner else { return line }
        return lines.configured.first { $0.configuration.isMailbox(of: owner.configuration.number) }
    }

    private func add(_ subscription: EventSubscription, to mailbox: Text, of owner: Text) {
        subscription.content = { [unowned self] in summary(of: mailbox).content }
        subscription.admitsRefresh = { [unowned self] in owns(mailbox, owner) }
        subscription.onEnd = { [unowned self, unowned subscription] in forget(subscription, of: owner) }
        subscriptions[owner, default: []].append((mailbox, subscription))
        if let all = subscriptions[owner], all.count > Self.limit {
            forget(all[0].subscription, of: owner)
            all[0].subscription.end(.rejected, at: now)
        }
    }

    private func forget(_ subscription: EventSubscription, of owner: Text) {
        subscriptions[owner]?.removeAll { $0.subscription === subscription }
        if subscriptions[owner]?.isEmpty == true { subscriptions[owner] = nil }
    }

    private func summary(of mailbox: Text) -> MessageSummary {
        let (new, heard) = mailboxes.counts(ofLine: mailbox)
        return MessageSummary(account: URI(user: mailbox, host: context.configuration.domain), new: new, heard: heard)
    }

    private func owns(_ mailbox: Text, _ owner: Text) -> Bool {
        lines.line(numbered: mailbox)?.configuration.isMailbox(of: owner) == true && lines.line(numbered: owner) != nil
    }

    // MARK: Changes

    /// The messages of a mailbox are others.
    func changed(_ mailbox: String) {
        let mailbox = Text(mailbox)
        for (_, all) in subscriptions.sorted(by: { $0.key.description < $1.key.description }) {
            for entry in all where entry.mailbox == mailbox { entry.subscription.changed(at: now) }
        }
    }

    /// The line has no device any more.
    func unregistered(_ owner: Text) {
        for entry in subscriptions[owner] ?? [] { entry.subscription.end(.probation, at: now) }
    }

    /// Ends what another configuration does not grant any more.
    func reconfigure() {
        for (owner, all) in subscriptions {
            for entry in all where !owns(entry.mailbox, owner) { entry.subscription.end(.rejected, at: now) }
        }
    }
}

extension LineConfiguration {
    /// Whether it takes messages for this line.
    fileprivate func isMailbox(of owner: Text) -> Bool {
        guard takesMessages, case .application(let application) = endpoint else { return false }
        return application.mailbox?.owners.contains(owner) == true
    }
}

extension Message {
    /// Whether its sender reads summaries: without Accept it does (RFC 3842 §3.5).
    fileprivate var acceptsSummaries: Bool {
        let types = headers.elements(.accept).map { Text($0.bytes.prefix { $0 != UInt8(ascii: ";") }).trimmed.lowercased }
        return !headers.contains(.accept) || types.contains { [MessageSummary.type, "application/*", "*/*"].contains($0) }
    }
}
