import Primitives

extension RTCPPacket {
    /// The packets as one datagram. At most 31 blocks, names or sources each; texts are cut at 255 bytes.
    ///
    /// `.other` cannot be made, for its contents were not kept.
    public static func make(_ packets: [RTCPPacket]) -> [UInt8] {
        var bytes: [UInt8] = []
        for packet in packets { packet.append(to: &bytes) }
        return bytes
    }

    private func append(to bytes: inout [UInt8]) {
        let start = bytes.count
        switch self {
        case .senderReport(let ssrc, let info, let blocks):
            bytes.appendHeader(type: 200, count: blocks.count)
            bytes.appendWords(
                ssrc, UInt32(info.ntp >> 32), UInt32(truncatingIfNeeded: info.ntp), info.rtpTimestamp, info.packets, info.octets)
            bytes.appendBlocks(blocks)
        case .receiverReport(let ssrc, let blocks):
            bytes.appendHeader(type: 201, count: blocks.count)
            bytes.appendWords(ssrc)
            bytes.appendBlocks(blocks)
        case .sourceDescription(let names):
            bytes.appendHeader(type: 202, count: names.count)
            for name in names { bytes.appendName(name, from: start) }
        case .goodbye(let sources, let reason):
            bytes.appendHeader(type: 203, count: sources.count)
            for source in sources { bytes.appendWords(source) }
            if let reason { bytes.appendText(reason) }
            while (bytes.count - start) % 4 != 0 { bytes.append(0) }
        case .extendedReport(let ssrc, let metrics):
            bytes.appendHeader(type: 207, count: 0)
            bytes.appendWords(ssrc, 7 << 24 | UInt32(VoIPMetrics.words))
            bytes += metrics.bytes
        case .other: preconditionFailure("packets of other types are not made")
        }
        let words = UInt16((bytes.count - start) / 4 - 1)
        (bytes[start + 2], bytes[start + 3]) = (UInt8(words >> 8), UInt8(truncatingIfNeeded: words))
    }
}

extension [UInt8] {
    fileprivate mutating func appendHeader(type: UInt8, count: Int) {
        precondition(count <= 31, "an RTCP packet has a count of five bits")
        self += [0x80 | UInt8(count), type, 0, 0]
    }

    fileprivate mutating func appendWords(_ words: UInt32...) {
        for word in words {
            for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
    }

    fileprivate mutating func appendBlocks(_ blocks: [RTCPPacket.ReportBlock]) {
        for block in blocks {
            let lost = UInt32(bitPattern: Swift.min(Swift.max(block.cumulativeLost, -0x80_0000), 0x7F_FFFF)) & 0xFF_FFFF
            appendWords(
                block.ssrc, UInt32(block.fractionLost) << 24 | lost, block.highestSequence, block.jitter, block.lastSenderReport,
                block.delaySinceSenderReport)
        }
    }

    /// One chunk: the name, a zero that ends its items, and zeros up to a whole word.
    fileprivate mutating func appendName(_ name: RTCPPacket.SourceName, from start: Int) {
        appendWords(name.ssrc)
        append(1)
        appendText(name.cname)
        repeat { append(0) } while (count - start) % 4 != 0
    }

    fileprivate mutating func appendText(_ text: Text) {
        let bytes = text.bytes.prefix(255)
        append(UInt8(bytes.count))
        self += bytes
    }
}
