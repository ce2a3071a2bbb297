public import Primitives

/// Checks and decrypts what one side of a session receives: RTP and RTCP under one master key (RFC 3711, RFC 7714).
///
/// Works in the caller's buffer and allocates nothing per packet of a source that is known. Lives on one lane.
public final class SRTPReceiver {
    /// So many genuine packets after a change of key, packets under the old one are not late any more but somebody else's.
    static let packetsOfGrace = 64

    /// The key that the far end protects its packets with.
    public let key: SRTPKey
    /// Counts of the packets that came.
    public private(set) var counts = SRTPCounts()
    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    private var sources: SRTPSources
    private var controlSources = SRTPSources()
    private var predecessor: SRTPReceiver?
    private var grace = packetsOfGrace

    /// - Parameter predecessor: what was used until now, under another key. Its packets that are under way are still taken, and the
    ///   rollover counter goes on
    ///   (RFC 3711 §3.3.1), or begins at 0 where the far end began anew: the first genuine packet decides.
    public init(_ key: SRTPKey, after predecessor: SRTPReceiver? = nil) {
        self.key = key
        rtp = SRTPCipher(key, .rtp, encrypts: false)
        rtcp = SRTPCipher(key, .rtcp, encrypts: false)
        sources = predecessor.map { SRTPSources(inheriting: $0.sources) } ?? SRTPSources()
        self.predecessor = predecessor
        predecessor?.predecessor = nil
    }

    /// With session keys that were not derived from `key`, as the vectors of the RFCs have them.
    init(_ key: SRTPKey, rtp: consuming SRTPCipher, rtcp: consuming SRTPCipher) {
        self.key = key
        self.rtp = rtp
        self.rtcp = rtcp
        sources = SRTPSources()
    }

    /// Checks the RTP packet, decrypts it in place and returns how many bytes of it are left. Throws, and leaves the packet as it was, what
    /// cannot be believed.
    public func unprotect(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPRefusal) -> Int {
        try counted { () throws(SRTPRefusal) in
            do throws(SRTPRefusal) { return try open(packet) } catch {
                guard error == .forged, let predecessor else { throw error }
                return try predecessor.open(packet)
            }
        }
    }

    /// The same for an RTCP packet.
    public func unprotectControl(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPRefusal) -> Int {
        try counted { () throws(SRTPRefusal) in
            do throws(SRTPRefusal) { return try openControl(packet) } catch {
                guard error == .forged, let predecessor else { throw error }
                return try predecessor.openControl(packet)
            }
        }
    }

    @inline(__always)
    private func counted(_ work: () throws(SRTPRefusal) -> Int) throws(SRTPRefusal) -> Int {
        do throws(SRTPRefusal) {
            let count = try work()
            counts.passed += 1
            return count
        } catch {
            counts.count(error)
            throw error
        }
    }

    private func open(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPRefusal) -> Int {
        let count = packet.count - rtp.tagCount
        guard count >= 12, let header = SRTPPacket(UnsafeRawBufferPointer(rebasing: packet[..<count])) else { throw .malformed }
        var source = sources[header.ssrc]
        var index = source.window.index(of: header.sequence)
        if source.isInherited {
            // Nothing under this key was taken yet, so nothing can be a replay.
            if !isGenuine(packet, header, count, index) {
                guard index >> 16 != 0, isGenuine(packet, header, count, UInt64(header.sequence)) else { throw .forged }
                index = UInt64(header.sequence)
            }
            (source.isInherited, source.window) = (false, SRTPReplayWindow())
        } else {
            try source.window.check(index)
            guard isGenuine(packet, header, count, index) else { throw .forged }
        }
        source.window.accept(index)
        sources.keep(source)
        if predecessor != nil {
            grace -= 1
            if grace == 0 { predecessor = nil }
        }
        return count
    }

    /// Decrypts what is genuine, and leaves anything else as it was.
    private func isGenuine(_ packet: UnsafeMutableRawBufferPointer, _ header: SRTPPacket, _ count: Int, _ index: UInt64) -> Bool {
        let payload = UnsafeMutableRawBufferPointer(rebasing: packet[header.headerCount..<count])
        let tag = UnsafeMutableRawBufferPointer(rebasing: packet[count...])
        if rtp.isAEAD {
            let clear = UnsafeRawBufferPointer(rebasing: packet[..<header.headerCount])
            return rtp.open(payload, header: clear, nil, ssrc: header.ssrc, index: index, tag: tag)
        }
        let code = rtp.code(UnsafeRawBufferPointer(rebasing: packet[..<count]), UInt32(truncatingIfNeeded: index >> 16))
        guard rtp.matches(code, UnsafeRawBufferPointer(tag)) else { return false }
        return rtp.crypt(payload, ssrc: header.ssrc, index: index)
    }

    private func openControl(_ packet: UnsafeMutableRawBufferPointer) throws(SRTPRefusal) -> Int {
        let count = packet.count - rtcp.tagCount - 4
        guard count >= 8, let ssrc = SRTPPacket.controlSource(UnsafeRawBufferPointer(rebasing: packet[..<count])) else { throw .malformed }
        let wordOffset = rtcp.isAEAD ? packet.count - 4 : count
        let word = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: wordOffset, as: UInt32.self))
        let index = UInt64(word & 0x7FFF_FFFF)
        var source = controlSources[ssrc]
        try source.window.check(index)
        let text = UnsafeMutableRawBufferPointer(rebasing: packet[8..<count])
        guard word & 0x8000_0000 != 0 else { throw .unencrypted }
        if rtcp.isAEAD {
            let tag = UnsafeMutableRawBufferPointer(rebasing: packet[count..<wordOffset])
            let clear = UnsafeRawBufferPointer(rebasing: packet[..<8])
            guard rtcp.open(text, header: clear, word, ssrc: ssrc, index: index, tag: tag) else { throw .forged }
        } else {
            let code = rtcp.code(UnsafeRawBufferPointer(rebasing: packet[..<(count + 4)]), nil)
            guard rtcp.matches(code, UnsafeRawBufferPointer(rebasing: packet[(count + 4)...])) else { throw .forged }
            guard rtcp.crypt(text, ssrc: ssrc, index: index) else { throw .malformed }
        }
        source.window.accept(index)
        controlSources.keep(source)
        return count
    }
}
