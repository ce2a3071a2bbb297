import Primitives

/// One `m=audio` section of the peer's, read with what it inherits from the session.
struct RemoteAudio: Sendable {
    struct Format: Sendable {
        var payloadType: UInt8
        var codec: Codec
    }

    /// The index of its `m=` line.
    let index: Int
    /// As written; our answer mirrors it.
    let proto: Text
    let formats: [Format]
    let rtp: SocketAddress
    /// The address for RTCP that is not multiplexed, by `a=rtcp` or custom.
    let separateRTCP: SocketAddress?
    let offersMux: Bool
    /// RTCP that is no compound (RFC 5506).
    let takesReducedSize: Bool
    let ptime: Int?
    let maxptime: Int?
    /// The peer's view, already without receiving when its address is zero.
    let direction: Direction
    let hold: RemoteHold
    let security: RemoteSecurity
    let ice: RemoteICE
    /// Its name in groups (RFC 5888).
    let mid: Text?

    /// - Parameters:
    ///   - local: the peer's address must be of the family of ours, or unspecified, and one that we may send to.
    ///   - usesICE: whether checks may say where the peer is; then its address need not be usable.
    init(_ index: Int, of description: borrowing SessionDescription, for local: borrowing LocalMedia, usesICE: Bool)
        throws(NegotiationError)
    {
        let media = description.media[index]
        guard media.port != 0 else { throw .refused }
        guard let security = RemoteSecurity(media, of: description) else { throw .unsupportedProfile }
        self.security = security
        ice = usesICE ? RemoteICE(media, of: description) : .none
        let written = description.connection(of: media)?.address.map { SocketAddress($0, port: media.port) }
        let usable = written.flatMap { Self.isUsable($0, for: local) ? $0 : nil }
        guard let rtp = usable ?? (ice.findsAddress ? SocketAddress(local.address.family == .v4 ? .anyV4 : .anyV6, port: media.port) : nil)
        else {
            throw written.map(local.targets.isOurs) == true ? .ownMediaPort : .unusableAddress
        }
        self.index = index
        self.rtp = rtp
        let mid = media.attribute(.mid)?.value?.trimmed
        self.mid = mid.flatMap { $0.isEmpty ? nil : Text(Array($0.bytes)) }
        proto = media.proto
        formats = Self.formats(of: media)
        separateRTCP = Self.separateRTCP(media, rtp: rtp, for: local)
        offersMux = media.attribute(.rtcpMux) != nil
        takesReducedSize = media.attribute(.rtcpReducedSize) != nil
        ptime = description.attribute(.ptime, of: media)?.milliseconds
        maxptime = description.attribute(.maxptime, of: media)?.milliseconds
        let wish = description.direction(of: media) ?? .sendrecv
        // With checks an unspecified address is one that is not known yet (RFC 8839 §4.4.1.1.1).
        let hasNoAddress = rtp.address.isAny && !ice.findsAddress
        direction = hasNoAddress ? wish.limited(to: .sendonly) : wish
        hold = hasNoAddress ? .zeroAddress : wish == .sendonly ? .sendonly : wish == .inactive ? .inactive : .none
    }

    /// The most that a packet may hold, but 10 ms.
    var longestPacket: Int? { maxptime.map { max($0, 10) } }

    /// Whether it is in a BUNDLE. Looked up for the stream that is taken alone: groups may have thousands of names.
    func isBundled(in description: SessionDescription) -> Bool {
        mid != nil
            && description.attributes.contains { attribute in
                guard attribute.name == .group, let fields = attribute.value?.fields else { return false }
                return fields.first == "BUNDLE" && fields.contains { $0 == mid }
            }
    }

    static func isAudio(_ media: SessionDescription.Media) -> Bool { media.kind.equalsIgnoringCase(.audio) }

    private static func isUsable(_ target: SocketAddress, for local: LocalMedia) -> Bool {
        target.address.isAny || (target.address.family == local.address.family && local.targets.admits(target))
    }

    /// In the order of the `m=` line. Numbers that RTCP uses on a shared port (64–95, RFC 5761 §4) are left out.
    private static func formats(of media: SessionDescription.Media) -> [Format] {
        let maps = media.parameters(.rtpmap), wishes = media.parameters(.fmtp)
        var found: [Format] = []
        for text in media.formats {
            guard let number = text.integer(UInt8.self), number < 128, !(64...95).contains(number) else { continue }
            let map = maps.first { $0.number == number }?.value
            guard !found.contains(where: { $0.payloadType == number }),
                var codec = map.flatMap({ Codec(rtpmap: $0) }) ?? .withStaticPayloadType(number)
            else { continue }
            codec.fmtp = wishes.first { $0.number == number }?.value
            found.append(Format(payloadType: number, codec: codec))
        }
        return found
    }

    /// `a=rtcp:PORT [IN IP4 ADDRESS]` (RFC 3605), else the port above; nil where neither can be.
    private static func separateRTCP(_ media: SessionDescription.Media, rtp: SocketAddress, for local: LocalMedia) -> SocketAddress? {
        if let fields = media.attribute(.rtcp)?.value?.fields, let port = fields.first?.integer(UInt16.self), port != 0 {
            let named = fields.count >= 4 ? IPAddress(fields[3]) : nil
            let targets = [named, rtp.address].compactMap { $0.map { SocketAddress($0, port: port) } }
            return targets.first { (!$0.address.isAny || $0.address == rtp.address) && isUsable($0, for: local) }
        }
        let next = SocketAddress(rtp.address, port: rtp.port &+ 1)
        return rtp.port != .max && isUsable(next, for: local) ? next : nil
    }
}

extension SessionDescription.Media {
    /// The text behind the number in `a=NAME:NUMBER …`, for each number that of its first attribute; nil where there is none. Each
    /// attribute is read once.
    func parameters(_ name: Text) -> [(number: UInt8, value: Text?)] {
        var found: [(number: UInt8, value: Text?)] = []
        for attribute in attributes where attribute.name == name {
            guard let value = attribute.value?.trimmed else { continue }
            let end = value.bytes.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? value.bytes.endIndex
            guard let number = Text(value.bytes[..<end]).integer(UInt8.self), !found.contains(where: { $0.number == number }) else {
                continue
            }
            let rest = Text(value.bytes[end...]).trimmed
            found.append((number, rest.isEmpty ? nil : rest))
        }
        return found
    }
}

extension SessionDescription.Attribute {
    /// A positive number of milliseconds; a fraction, which RFC 8866 allows, is cut off.
    fileprivate var milliseconds: Int? {
        guard let value = value?.trimmed, let whole = Text(value.bytes.prefix { $0 != UInt8(ascii: ".") }).integer(Int.self) else {
            return nil
        }
        return whole > 0 && whole <= 1_000 ? whole : nil
    }
}
