public import Primitives

/// Protects what one side of a session sends: RTP and RTCP under one master key (RFC 3711, RFC 7714).
///
/// Works in the caller's buffer and allocates nothing per packet. Lives on one lane.
public final class SRTPSender {
    /// Bytes that a packet grows by at most.
    public static let overhead = 20

    /// The key that packets are protected with.
    public let key: SRTPKey
    /// Counts of the packets that were to leave.
    public private(set) var counts = SRTPCounts()
    private let rtp: SRTPCipher
    private let rtcp: SRTPCipher
    private var sources: SRTPSources
    /// The index of the next RTCP packet: 31 bits, one sequence for all sources.
    private var controlIndex: UInt32

    /// - Parameter predecessor: what protected the same streams until now, under another key: sequence and rollover go on (RFC 3711
    ///   §3.3.1).
    public init(_ key: SRTPKey, after predecessor: SRTPSender? = nil) {
        rtp = SRTPCipher(key, .rtp, encrypts: true)
        rtcp = SRTPCipher(key, .rtcp, encrypts: true)
        self.key = key
        sources = predecessor.map { SRTPSources(inheriting: $0.sources) } ?? SRTPSources()
        controlIndex = predecessor?.controlIndex ?? 0
    }

    /// With session keys that were not derived from `key`, as the vectors of the RFCs have them.
    init(_ key: SRTPKey, rtp: consuming SRTPCipher, rtcp: consuming SRTPCipher, controlIndex: UInt32) {
        self.key = key
        self.rtp = rtp
        self.rtcp = rtcp
        sources = SRTPSources()
        self.controlIndex = controlIndex
    }

    /// Encrypts the RTP packet in the first `count` bytes and returns how many there are now.
    ///
    /// Throws, and leaves the packet as it was, what is no RTP packet, what has no room behind it, and a sequence number for the second
    /// time, however late.
    public func protect(_ buffer: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPRefusal) -> Int {
        do throws(SRTPRefusal) {
            let total = try protectPacket(buffer, count)
            counts.passed += 1
            return total
        } catch {
            counts.count(error)
            throw error
        }
    }

    /// The same for a whole RTCP packet, compound or not.
    public func protectControl(_ buffer: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPRefusal) -> Int {
        do throws(SRTPRefusal) {
            let total = try protectControlPacket(buffer, count)
            counts.passed += 1
            return total
        } catch {
            counts.count(error)
            throw error
        }
    }

    private func protectPacket(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(SRTPRefusal) -> Int {
        guard count <= buffer.count - rtp.tagCount, let packet = SRTPPacket(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
            throw .malformed
        }
        var source = sources[packet.ssrc]
        let index = source.window.index(of: packet.sequence)
        do throws(SRTPRefusal) { try source.window.check(index) } catch { throw .spent }
        guard index < 1 << 48 else { throw .spent }
        let payload = UnsafeMutableRawBufferPointer(rebasing: buffer[packet.headerCount..<count])
        let tag = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + rtp.tagCount])
        if rtp.isAEAD {
            let clear = UnsafeRawBufferPointer(rebasing: buffer[..<packet.headerCount])
            guard rtp.seal(payload, header: clear, nil, ssrc: packet.ssrc, index: index, tag: tag) else { throw .malformed }
        } else {
            guard rtp.crypt(payload, ssrc: packet.ssrc, index: index) else { throw .malformed }
            rtp.write(rtp.code(UnsafeRawBufferPointer(rebasing: buffer[..<count]), UInt32(index >> 16)), to: tag)
        }
        source.window.accept(index)
        sources.keep(source)
        return count + rtp.tagCount
    }

    private func protectControlPacket(_ buffer: UnsafeMutableRawBufferPointer, _ count: Int) throws(SRTPRefusal) -> Int {
        let total = count + 4 + rtcp.tagCount
        guard total <= buffer.count, let ssrc = SRTPPacket.controlSource(UnsafeRawBufferPointer(rebasing: buffer[..<count])) else {
            throw .malformed
        }
        guard controlIndex < 0x8000_0000 else { throw .spent }
        let text = UnsafeMutableRawBufferPointer(rebasing: buffer[8..<count])
        let word = 0x8000_0000 | controlIndex
        if rtcp.isAEAD {
            let tag = UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + rtcp.tagCount])
            let clear = UnsafeRawBufferPointer(rebasing: buffer[..<8])
            guard rtcp.seal(text, header: clear, word, ssrc: ssrc, index: UInt64(controlIndex), tag: tag) else { throw .malformed }
            buffer.storeBytes(of: word.bigEndian, toByteOffset: total - 4, as: UInt32.self)
        } else {
            guard rtcp.crypt(text, ssrc: ssrc, index: UInt64(controlIndex)) else { throw .malformed }
            buffer.storeBytes(of: word.bigEndian, toByteOffset: count, as: UInt32.self)
            let code = rtcp.code(UnsafeRawBufferPointer(rebasing: buffer[..<(count + 4)]), nil)
            rtcp.write(code, to: UnsafeMutableRawBufferPointer(rebasing: buffer[(count + 4)..<total]))
        }
        controlIndex += 1
        return total
    }
}

/// The parts of a packet's header that the transform must know.
struct SRTPPacket {
    let ssrc: UInt32
    let sequence: UInt16
    /// With CSRCs and extension: what stays in the clear.
    let headerCount: Int

    /// Nil for what is no RTP of version 2 or is shorter than its header says.
    init?(_ packet: UnsafeRawBufferPointer) {
        guard packet.count >= 12, packet[0] >> 6 == 2 else { return nil }
        var count = 12 + 4 * Int(packet[0] & 0x0F)
        if packet[0] & 0x10 != 0 {
            guard packet.count >= count + 4 else { return nil }
            count += 4 + 4 * Int(UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: count + 2, as: UInt16.self)))
        }
        guard packet.count >= count else { return nil }
        headerCount = count
        sequence = UInt16(bigEndian: packet.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        ssrc = UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    /// The source of an RTCP packet; nil for what is none.
    static func controlSource(_ packet: UnsafeRawBufferPointer) -> UInt32? {
        guard packet.count >= 8, packet[0] >> 6 == 2 else { return nil }
        return UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    }
}
