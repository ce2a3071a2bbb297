import Primitives
import SIP

/// A REFER of the peer: it wants whom it talks with to be called by somebody else, or to call (RFC 3515).
///
/// Never changed. An object, for few calls have one and every call has room for it.
public final class TransferRequest: Sendable {
    /// The target to call, without the headers of the URI.
    public let target: URI
    /// The dialog of the target that the new call takes the place of (RFC 3891).
    public let replaces: DialogIdentifier?
    /// The party that asks, as the target is told (RFC 3892), without control characters; nil when the peer does not say.
    public let referredBy: Text?
    /// The CSeq of the REFER, which names its subscription.
    let sequence: UInt32
    /// The REFER itself.
    public let message: Message
    let transaction: ServerTransactionID
    /// False with `Refer-Sub: false` (RFC 4488): nobody wants to hear what becomes of it.
    let isSubscribed: Bool
    /// The first REFER of a dialog needs no `id`.
    let isFirst: Bool

    init(
        target: URI, replaces: DialogIdentifier?, referredBy: Text?, sequence: UInt32, message: Message, transaction: ServerTransactionID,
        isSubscribed: Bool,
        isFirst: Bool
    ) {
        (self.target, self.replaces, self.referredBy, self.sequence) = (target, replaces, referredBy, sequence)
        (self.message, self.transaction, self.isSubscribed, self.isFirst) = (message, transaction, isSubscribed, isFirst)
    }
}

// The side that is asked.
extension InviteSession {
    /// Exactly one Refer-To that can be read, else 400 (RFC 3515 §2.4.2). What the delegate neither accepts nor refuses at once is
    /// declined.
    func receiveRefer(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        let values = request.headers.elements(.referTo)
        guard values.count == 1, let address = try? NameAddress(parsing: values[0]) else {
            return agent.respond(transaction, Refusal(400), at: now)
        }
        guard address.uri.isSIP || address.uri.scheme == .tel else { return agent.respond(transaction, Refusal(416), at: now) }
        guard address.uri.text.count <= Limits.requestURI else { return agent.respond(transaction, Refusal(414), at: now) }
        // Another request than an INVITE would be meant (RFC 3261 §19.1.5), and we only make calls.
        guard address.uri.parameters.value(of: "method").map({ $0.percentDecoded.equalsIgnoringCase("INVITE") }) ?? true else {
            return agent.respond(transaction, Refusal(501), at: now)
        }
        let replaces = address.uri.header("Replaces")
        let dialog = replaces.flatMap { DialogIdentifier(parsing: $0) }
        if replaces != nil, dialog == nil { return agent.respond(transaction, Refusal(400, reason: "Bad Replaces"), at: now) }
        let transfer = TransferRequest(
            target: address.uri.asRequestURI.detached, replaces: dialog, referredBy: request.headers[.referredBy]?.printable.detached,
            sequence: request.cseq.number,
            message: request, transaction: transaction.id,
            isSubscribed: request.headers["Refer-Sub"].map { !$0.lowercased.hasPrefix("false") } ?? true, isFirst: !wasReferred)
        wasReferred = true
        emit(.transferRequested(transfer), at: now)
        agent.respond(transaction, Refusal(603), at: now)
    }

    /// 202, and the subscription's first NOTIFY: 100 (RFC 3515 §2.4.4). Report what becomes of it.
    public func accept(_ transfer: TransferRequest, at now: Instant) {
        let headers: [(HeaderName, Text)] = [(.contact, contact.text)] + (transfer.isSubscribed ? [] : [("Refer-Sub", "false")])
        guard agent.respond(to: transfer.transaction, status: 202, headers: headers, at: now) else { return }
        report(transfer, status: 100, at: now)
    }

    /// Refuses a transfer: a final status of 300 or more.
    public func refuse(_ transfer: TransferRequest, status: Int, at now: Instant) {
        agent.respond(to: transfer.transaction, status: status, at: now)
    }

    /// Tells the peer how far its transfer is: a status of the new call. One of 200 or more is the last. Nothing once the session is over.
    public func report(_ transfer: TransferRequest, status: Int, phrase: Text? = nil, at now: Instant) {
        guard transfer.isSubscribed, state == .confirmed || state == .answered, !forgottenReferrals.contains(transfer.sequence) else {
            return
        }
        let exchange = makeExchange(.notify, at: now) {
            $0.notify(
                transfer.isFirst ? "refer" : "refer;id=" + Text(transfer.sequence),
                status < 200 ? .active(seconds: 180) : .terminated(.noresource), contentType: "message/sipfrag;version=2.0",
                body: Array(("SIP/2.0 " + Text(status) + " " + (phrase ?? Message.reasonPhrase(status)) + "\r\n").bytes))
        }
        // A failure ends the subscription (RFC 6665 §4.2.2), and not the dialog (RFC 5057 §5.1).
        exchange?.start(at: now) { [self] outcome, _ in
            switch outcome {
            case .response(let response, _) where response.status == 481: forgottenReferrals.insert(transfer.sequence)
            case .timedOut: forgottenReferrals.insert(transfer.sequence)
            case .response, .transportFailed, .terminated: break
            }
        }
    }
}

extension UserAgent {
    /// The session whose dialog, confirmed or early, a Replaces header names; nil when there is none, or it is over.
    public func session(_ dialog: DialogIdentifier) -> InviteSession? {
        guard let session = sessions[dialog.localTag], session.callID == dialog.callID, session.hasDialog(with: dialog.remoteTag) else {
            return nil
        }
        return session
    }
}

extension InviteSession {
    /// Whether a dialog of it, early ones too, has this tag of the peer's.
    fileprivate func hasDialog(with tag: Text) -> Bool { remoteTag == tag || caller.earlyDialogs.contains { $0.dialog.remoteTag == tag } }
}

extension InviteSession {
    /// This dialog in a Replaces header for a third party to send to our peer; nil before there is one.
    public var dialogAsPeerSees: DialogIdentifier? {
        remoteTag.map { DialogIdentifier(callID: callID, localTag: $0, remoteTag: localTag) }
    }
}

extension Message {
    /// The time until which a NOTIFY says that there will be others: a minute at least, an hour at most, and three minutes where it says
    /// nothing.
    fileprivate var subscriptionTime: Duration {
        let parameters = headers[.subscriptionState].flatMap { try? Parameters(parsing: Text($0.bytes.drop { $0 != 0x3B })) }
        return .seconds(Int64(min(max(parameters?["expires"]?.integer(UInt32.self) ?? 180, 60), 3_600)))
    }
}

// The side that asks.
extension InviteSession {
    /// Asks the peer to call somebody else, in the place of a dialog where `replaces` names one as the target sees it.
    ///
    /// `.transferProgress` follows, one of 200 or more is the last.
    /// - Returns: false without a confirmed dialog, or while another transfer is under way.
    @discardableResult
    public func refer(
        to target: URI, replacing dialog: DialogIdentifier? = nil, referredBy: NameAddress? = nil, headers: [(HeaderName, Text)] = [],
        at now: Instant
    ) -> Bool {
        guard state == .confirmed, transferLimit == nil else { return false }
        var target = target
        if let dialog { target.headers = "Replaces=" + dialog.value.escapedHeader }
        let exchange = makeExchange(.refer, at: now) {
            $0.headers.append(.referTo, "<" + target.text + ">")
            if let referredBy { $0.headers.append(.referredBy, referredBy.text) }
            for (name, value) in headers { $0.headers.append(name, value) }
        }
        guard let exchange else { return false }
        // For the answer, and for the first NOTIFY, which may come before it (RFC 6665 §4.1.2.4).
        awaitTransfer(for: agent.configuration.timers.timeout * 2, at: now)
        exchange.start(at: now) { [self] outcome, now in
            switch outcome {
            case .response(let response, _): if let status = response.status, status >= 300 { endTransfer(status, at: now) }
            case .timedOut: endTransfer(408, at: now)
            case .transportFailed: endTransfer(503, at: now)
            case .terminated: break
            }
            loseDialog(by: outcome, at: now)
        }
        return true
    }

    private func awaitTransfer(for timeout: Duration, at now: Instant) {
        transferLimit = now + timeout
        refreshAlarm()
    }

    /// Nobody tells what became of it.
    func giveUpTransfer(at now: Instant) { if let limit = transferLimit, now >= limit { endTransfer(408, at: now) } }

    private func endTransfer(_ status: Int, at now: Instant) {
        guard transferLimit != nil else { return }
        transferLimit = nil
        emit(.transferProgress(status: status), at: now)
    }

    /// RFC 3515 §2.4.5. What belongs to no REFER of ours gets 481.
    func receiveNotify(_ request: Message, _ transaction: ServerTransaction, at now: Instant) {
        guard let event = request.headers[.event], event.lowercased.hasPrefix("refer") else {
            return agent.respond(transaction, agent.refusalOfEvent, at: now)
        }
        guard transferLimit != nil else { return agent.respond(transaction, Refusal(481), at: now) }
        agent.respond(transaction, Refusal(200), at: now)
        awaitTransfer(for: request.subscriptionTime, at: now)
        let status = Self.fragmentStatus(request.body)
        let isOver = request.headers[.subscriptionState]?.lowercased.hasPrefix("terminated") == true
        switch status {
        case .some(let status) where status >= 200: endTransfer(status, at: now)
        // The subscription went away and left it open: nobody knows what became of it.
        case _ where isOver: endTransfer(500, at: now)
        case .some(let status): emit(.transferProgress(status: status), at: now)
        case nil: break
        }
    }

    /// The status in the first line of a `message/sipfrag`.
    private static func fragmentStatus(_ body: [UInt8]) -> Int? {
        guard Text(body).hasPrefix("SIP/2.0 "), body.count >= 11, let status = Text(body[8..<11]).integer(Int.self) else { return nil }
        return (100...699).contains(status) ? status : nil
    }
}

extension Text {
    /// The text with `%HH` for each character that may not stand in a header of a URI.
    fileprivate var escapedHeader: Text {
        var result: [UInt8] = []
        for byte in bytes {
            let isPlain =
                byte >= 0x30 && byte <= 0x39 || byte >= 0x41 && byte <= 0x5A || byte >= 0x61 && byte <= 0x7A
                || "-_.!~*'()".utf8.contains(byte)
            if isPlain {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                for nibble in [byte >> 4, byte & 15] { result.append(nibble < 10 ? 0x30 + nibble : 0x37 + nibble) }
            }
        }
        return Text(result)
    }
}
