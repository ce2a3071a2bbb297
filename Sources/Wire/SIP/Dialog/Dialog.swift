import Primitives

/// The relation of two user agents that an INVITE or a SUBSCRIBE makes: RFC 3261 §12, RFC 6665 §4.4.1.
///
/// A value without transactions: it says which requests belong to it and what our next request in it looks like.
public struct Dialog: Sendable {
    /// The progress of the dialog; its end is told by its owner.
    public enum State: Hashable, Sendable {
        /// Made by a 101–199. Next: `confirmed` by the 2xx.
        case early
        /// Made, or confirmed, by a 2xx.
        case confirmed
    }

    /// Early or confirmed.
    public private(set) var state: State
    /// The Call-ID of all requests in it.
    public let callID: Text
    /// Our address with our tag: From of our requests, To of theirs.
    public let local: NameAddress
    /// The peer's address with its tag.
    public let remote: NameAddress
    /// The proxies that stay in the path, in the order in which our requests pass them (§12.1.1, §12.1.2).
    public private(set) var routeSet: [NameAddress]
    /// The peer's address: its last Contact, as a Request-URI.
    public private(set) var remoteTarget: URI
    /// The CSeq number of our last request.
    public private(set) var localSequence: UInt32
    /// The CSeq number of the peer's last request; nil before there was one.
    public private(set) var remoteSequence: UInt32?
    /// Made over TLS with a sips URI, so that every request in it must use TLS.
    public let isSecure: Bool

    /// The dialog of an INVITE or SUBSCRIBE that was received (§12.1.1). Nil without a SIP URI for Contact, which an INVITE must have, and with a
    /// Record-Route that names no proxy; a caller of RFC 2543, which its Via tells, is called back at its From instead.
    /// - Parameters:
    ///   - localTag: the tag that our responses carry.
    ///   - sequence: of the last request that we are taken to have sent; our first request has the next number.
    public init?(callee invite: Message, localTag: Text, sequence: UInt32, overTLS: Bool) {
        let caller = invite.contact == nil && !invite.via.hasMagicCookie ? invite.from.uri : invite.target, routes = invite.routesRecorded
        guard let target = invite.requestURI, let caller, caller.isUsableAsRequestURI,
            routes.count == invite.headers.elements(.recordRoute).count
        else { return nil }
        state = .early
        callID = invite.callID.detached
        local = invite.to.tagged(localTag)
        remote = invite.from.detached
        routeSet = routes
        remoteTarget = caller.asRequestURI.detached
        localSequence = sequence
        remoteSequence = invite.cseq.number
        isSecure = overTLS && target.scheme == .sips
    }

    /// The dialog of an INVITE that was sent, made by a 101–199 or 2xx with a To tag (§12.1.2).
    ///
    /// Provisional responses often lack a Contact; until the 2xx brings one the target is the Request-URI.
    public init(caller invite: Message, response: Message, overTLS: Bool) {
        // Read once: swiftc 6.3.1 -O crashes (CopyPropagation) when the start line is switched over twice in here.
        let status = response.status ?? 0
        precondition(status > 0, "a dialog is made by an INVITE and its response")
        state = status >= 200 ? .confirmed : .early
        callID = invite.callID.detached
        local = invite.from.detached
        remote = response.to.detached
        routeSet = response.routesRecorded.reversed()
        let target = invite.requestURI ?? invite.to.uri
        remoteTarget = (response.target ?? target).asRequestURI.detached
        localSequence = invite.cseq.number
        remoteSequence = nil
        isSecure = overTLS && target.scheme == .sips
    }

    /// A confirmed dialog that another user agent had, from its parts.
    /// - Parameters:
    ///   - callID: of all requests in it.
    ///   - local: From of its requests, with the tag.
    ///   - remote: the peer's address with its tag.
    ///   - routeSet: the proxies that requests pass, in their order.
    ///   - remoteTarget: the peer's last Contact.
    ///   - localSequence: of the last request that may have been sent; the next one has the number behind it.
    ///   - isSecure: every request must use TLS.
    public init(
        callID: Text, local: NameAddress, remote: NameAddress, routeSet: [NameAddress], remoteTarget: URI, localSequence: UInt32,
        isSecure: Bool
    ) {
        (state, self.callID, self.local, self.remote) = (.confirmed, callID, local, remote)
        (self.routeSet, self.remoteTarget, self.localSequence, self.isSecure) = (routeSet, remoteTarget, localSequence, isSecure)
    }

    /// Our tag.
    public var localTag: Text { local.tag ?? .empty }
    /// Empty for a peer of RFC 2543 that sends no tag.
    public var remoteTag: Text { remote.tag ?? .empty }

    /// Whether a request from the peer belongs here (§12.2.2): Call-ID and both tags.
    public func matches(_ request: Message) -> Bool {
        request.callID == callID && (request.to.tag ?? .empty) == localTag && (request.from.tag ?? .empty) == remoteTag
    }

    /// The 2xx was sent.
    public mutating func confirm() { state = .confirmed }

    /// The 2xx was received: its Record-Route and Contact replace those of earlier responses (§13.2.2.4).
    public mutating func confirm(by response: Message) {
        guard state == .early else { return }
        state = .confirmed
        routeSet = response.routesRecorded.reversed()
        refreshTarget(by: response)
    }

    /// A further 101–199 of an early dialog, with a Contact: its routes and target replace those of earlier ones (§12.1.2).
    public mutating func renew(by response: Message) {
        guard state == .early, response.target != nil else { return }
        routeSet = response.routesRecorded.reversed()
        refreshTarget(by: response)
    }

    /// A target refresh: a re-INVITE or UPDATE of the peer, or the 2xx to one of ours (§12.2.1.2, §12.2.2).
    public mutating func refreshTarget(by message: Message) {
        if let target = message.target { remoteTarget = target.asRequestURI.detached }
    }

    /// Notes a request of the peer, other than ACK and CANCEL.
    /// - Returns: false when it is out of order and to be answered 500 (§12.2.2). A number that was used already is out of order too:
    ///   what repeats a request on the same branch never comes here.
    public mutating func admit(_ request: Message) -> Bool {
        let number = request.cseq.number
        if let last = remoteSequence, number <= last { return false }
        remoteSequence = number
        return true
    }
}

extension Dialog {
    /// The first destination of our next request: the first route, or the peer itself (§12.2.1.1).
    public var nextHop: URI { routeSet.first?.uri ?? remoteTarget }

    /// The CSeq number for our next request other than ACK and CANCEL, which is used up.
    public mutating func takeSequence() -> UInt32 {
        localSequence = localSequence < 0x7FFF_FFFF ? localSequence + 1 : 1
        return localSequence
    }

    /// A request in the dialog with the given CSeq number (§12.2.1.1). An ACK has the number of its INVITE.
    ///
    /// The first route decides: a loose router gets a Route header with all of them and the target in the Request-URI; a strict
    /// one gets itself in the Request-URI and the target behind the other routes.
    public func request(_ method: Method, sequence: UInt32, via: Via, contact: NameAddress? = nil) -> Message {
        var uri = remoteTarget
        var routes = routeSet
        if let first = routeSet.first, !first.uri.isLooseRouter {
            uri = first.uri.asRequestURI
            routes = routeSet.dropFirst() + [NameAddress(uri: remoteTarget)]
        }
        return Message.request(
            method, uri: uri, via: via, from: local, to: remote, callID: callID, cseq: sequence, routes: routes, contact: contact)
    }
}

extension Message {
    /// The address of its sender: a Contact to which no request can be sent is none (§8.1.1.8, §12.1.1).
    fileprivate var target: URI? { contact.flatMap { $0.uri.isUsableAsRequestURI ? $0.uri : nil } }

    /// The proxies that stay in the path. What is none is passed over: an INVITE that has such a thing is refused, a call that was made is
    /// not.
    fileprivate var routesRecorded: [NameAddress] { recordRoutes.filter(\.uri.isSIP) }
}

extension NameAddress {
    /// With this tag instead of its own.
    func tagged(_ tag: Text) -> NameAddress {
        var address = self
        address.tag = tag
        return address
    }

    /// A copy that does not keep the message that it was read from in memory.
    var detached: NameAddress { NameAddress(buffer: Array(text.bytes), layout: layout.moved(by: -Int(layout.whole.start))) }
}

extension URI {
    /// A copy that does not keep the message that it was read from in memory.
    public var detached: URI { URI(buffer: Array(text.bytes), layout: layout.moved(by: -Int(layout.whole.start))) }
}
