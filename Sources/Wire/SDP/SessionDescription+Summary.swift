import Primitives

extension SessionDescription {
    /// The offer in a line for people: for each stream its kind, its address, its codecs, and its direction, encryption and ICE where they
    /// are other than usual. `audio 192.0.2.1:4000 opus PCMU telephone-event sendonly SDES`. No keys are in it. At most 300 bytes.
    public var summary: Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(128)
        for stream in media {
            if !bytes.isEmpty { bytes += [0x2C, 0x20] }
            append(stream, to: &bytes)
            if bytes.count > Self.longestSummary { break }
        }
        if bytes.count > Self.longestSummary { bytes = bytes.prefix(Self.longestSummary - 4) + Array(" ...".utf8) }
        // A stranger wrote it: what is no printable character of ASCII stays out of a journal.
        for index in bytes.indices where !(0x20..<0x7F).contains(bytes[index]) { bytes[index] = UInt8(ascii: "?") }
        return Text(bytes)
    }

    private static let longestSummary = 300

    private func append(_ media: Media, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: media.kind.bytes)
        guard media.port != 0 else { return bytes += " none".utf8 }
        bytes.append(0x20)
        bytes.append(contentsOf: connection(of: media)?.host.bytes ?? Text("-").bytes)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(decimal: media.port)
        for name in codecs(of: media) {
            bytes.append(0x20)
            bytes.append(contentsOf: name.bytes)
        }
        if let direction = direction(of: media), direction != .sendrecv {
            bytes.append(0x20)
            bytes.append(contentsOf: direction.text.bytes)
        }
        if attribute(.fingerprint, of: media) != nil { bytes += " DTLS".utf8 }
        if media.attribute(.crypto) != nil { bytes += " SDES".utf8 }
        if attribute(.iceUser, of: media) != nil { bytes += " ICE".utf8 }
    }

    /// As `a=rtpmap` names them, else by their static numbers, each once.
    private func codecs(of media: Media) -> [Text] {
        let maps = media.parameters(.rtpmap)
        var names: [Text] = []
        for format in media.formats {
            let number = format.integer(UInt8.self), map = maps.first { $0.number == number }?.value
            let codec = map.flatMap { Codec(rtpmap: $0) } ?? number.flatMap { Codec.withStaticPayloadType($0) }
            let name = codec?.name ?? format
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
