import Primitives

/// One `m=audio` section of the peer's, read with what it inherits from the session.
struct RemoteAudio: Sendable {
    struct Format: Sendable {
        var payloadType: UInt8
        var codec: Codec
    }

    /// Which `m=` line it is.
    let index: Int
    /// As written; our answer mirrors it.
    let proto: Text
    let formats: [Format]
    let rtp: SocketAddress
    /// Where `a=rtcp` or custom says that RTCP goes when it is not multiplexed.
    let separateRTCP: SocketAddress?
    let offersMux: Bool
    let ptime: Int?
    let maxptime: Int?
    /// The peer's view, already without receiving when its address is zero.
    let direction: Direction
    let hold: RemoteHold
    let security: RemoteSecurity

    /// - Parameter family: of our own address: the peer's must be of the same, or unspecified.
    init(_ index: Int, of description: SessionDescription, family: IPAddress.Family) throws(NegotiationError) {
        let media = description.media[index]
        guard media.port != 0 else { throw .refused }
        guard let security = RemoteSecurity(media, of: description) else { throw .unsupportedProfile }
        self.security = security
        guard let address = (media.connection ?? description.connection)?.address, Self.isUsable(address, family: family) else {
            throw .unusableAddress
        }
        self.index = index
        proto = media.proto
        formats = Self.formats(of: media)
        rtp = SocketAddress(address, port: media.port)
        separateRTCP = Self.separateRTCP(media, rtp: rtp)
        offersMux = media.attribute(.rtcpMux) != nil
        ptime = (media.attribute(.ptime) ?? description.attribute(.ptime))?.milliseconds
        maxptime = (media.attribute(.maxptime) ?? description.attribute(.maxptime))?.milliseconds
        let written = Direction(in: media.attributes) ?? Direction(in: description.attributes) ?? .sendrecv
        direction = address.isAny ? written.limited(to: .sendonly) : written
        hold = address.isAny ? .zeroAddress : written == .sendonly ? .sendonly : written == .inactive ? .inactive : .none
    }

    static func isAudio(_ media: SessionDescription.Media) -> Bool { media.kind.equalsIgnoringCase(.audio) }

    private static func isUsable(_ address: IPAddress, family: IPAddress.Family) -> Bool {
        if address.isAny { return true }
        let broadcast = address.family == .v4 && address.low == 0xFFFF_FFFF
        return address.family == family && !address.isMulticast && !broadcast
    }

    /// In the order of the `m=` line. Numbers that RTCP uses on a shared port (64–95, RFC 5761 §4) are left out.
    private static func formats(of media: SessionDescription.Media) -> [Format] {
        var found: [Format] = []
        for text in media.formats {
            guard let number = text.integer(UInt8.self), number < 128, !(64...95).contains(number) else { continue }
            guard !found.contains(where: { $0.payloadType == number }), var codec = codec(number, in: media) else { continue }
            codec.fmtp = media.parameter(.fmtp, of: number)
            found.append(Format(payloadType: number, codec: codec))
        }
        return found
    }

    private static func codec(_ number: UInt8, in media: SessionDescription.Media) -> Codec? {
        media.parameter(.rtpmap, of: number).flatMap { Codec(rtpmap: $0) } ?? .withStaticPayloadType(number)
    }

    /// `a=rtcp:PORT [IN IP4 ADDRESS]` (RFC 3605), else the port above; nil where neither can be.
    private static func separateRTCP(_ media: SessionDescription.Media, rtp: SocketAddress) -> SocketAddress? {
        if let fields = media.attribute(.rtcp)?.value?.fields, let port = fields.first?.integer(UInt16.self), port != 0 {
            let named = fields.count >= 4 ? IPAddress(fields[3]) : nil
            let usable = named.flatMap { isUsable($0, family: rtp.address.family) && !$0.isAny ? $0 : nil }
            return SocketAddress(usable ?? rtp.address, port: port)
        }
        return rtp.port == .max ? nil : SocketAddress(rtp.address, port: rtp.port + 1)
    }
}

extension SessionDescription.Media {
    /// What follows the number in `a=NAME:NUMBER …`; nil when there is no such attribute.
    fileprivate func parameter(_ name: Text, of number: UInt8) -> Text? {
        for attribute in attributes where attribute.name == name {
            guard let value = attribute.value?.trimmed else { continue }
            let end = value.bytes.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? value.bytes.endIndex
            guard Text(value.bytes[..<end]).integer(UInt8.self) == number else { continue }
            let rest = Text(value.bytes[end...]).trimmed
            return rest.isEmpty ? nil : rest
        }
        return nil
    }
}

extension SessionDescription.Attribute {
    /// A positive number of milliseconds; a fraction, which RFC 8866 allows, is cut off.
    fileprivate var milliseconds: Int? {
        guard let value = value?.trimmed, let whole = Text(value.bytes.prefix { $0 != UInt8(ascii: ".") }).integer(Int.self) else { return nil }
        return whole > 0 && whole <= 1_000 ? whole : nil
    }
}
