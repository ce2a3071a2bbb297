import CallJournal
import CallKit
import Foundation
import Primitives
import SDP
import SIP
import UserAgent

/// Writes into the journal which INVITEs and REGISTERs came, and why one was refused. Lives on the signalling lane.
///
/// Each call and each registration is written; refusals are bounded in time, so that a flood does not fill the journal: those that were not
/// written are counted by the next.
final class RequestLog {
    private let context: GatewayContext
    private var refusals = Bucket(tokens: 100, at: .zero)
    private var unwritten = 0

    init(_ context: GatewayContext) { self.context = context }

    // MARK: INVITE

    /// The INVITE has a leg.
    func received(_ invite: Message, over flow: Flow, call: UUID, line: Text) {
        write(.inviteReceived, call, line, .invite(invite, over: flow.transport.text, from: Text("\(flow.remote)")))
    }

    /// The INVITE got no leg.
    /// - Parameter call: its UUID, where it has one elsewhere.
    func refused(_ invite: Message, over flow: Flow, status: Int, _ cause: RequestRefusal, call: UUID? = nil) {
        guard let missed = admitsRefusal() else { return }
        let call = call ?? context.randomUUID()
        write(.inviteReceived, call, nil, .invite(invite, over: flow.transport.text, from: Text("\(flow.remote)")))
        write(.callRefused, call, nil, .refusal(of: invite, status: status, cause), unwritten: missed)
    }

    /// Its leg was no call yet, or CallKit did not take it.
    func refused(_ leg: Leg, status: Int, _ cause: RequestRefusal) {
        guard let invite = leg.session?.request else { return }
        write(.callRefused, leg.uuid, leg.line.configuration.number, .refusal(of: invite, status: status, cause))
    }

    // MARK: REGISTER

    /// - Parameter contacts: that the line has now.
    func answered(_ request: Message, with response: Message, over flow: Flow, contacts: Int) {
        guard response.status == 200 else {
            guard let status = response.status, let cause = RequestRefusal(ofRegister: request, response) else { return }
            return refused(register: request, over: flow, status: status, cause)
        }
        // One without contacts asks for those that there are.
        guard !request.contacts.isEmpty || request.contactIsWildcard else { return }
        let details = JournalEvent.Details.registration(
            request, contacts: contacts, expires: response.seconds(grantedTo: request), over: flow.transport.text,
            from: Text("\(flow.remote)"))
        write(.registerAccepted, nil, nil, details)
    }

    func refused(register request: Message, over flow: Flow, status: Int, _ cause: RequestRefusal) {
        guard let missed = admitsRefusal() else { return }
        let details = JournalEvent.Details.registrationRefusal(
            of: request, status: status, cause, over: flow.transport.text, from: Text("\(flow.remote)"))
        write(.registerRefused, nil, nil, details, unwritten: missed)
    }

    /// - Parameter contacts: that the line still has.
    func expired(_ user: Text, contacts: Int) { write(.registerExpired, nil, nil, .expiry(of: user, contacts: contacts)) }

    /// The connection that alone led to contacts has ended.
    /// - Parameter contacts: that the line still has.
    func lost(_ user: Text, contacts: Int) {
        write(.registerExpired, nil, nil, .expiry(of: user, contacts: contacts, reason: "the connection ended"))
    }

    // MARK: Bounds

    /// Counts the refusals that were not written since the last one that was; nil: this one is not written, either.
    private func admitsRefusal() -> Int? {
        guard refusals.take(rate: 20, burst: 100, at: context.now) else {
            unwritten += 1
            return nil
        }
        defer { unwritten = 0 }
        return unwritten
    }

    private func write(
        _ kind: JournalEvent.Kind, _ call: UUID?, _ line: Text?, _ details: JournalEvent.Details, unwritten: Int = 0
    ) {
        var details = details
        if unwritten > 0 { details.add(.count, .init(unwritten)) }
        context.journal.record(kind, call: call.map(CallUUID.init), line: line ?? .empty, at: context.now, details)
    }
}

extension RequestRefusal {
    /// Makes the refusal of a request that was answered with a challenge.
    init(challenged request: Message, _ headers: [(HeaderName, Text)]) {
        if headers.contains(where: { $0.0 == .retryAfter }) {
            self = .throttled
        } else if request.headers[.authorization] == nil || headers.contains(where: { $0.1.description.contains("stale=true") }) {
            self = .credentialsAsked
        } else {
            self = .wrongPassword
        }
    }

    /// nil for the challenge that each registration begins with.
    fileprivate init?(ofRegister request: Message, _ response: Message) {
        switch response.status {
        case 401:
            self.init(
                challenged: request,
                [HeaderName.retryAfter, .wwwAuthenticate].flatMap { name in response.headers.all(name).map { (name, $0.printable) } })
            if self == .credentialsAsked { return nil }
        case 403: self = response.reasonPhrase == "Too Many Contacts" ? .contacts : .forbidden
        case 404: self = .unknownDomain
        case 503: self = .users
        default: self = .malformed
        }
    }

    /// Makes the refusal of a report that the line's system did not take.
    init(reportRefused error: any Error) {
        switch (error as? CXErrorCodeIncomingCallError)?.code {
        case .filteredByDoNotDisturb: self = .doNotDisturb
        case .filteredByBlockList: self = .blocked
        case .unentitled: self = .forbidden
        default:
            let code = (error as? CXErrorCodeRequestTransactionError)?.code
            self = code == .maximumCallGroupsReached ? .lineFull : .forbidden
        }
    }

    init(_ error: NegotiationError) {
        switch error {
        case .securityRequired, .noCommonSecurity, .unsupportedProfile: self = .encryption
        case .unusableAddress, .ownMediaPort: self = .mediaAddress
        case .malformed, .outOfTurn: self = .malformed
        case .noAudio, .noCommonCodec, .refused: self = .codec
        }
    }
}

extension Message {
    /// Reads the seconds that the contacts of the request have now, by this response to REGISTER; 0 where they were taken away.
    fileprivate func seconds(grantedTo request: Message) -> Int {
        let wanted = request.contacts.map(\.uri)
        return contacts.filter { wanted.contains($0.uri) }.compactMap { $0.parameters.value(of: "expires")?.integer(Int.self) }.max() ?? 0
    }
}
