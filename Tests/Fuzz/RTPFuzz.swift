import Primitives
import RTP

/// libFuzzer's entry: any bytes go the way of a datagram from a media socket, twice, without a trap. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var latch = SourceLatch(signalled: nil, payloadTypes: [0, 8, 9, 101, 111])
    var stream = RTPRewriter(ssrc: 1, sequence: 65_535, timestamp: .max, clockRate: 8_000)
    var session = RTCPSession(ssrc: 1, cname: "fuzz", clockRate: 8_000, seed: 1, at: .zero)
    var keys = TelephoneEventReceiver(clockRate: 8_000)
    for round in UInt64(1)...2 {
        let now = Instant(nanoseconds: round * 20_000_000)
        bytes.withUnsafeMutableBytes { packet in
            let packet = UnsafeMutableRawBufferPointer(packet)
            let view = UnsafeRawBufferPointer(packet)
            _ = latch.admit(view, from: SocketAddress(.loopback, port: 4_000))
            guard let header = try? RTPHeader(parsing: view) else { return }
            precondition(header.payloadOffset >= 12 && header.payloadCount >= 0, "a payload before its packet")
            precondition(header.payloadOffset + header.payloadCount <= view.count, "a payload outside its packet")
            expectIdentity(header, view)
            session.receiver.receive(header, at: now)
            _ = keys.receive(
                UnsafeRawBufferPointer(rebasing: view[header.payloadOffset..<header.payloadOffset + header.payloadCount]), header: header,
                at: now)
            if stream.rewrite(packet, header, at: now) == .rewritten {
                session.sender.sent(header.timestamp, sequence: header.sequence.rawValue, octets: header.payloadCount, at: now)
            }
        }
    }
    _ = keys.advance(to: .distantFuture)
    _ = session.advance(to: .distantFuture)
    _ = (session.sending, session.receiving)
    return 0
}

/// A plain header is written as it was read, byte for byte.
private func expectIdentity(_ header: RTPHeader, _ packet: UnsafeRawBufferPointer) {
    guard packet[0] == 0x80 else { return }
    var written = [UInt8](repeating: 0, count: 12)
    written.withUnsafeMutableBytes { header.write(to: $0) }
    precondition(written.elementsEqual(packet.prefix(12)), "a header that is written as another")
}
