import Primitives

/// Offer and answer for one session with one audio stream (RFC 3264), as a value.
///
/// One exchange is open at a time. A direction is always *our wish*: `.sendrecv`, or `.sendonly` while the call is
/// held here; the engine makes of it what the peer's own hold leaves (RFC 3264 §8.4). Streams other than the first
/// audio that we can take are answered with port 0, in their places.
public struct OfferAnswer: Sendable {
    /// The state of the exchange, which says whose turn it is (RFC 3264 §4).
    public enum State: Hashable, Sendable {
        /// Next: `offer` or `receive(offer:)`.
        case stable
        /// Next: `receive(answer:)`, or `rollback` when the request failed.
        case haveLocalOffer
        /// Next: `answer`, or `rollback` when it is refused.
        case haveRemoteOffer
    }

    /// The contents of an open offer of the peer's, before it is answered.
    public struct RemoteOffer: Hashable, Sendable {
        /// Every codec for sound in it, known here or not, in its order and with its format parameters.
        public var codecs: [Codec]
        /// It can receive keys as events (RFC 4733).
        public var hasTelephoneEvents: Bool
        /// It knows comfort noise (RFC 3389).
        public var hasComfortNoise = false
        /// Whether it holds us, and how.
        public var hold: RemoteHold
        /// RTCP is to come on the port of RTP (RFC 5761).
        public var multiplexes: Bool
        /// It asks for connectivity checks, or for new ones: its answer needs new `local.ice.credentials` (RFC 8839 §4.4.1.1.1).
        public var startsICE: Bool
        /// A re-offer that removes the audio stream (port 0). Its answer agrees to that.
        public var removesAudio: Bool
        /// Milliseconds of sound per packet that it likes to receive, 10 to 120, and the most that it takes: for the offer to the other leg
        /// of a bridge.
        public var ptime: Int
        /// Milliseconds; nil where it does not say.
        public var maxptime: Int?
        /// The address at which it says that it takes RTP; nil where the stream is removed.
        public var address: IPAddress?
    }

    /// The state of the exchange, which says whose turn it is.
    public private(set) var state = State.stable
    /// The basis of our next offer or answer; may be changed between exchanges.
    public var local: LocalMedia
    /// The agreement of the last finished exchange; nil before the first, and when the stream was removed.
    public var audio: NegotiatedAudio? { session.audio }
    /// The peer's open offer; nil in any other state.
    public private(set) var remoteOffer: RemoteOffer?

    private(set) var sessionID: UInt64
    private(set) var session = Session()
    private var pending: Pending?
    /// The version of the description that was sent last; it never falls, also not by a rollback.
    private(set) var version: UInt64 = 0
    /// The hash of what was sent last, but for its version: a description is kilobytes, for as long as a call lasts.
    private var lastSent: Int?

    /// - Parameter sessionID: random, for the `o=` line; unique among the sessions of one address.
    public init(local: LocalMedia, sessionID: UInt64) {
        self.local = local
        self.sessionID = sessionID >> 2   // RFC 3264 §5: below 2^62
    }

    /// Goes on with a session of which this value has said nothing yet: its next description has a version above that one, and its formats
    /// have the same numbers (RFC 3264 §8, §8.3.2).
    public mutating func resume(_ identity: SessionIdentity) {
        (sessionID, version) = (identity.id, identity.version)
        for format in identity.formats { session.numbers.record(format) }
    }

    /// Opens an exchange from our side: the body of an INVITE, or of a 200 to an INVITE without one.
    ///
    /// Lists all of `local`, under the numbers that earlier exchanges gave. A second call before the answer replaces
    /// the open offer. Must not be called while an offer of the peer's is open.
    public mutating func offer(direction wish: Direction = .sendrecv) -> SessionDescription {
        precondition(state != .haveRemoteOffer, "an offer while the peer's is open")
        var next = session
        let formats = next.numbers.offered(of: local)
        let held = session.audio.map { $0.remoteHold != .none } ?? false
        let direction = held && wish == .sendonly ? Direction.inactive : wish
        if !next.hasAgreed {
            next.proto = local.offersToBrowser ? "UDP/TLS/RTP/SAVPF" : local.security.offeredProfile
            if local.offersToBrowser { (next.mid, next.isBundled) = ("0", true) }
        }
        let security = local.security.offer(over: next.proto, after: session.audio?.security)
        let ice = local.ice.policy == .lite || session.ice != nil ? local.ice.offer(from: local) : []
        let ptime = min(local.ptime, local.maxptime ?? 120, formats.first?.codec.longestPacket ?? 120)
        let stream = OutgoingStream(
            formats: formats, mux: local.offersMux, ptime: ptime, maxptime: local.maxptime, direction: direction, security: security,
            ice: ice)
        next.stream = stream
        return opening(next)
    }

    /// The open offer once more over the secure profile, for a peer that refused it over the plain one with keys in it (RFC 8643): so do
    /// telephones that are set to encrypt always. nil where the offer was no such one.
    public mutating func offerSecurely() -> SessionDescription? {
        guard case .localOffer(var next)? = pending, !next.hasAgreed, next.proto == .plainProfile, next.stream?.security.isEmpty == false
        else { return nil }
        next.proto = local.security.secureProfile
        return opening(next)
    }

    /// The direction in our last description that is in force; nil where it has no stream.
    public var direction: Direction? { session.stream?.direction }

    /// Opens an exchange from our side after the peer has taken the stream away: its place stays empty (RFC 3264 §8). So does that of the
    /// answer, which is `.refused`. As `offer` otherwise.
    public mutating func offerWithoutAudio() -> SessionDescription {
        precondition(state != .haveRemoteOffer, "an offer while the peer's is open")
        var next = session
        if next.slots.isEmpty { next.slots = [Session.Slot(.init(kind: .audio, port: 0, proto: next.proto, formats: []))] }
        next.stream = nil
        return opening(next)
    }

    private mutating func opening(_ next: Session) -> SessionDescription {
        (pending, state) = (.localOffer(next), .haveLocalOffer)
        return sending(next)
    }

    /// The answer to our offer. On an error the exchange is over and the session is as it was before the offer.
    @discardableResult
    public mutating func receive(answer: SessionDescription) throws(NegotiationError) -> NegotiatedAudio {
        guard case .localOffer(var next)? = pending else { throw .outOfTurn }
        rollback()
        guard answer.media.indices.contains(next.audioIndex), RemoteAudio.isAudio(answer.media[next.audioIndex]) else { throw .refused }
        let remote = try RemoteAudio(next.audioIndex, of: answer, for: local, usesICE: next.stream?.ice.isEmpty == false)
        guard let stream = next.stream else { throw .noCommonCodec }
        let formatsAgreed = Self.agreed(answer: remote.formats, theirs: remote.formats, ours: stream.formats)
        guard formatsAgreed.contains(where: \.codec.isSound) else { throw .noCommonCodec }
        var hold = remote.hold
        // An inactive answer to a hold of ours does not say that the peer holds, too.
        if stream.direction != .sendrecv, hold == .inactive { hold = session.audio?.remoteHold ?? .none }
        let mux = stream.mux && remote.offersMux
        let flow = stream.direction.limited(to: remote.direction.reversed)
        var audio = agreement(remote, formatsAgreed, mux: mux, flow: flow, hold: hold)
        audio.reducedSizeRTCP = stream.reducedSize && remote.takesReducedSize
        audio.security = try local.security.agreed(by: remote.security, to: stream.security, after: session.audio?.security)
        audio.ice = local.ice.agreed(with: remote.ice)
        (next.audio, next.hasAgreed, next.ice, next.setup) = (audio, true, remote.ice.credentials, remote.security.setup)
        next.isBundled = next.isBundled && remote.isBundled(in: answer)
        session = next
        return audio
    }

    /// Takes an offer of the peer's. On an error nothing has changed: answer with its `status`.
    public mutating func receive(offer: SessionDescription) throws(NegotiationError) {
        guard state == .stable else { throw .outOfTurn }
        let remote = try acceptable(in: offer)
        let timing = offer.timing == SessionDescription.always ? nil : offer.timing.detached
        pending = .remoteOffer(remote, offer.media, isBundled: remote?.isBundled(in: offer) ?? false, timing: timing)
        state = .haveRemoteOffer
        let offered = remote?.formats.map(\.codec) ?? []
        remoteOffer = RemoteOffer(
            codecs: offered.filter(\.isSound), hasTelephoneEvents: offered.contains(where: \.isTelephoneEvent),
            hasComfortNoise: offered.contains(where: \.isComfortNoise),
            hold: remote?.hold ?? .none, multiplexes: remote?.offersMux ?? false,
            startsICE: remote?.ice.credentials.map { $0 != session.ice } ?? false, removesAudio: remote == nil,
            ptime: remote.map { packetTime($0, nil) } ?? local.ptime, maxptime: remote?.longestPacket, address: remote?.rtp.address)
    }

    /// Answers the open offer; the exchange is then done.
    ///
    /// Must be called with an offer open. On `.noCommonCodec` the offer stays open: refuse it and `rollback`.
    ///
    /// - Parameter codecs: the only ones to agree to, in the order to answer them, as what the other leg of a bridge
    ///   agreed. Their format parameters, then those of `local`, then for Opus those of the offer are answered.
    ///   nil: all of `local` that was offered, in the offer's order. Telephone-events do not depend on it.
    /// - Parameter other: what the other leg of a bridge agreed. Packets go there as they come: how long they should be and may be is what
    ///   it says.
    /// - Returns: the description to send, and the agreement, which is nil when the peer removed the stream.
    public mutating func answer(
        codecs allowed: [Codec]? = nil, direction wish: Direction = .sendrecv, passingTo other: NegotiatedAudio? = nil
    ) throws(NegotiationError) -> (description: SessionDescription, audio: NegotiatedAudio?) {
        guard case .remoteOffer(let remote, let offered, let isBundled, let timing)? = pending else {
            preconditionFailure("an answer without an offer")
        }
        var next = session
        next.timing = timing
        next.slots = offered.map { Session.Slot($0) }
        guard let remote else { return (answerRemoval(next), nil) }
        let formats = answeredFormats(to: remote, allowed: allowed)
        let formatsAgreed = Self.agreed(answer: formats, theirs: remote.formats, ours: formats)
        guard formatsAgreed.contains(where: \.codec.isSound) else { throw .noCommonCodec }
        let flow = wish.limited(to: remote.direction.reversed)
        let protection = try local.security.answer(remote.security, after: session.audio?.security, said: session.setup)
        var audio = agreement(remote, formatsAgreed, mux: remote.offersMux, flow: flow, hold: remote.hold)
        audio.reducedSizeRTCP = remote.takesReducedSize
        audio.security = protection.security
        let checks = local.ice.answer(remote.ice, from: local, mux: remote.offersMux)
        audio.ice = checks.ice
        (next.audio, next.audioIndex, next.proto, next.hasAgreed) = (audio, remote.index, remote.proto, true)
        (next.ice, next.mid, next.isBundled, next.setup) = (remote.ice.credentials, remote.mid, isBundled, remote.security.setup)
        for format in formats { next.numbers.record(format) }
        let ptime = min(other?.ptime ?? audio.ptime, audio.primary.codec.longestPacket)
        let stream = OutgoingStream(
            formats: formats, mux: remote.offersMux, reducedSize: remote.takesReducedSize, ptime: ptime,
            maxptime: other?.maxptime, direction: flow, security: protection.attributes, ice: checks.attributes)
        next.stream = stream
        finish(next)
        return (sending(next), audio)
    }

    /// Writes our last description once more, as `local` is now: the answer that has not left yet, with another port.
    public mutating func restated() -> SessionDescription {
        if case .localOffer(let next)? = pending { return sending(next) }
        return sending(session)
    }

    /// Gives up the open exchange, if any: its request failed or was refused. What was agreed before stays in force.
    public mutating func rollback() {
        (state, pending, remoteOffer) = (.stable, nil, nil)
    }
}

// MARK: What an exchange is made of

extension OfferAnswer {
    /// Values that last between exchanges.
    struct Session: Sendable {
        /// The parts of an `m=` line that are needed to refuse it again in its place.
        struct Slot: Sendable {
            var kind: Text
            var proto: Text
            var formats: [Text]

            init(_ media: SessionDescription.Media) { (kind, proto, formats) = (media.kind, media.proto, media.formats) }

            /// RFC 3264 §6: refused by port 0, with at least one format.
            var refused: SessionDescription.Media { .init(kind: kind, port: 0, proto: proto, formats: formats.isEmpty ? ["0"] : formats) }
        }

        var slots: [Slot] = []
        var audioIndex = 0
        var proto = Text.plainProfile
        var numbers = PayloadNumbers()
        var audio: NegotiatedAudio?
        /// There was an agreement; what removes the stream again says nothing new.
        var hasAgreed = false
        /// The peer's name for the stream (RFC 5888), and whether it groups it with others on one transport (RFC 9143): browsers want both
        /// to be said again.
        var mid: Text?
        var isBundled = false
        /// The credentials that the peer's checks prove themselves with; nil while there are none.
        var ice: ICECredentials?
        /// The part in a handshake (`a=setup`) that the peer's last description named.
        var setup: DTLSSetup?
        /// Our side of it, as our last description tells it; nil where that has none.
        var stream: OutgoingStream?
        /// The times of the peer's last offer, which our answer repeats (RFC 3264 §6); nil where they bound nothing.
        var timing: Text?
    }

    /// Indirect: there is one for a moment alone, and it is as large as all the rest.
    private indirect enum Pending: Sendable {
        case localOffer(Session)
        /// Without a stream: the audio was removed.
        case remoteOffer(RemoteAudio?, [SessionDescription.Media], isBundled: Bool, timing: Text?)
    }

    private mutating func finish(_ next: Session) {
        rollback()
        session = next
    }

    private mutating func answerRemoval(_ next: Session) -> SessionDescription {
        var next = next
        (next.audio, next.stream) = (nil, nil)
        finish(next)
        return sending(next)
    }

    /// The first stream that we can take, the one in use before others; nil where a re-offer removes the audio.
    private func acceptable(in offer: SessionDescription) throws(NegotiationError) -> RemoteAudio? {
        var places = offer.media.indices.filter { RemoteAudio.isAudio(offer.media[$0]) }
        if session.audio != nil, places.contains(session.audioIndex) {
            places.sort { $1 != session.audioIndex && $0 == session.audioIndex }
        }
        var firstError: NegotiationError?
        for place in places where offer.media[place].port != 0 {
            do throws(NegotiationError) {
                let remote = try RemoteAudio(place, of: offer, for: local, usesICE: local.ice.policy != .off)
                _ = try local.security.answer(remote.security, after: session.audio?.security)
                if remote.formats.contains(where: { format in local.codecs.contains { $0.matches(format.codec) } }) { return remote }
                firstError = firstError ?? .noCommonCodec
            } catch {
                firstError = firstError ?? error
            }
        }
        if let firstError { throw firstError }
        // Fewer `m=` lines than before, though they are to stay (RFC 3264 §8), are taken while the sound is among them: who connects one
        // phone after the other offers what each of them has. What offers another kind of stream in place of the sound, as fax, is refused
        // and leaves the session as it was; nothing at all takes it away. A stream is taken away in its place (RFC 3264 §8).
        guard session.hasAgreed, offer.media.indices.contains(session.audioIndex), offer.media.allSatisfy({ $0.port == 0 }) else {
            throw .noAudio
        }
        return nil
    }

    /// The formats of our answer, under the offerer's numbers (RFC 3264 §6.1).
    private func answeredFormats(to remote: RemoteAudio, allowed: [Codec]?) -> [RemoteAudio.Format] {
        let offered = remote.formats.filter { format in local.codecs.contains { $0.matches(format.codec) } }
        let order = allowed ?? offered.map(\.codec)
        var chosen: [RemoteAudio.Format] = []
        for wanted in order {
            guard let format = offered.first(where: { $0.codec.matches(wanted) }), !chosen.contains(where: { $0.codec.matches(wanted) })
            else { continue }
            guard var codec = local.codecs.first(where: { $0.matches(wanted) }) else { continue }
            codec.fmtp = allowed == nil ? codec.fmtp : wanted.fmtp ?? codec.fmtp
            if codec.isOpus { codec.fmtp = codec.fmtp ?? format.codec.fmtp }
            chosen.append(.init(payloadType: format.payloadType, codec: codec))
        }
        return chosen + answeredNoise(to: remote, beside: chosen) + answeredEvents(to: remote, beside: chosen)
    }

    /// The comfort noise at each clock that we agreed to.
    private func answeredNoise(to remote: RemoteAudio, beside chosen: [RemoteAudio.Format]) -> [RemoteAudio.Format] {
        guard local.comfortNoise else { return [] }
        let clocks = Set(chosen.filter { !$0.codec.isOpus }.map(\.codec.clockRate))
        var noise: [RemoteAudio.Format] = []
        for format in remote.formats where format.codec.isComfortNoise && clocks.contains(format.codec.clockRate) {
            if !noise.contains(where: { $0.codec.matches(format.codec) }) {
                noise.append(.init(payloadType: format.payloadType, codec: .comfortNoise(format.codec.clockRate)))
            }
        }
        return noise
    }

    /// The event rate of each clock that we agreed to; where none was offered, whichever rate was.
    private func answeredEvents(to remote: RemoteAudio, beside chosen: [RemoteAudio.Format]) -> [RemoteAudio.Format] {
        guard local.telephoneEvents else { return [] }
        var offered: [RemoteAudio.Format] = []
        for format in remote.formats where format.codec.isTelephoneEvent && !offered.contains(where: { $0.codec.matches(format.codec) }) {
            offered.append(.init(payloadType: format.payloadType, codec: .telephoneEvent(format.codec.clockRate)))
        }
        let fitting = offered.filter { event in chosen.contains { $0.codec.clockRate == event.codec.clockRate } }
        return fitting.isEmpty ? Array(offered.prefix(1)) : fitting
    }

    /// The formats that both listed, in the answer's order, with the peer's numbers to send and ours to receive.
    private static func agreed(answer: [RemoteAudio.Format], theirs: [RemoteAudio.Format], ours: [RemoteAudio.Format]) -> [NegotiatedCodec]
    {
        var agreed: [NegotiatedCodec] = []
        for format in answer where !agreed.contains(where: { $0.codec.matches(format.codec) }) {
            guard let own = ours.first(where: { $0.codec.matches(format.codec) }) else { continue }
            guard let their = theirs.first(where: { $0.codec.matches(format.codec) }) else { continue }
            var codec = own.codec
            // The text gets memory of its own: a part of the peer's message would keep all of that, as long as the call lasts.
            if their.codec.fmtp != codec.fmtp { codec.fmtp = their.codec.fmtp?.detached }
            agreed.append(NegotiatedCodec(codec: codec, receivePayloadType: own.payloadType, sendPayloadType: their.payloadType))
        }
        return agreed
    }

    private func agreement(
        _ remote: RemoteAudio, _ formats: [NegotiatedCodec], mux: Bool, flow: Direction, hold: RemoteHold
    ) -> NegotiatedAudio {
        var audio = NegotiatedAudio(
            codecs: formats.filter(\.codec.isSound), telephoneEvents: formats.filter(\.codec.isTelephoneEvent), remoteRTP: remote.rtp,
            remoteRTCP: mux ? remote.rtp : remote.separateRTCP, rtcpMux: mux, sends: flow.sends, receives: flow.receives, remoteHold: hold,
            ptime: packetTime(remote, formats.first { $0.codec.isSound }?.codec))
        audio.comfortNoise = formats.filter(\.codec.isComfortNoise)
        audio.maxptime = remote.longestPacket
        return audio
    }

    /// The peer's wish (RFC 8866 §6.4), else ours; whole tens of milliseconds from 10 to 120, within its maximum and what a packet of the
    /// codec can hold.
    private func packetTime(_ remote: RemoteAudio, _ codec: Codec?) -> Int {
        let wished = remote.ptime ?? local.ptime
        return min(max(min(wished, remote.maxptime ?? 120) / 10 * 10, 10), codec?.longestPacket ?? 120)
    }

    /// The whole description with a version of its own: one more than the last when anything else differs (RFC 3264 §8).
    private mutating func sending(_ session: Session) -> SessionDescription {
        let audio = session.stream?.media(local, proto: session.proto, mid: session.mid)
        let connection = SessionDescription.Connection(local.address)
        let origin = SessionDescription.Origin(
            sessionID: Text(sessionID), version: .empty, addressType: connection.addressType, address: connection.host)
        var description = SessionDescription(origin: origin, connection: connection, timing: session.timing ?? SessionDescription.always)
        description.media = session.slots.map(\.refused)
        if let audio {
            if audio.attribute(.iceUser) != nil { description.attributes += [.init("ice-lite"), .init("ice-options", "ice2")] }
            if session.isBundled, let mid = session.mid { description.attributes.append(.init("group", "BUNDLE " + mid)) }
            if description.media.indices.contains(session.audioIndex) {
                description.media[session.audioIndex] = audio
            } else {
                description.media.append(audio)
            }
        }
        let content = description.hashValue
        if content != lastSent { (version, lastSent) = (version + 1, content) }
        description.origin.version = Text(version)
        return description
    }
}
