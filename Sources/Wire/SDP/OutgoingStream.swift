import Primitives

/// Our `m=audio` section, of an offer or an answer.
struct OutgoingStream {
    var formats: [RemoteAudio.Format]
    var mux: Bool
    /// An answer to an offer that has it (RFC 5506 §5).
    var reducedSize = false
    var ptime: Int
    var maxptime: Int?
    var direction: Direction
    /// The attributes of its protection.
    var security: [SessionDescription.Attribute] = []
    /// The attributes of its connectivity checks.
    var ice: [SessionDescription.Attribute] = []

    func media(_ local: LocalMedia, proto: Text, mid: Text?) -> SessionDescription.Media {
        var media = SessionDescription.Media(kind: .audio, port: local.port, proto: proto, formats: [])
        media.formats.reserveCapacity(formats.count)
        media.attributes.reserveCapacity(2 * formats.count + security.count + ice.count + 6)
        if let mid { media.attributes.append(.init(.mid, mid)) }
        let (text, places) = writtenFormats
        for (format, place) in zip(formats, places) {
            media.formats.append(Text(text[place.number]))
            media.attributes.append(.init(.rtpmap, Text(text[place.map])))
            if let fmtp = format.codec.fmtp {
                media.attributes.append(.init(.fmtp, Text(text[place.number.lowerBound...place.number.upperBound]) + fmtp))
            }
        }
        media.attributes.append(.init(.ptime, Text(ptime)))
        if let maxptime { media.attributes.append(.init(.maxptime, Text(maxptime))) }
        appendRTCP(local, to: &media.attributes)
        media.attributes += security
        media.attributes += ice
        media.attributes.append(.init(direction.text))
        return media
    }

    /// Each format's number and what it maps to, all in one buffer.
    private var writtenFormats: (text: [UInt8], places: [(number: Range<Int>, map: Range<Int>)]) {
        var text: [UInt8] = []
        text.reserveCapacity(32 * formats.count)
        let places = formats.map { format -> (number: Range<Int>, map: Range<Int>) in
            let start = text.count
            text.append(decimal: format.payloadType)
            let end = text.count
            text.append(0x20)
            format.codec.appendMap(to: &text)
            return (start..<end, start..<text.count)
        }
        return (text, places)
    }

    /// RTP+1 goes without saying; any other port is named (RFC 3605), also beside an offer to multiplex (RFC 5761 §5.1.3).
    private func appendRTCP(_ local: LocalMedia, to attributes: inout [SessionDescription.Attribute]) {
        let port = local.rtcpPort ?? local.port
        if port != local.port &+ 1 { attributes.append(.init(.rtcp, Text(port))) }
        if mux { attributes.append(.init(.rtcpMux)) }
        if reducedSize { attributes.append(.init(.rtcpReducedSize)) }
    }
}

/// The codec that each payload type number means in packets to us, for the whole session (RFC 3264 §8.3.2).
struct PayloadNumbers: Sendable {
    /// Without the format parameters, which are no part of the meaning: every call keeps these as long as it lasts.
    private struct Meaning: Sendable {
        let name: Text
        let clockRate: UInt32
        let channels: UInt8
        let payloadType: UInt8

        init(_ format: RemoteAudio.Format) {
            (name, clockRate, channels, payloadType) = (
                format.codec.name, format.codec.clockRate, format.codec.channels, format.payloadType
            )
        }

        func matches(_ codec: Codec) -> Bool { codec.isEncoded(name, clockRate, channels) }
    }

    private var known: [Meaning] = []

    /// Each number that has a meaning, without format parameters.
    var all: [RemoteAudio.Format] {
        known.map { .init(payloadType: $0.payloadType, codec: Codec(name: $0.name, clockRate: $0.clockRate, channels: $0.channels)) }
    }

    /// The formats that we offer of `local`: every codec, then comfort noise and telephone-event at each of their clocks.
    mutating func offered(of local: LocalMedia) -> [RemoteAudio.Format] {
        var codecs = local.codecs
        if local.comfortNoise { for clock in Self.clocks(of: local.codecs.filter { !$0.isOpus }) { codecs.append(.comfortNoise(clock)) } }
        if local.telephoneEvents { for clock in Self.clocks(of: local.codecs) { codecs.append(.telephoneEvent(clock)) } }
        known.reserveCapacity(max(known.count, codecs.count))
        var formats: [RemoteAudio.Format] = []
        formats.reserveCapacity(codecs.count)
        for codec in codecs {
            if let number = known.first(where: { $0.matches(codec) })?.payloadType {
                formats.append(RemoteAudio.Format(payloadType: number, codec: codec))
            } else if let number = freeNumber(for: codec) {
                let format = RemoteAudio.Format(payloadType: number, codec: codec)
                known.append(Meaning(format))
                formats.append(format)
            }
        }
        return formats
    }

    /// Each of them once, the fastest first.
    private static func clocks(of codecs: [Codec]) -> [UInt32] {
        var clocks: [UInt32] = []
        for codec in codecs where !clocks.contains(codec.clockRate) { clocks.append(codec.clockRate) }
        return clocks.sorted(by: >)
    }

    /// The latest meaning of a number wins: a peer's offer may give it another.
    mutating func record(_ format: RemoteAudio.Format) {
        known.removeAll { $0.payloadType == format.payloadType || $0.matches(format.codec) }
        known.append(Meaning(format))
    }

    /// nil when all dynamic numbers are taken. Static numbers keep their static meaning: none but its own is given to a codec.
    private func freeNumber(for codec: Codec) -> UInt8? {
        if let number = codec.staticPayloadType, isFree(number) { return number }
        let customary = codec.customaryPayloadType
        return isFree(customary) ? customary : (96...127).first(where: isFree)
    }

    private func isFree(_ number: UInt8) -> Bool { !known.contains { $0.payloadType == number } }
}
