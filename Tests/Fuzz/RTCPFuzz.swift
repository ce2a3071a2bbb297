import Primitives
import RTP

/// libFuzzer's entry: any bytes are a compound of RTCP that says the same when it is written anew, or an error. Built and run by
/// `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTCP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let datagram = UnsafeRawBufferPointer(start: start, count: count)
    var session = RTCPSession(ssrc: 1, cname: "fuzz", clockRate: 8_000, seed: 1, at: .zero)
    _ = try? session.receive(datagram, at: Instant(nanoseconds: 20_000_000))
    _ = session.advance(to: .distantFuture)
    guard let packets = try? RTCPPacket.parse(datagram) else { return 0 }
    precondition(packets.count <= RTCPPacket.greatestCount, "more packets than a compound may have")
    let made = packets.filter(\.canBeMade)
    guard !made.isEmpty else { return 0 }
    let again = RTCPPacket.make(made).withUnsafeBytes { try? RTCPPacket.parse($0) }
    precondition(again == made, "it does not read as it was written")
    return 0
}

extension RTCPPacket {
    /// What is not kept cannot be written; of a chunk with several names each is written as a chunk, of which there are 31.
    fileprivate var canBeMade: Bool {
        switch self {
        case .other: false
        case .sourceDescription(let names): names.count <= 31
        default: true
        }
    }
}
