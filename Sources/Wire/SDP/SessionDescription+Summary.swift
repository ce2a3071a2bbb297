import Primitives

extension SessionDescription {
    /// What it offers, in a line for people: of each stream its kind, where it goes, its codecs, and its direction, encryption and ICE
    /// where they are other than usual. `audio 192.0.2.1:4000 opus PCMU telephone-event sendonly SDES`. No keys are in it. At most 300
    /// bytes.
    public var summary: Text {
        // A stranger wrote it: what is no printable character of ASCII stays out of a journal.
        let bytes = media.map(summary).joined(separator: ", ").utf8.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }
        return Text(bytes.count <= Self.longestSummary ? bytes : bytes.prefix(Self.longestSummary - 4) + Array(" ...".utf8))
    }

    private static let longestSummary = 300

    private func summary(of media: Media) -> String {
        guard media.port != 0 else { return "\(media.kind) none" }
        var words = ["\(media.kind)", "\(connection(of: media)?.host ?? "-"):\(media.port)"] + codecs(of: media)
        if let direction = direction(of: media), direction != .sendrecv { words.append("\(direction.text)") }
        if attribute(.fingerprint, of: media) != nil { words.append("DTLS") }
        if media.attribute(.crypto) != nil { words.append("SDES") }
        if attribute(.iceUser, of: media) != nil { words.append("ICE") }
        return words.joined(separator: " ")
    }

    /// As `a=rtpmap` names them, else by their static numbers, each once.
    private func codecs(of media: Media) -> [String] {
        let maps = media.parameters(.rtpmap)
        var names: [String] = []
        for format in media.formats {
            let number = format.integer(UInt8.self), map = maps.first { $0.number == number }?.value
            let codec = map.flatMap { Codec(rtpmap: $0) } ?? number.flatMap { Codec.withStaticPayloadType($0) }
            let name = codec?.name.description ?? "\(format)"
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}
