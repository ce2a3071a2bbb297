import Primitives
import SDP
import SIP

// Details of requests from outside. Credentials have no place in it.
extension JournalEvent.Details {
    /// Details of `invite.received`.
    /// - `transport`: as `udp`.
    /// - `remote`: the address that it came from.
    public static func invite(_ message: Message, over transport: Text, from remote: Text) -> Self {
        var details = Self(capacity: 8)
        details.add(.callid, .init(message.callID))
        details.add(.from, .text(message.from.shown))
        details.add(.to, .text(message.to.shown))
        details.add(.uri, message.requestURI.map { .text($0.text) })
        details.add(.media, message.offerSummary.map { .text($0) })
        details.add(message, over: transport, from: remote)
        return details
    }

    /// Details of `call.refused`.
    public static func refusal(of invite: Message, status: Int, _ cause: RequestRefusal) -> Self {
        var details: Self = [.callid: .init(invite.callID), .status: .init(status)]
        details.add(cause)
        return details
    }

    /// Details of `register.accepted`.
    /// - `contacts`: of the line, from now on.
    /// - `expires`: seconds that were granted; 0 where the registration was taken back.
    public static func registration(
        _ message: Message, contacts: Int, expires: Int, over transport: Text, from remote: Text
    ) -> Self {
        var details: Self = [.user: .text(message.to.uri.user ?? .empty), .count: .init(contacts), .expires: .init(expires)]
        details.add(message, over: transport, from: remote)
        return details
    }

    /// Details of `register.refused`.
    public static func registrationRefusal(
        of message: Message, status: Int, _ cause: RequestRefusal, over transport: Text, from remote: Text
    ) -> Self {
        var details: Self = [.user: .text(message.to.uri.user ?? .empty), .status: .init(status)]
        details.add(cause)
        details.add(message, over: transport, from: remote)
        return details
    }

    /// Details of `register.expired`.
    /// - Parameters:
    ///   - user: the line.
    ///   - contacts: of the line, from now on.
    ///   - reason: where it was not the time that ended them.
    public static func expiry(of user: Text, contacts: Int, reason: Text? = nil) -> Self {
        var details: Self = [.user: .text(user), .count: .init(contacts)]
        details.add(.reason, reason.map { .text($0) })
        return details
    }

    private mutating func add(_ cause: RequestRefusal) {
        add(.cause, .init(cause.rawValue))
        add(.reason, .text(cause.words))
    }

    private mutating func add(_ message: Message, over transport: Text, from remote: Text) {
        add(.agent, message.headers[.userAgent].map { .text($0) })
        add(.transport, .text(transport))
        add(.remote, .text(remote))
    }
}

extension NameAddress {
    /// The display name, where there is one, and the URI; no parameters of the header.
    fileprivate var shown: Text { displayName.map { NameAddress(displayName: $0, uri: uri).text } ?? uri.text }
}

extension Message {
    /// nil where it offers nothing, or nothing that can be read.
    fileprivate var offerSummary: Text? {
        guard let description = try? SessionDescription(parsing: (reducedToDescription ?? self).content), !description.media.isEmpty else {
            return nil
        }
        return description.summary
    }
}
