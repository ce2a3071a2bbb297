import Primitives
import RTP

/// libFuzzer's entry: any bytes go the way of a connectivity check, with and without a checksum that fits, and every answer to them is
/// STUN. Built and run by `scripts/fuzz`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSTUN(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    receive(bytes)
    receive(withFingerprint(bytes))
    return 0
}

private func receive(_ bytes: [UInt8]) {
    guard let own = ICECredentials(user: "evtj", password: "VOkJxbRl1RmTxUk/WvJxBt") else {
        preconditionFailure("not the credentials of RFC 5769")
    }
    var responder = ICELiteResponder(local: own, remoteUser: "h6vY")
    let remote = SocketAddress(IPAddress(v4: 0xC000_0201), port: 32_853)
    // Half of the codes are taken for right, so that what is behind them is reached too.
    for code in [[UInt8](repeating: 0, count: 20), bytes.suffix(32).prefix(20) + []] {
        for case .answer(let answer) in responder.receive(bytes, from: remote, at: .zero, hmac: { _, _ in code }) {
            guard let message = try? STUNMessage(parsing: answer) else { preconditionFailure("an answer that is no STUN") }
            precondition(message.transaction.elementsEqual(bytes[8..<20]), "an answer to another")
            precondition(message.hasFingerprint && message.messageClass != .request)
        }
    }
}

/// The same with its length and checksum set right: a fuzzer does not guess a CRC.
private func withFingerprint(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 20, bytes.count < 60_000 else { return bytes }
    var message = bytes
    while message.count % 4 != 0 { message.append(0) }
    let length = message.count - 20 + 8
    (message[2], message[3]) = (UInt8(length >> 8), UInt8(truncatingIfNeeded: length))
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in message {
        sum ^= UInt32(byte)
        for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
    }
    let value = ~sum ^ 0x5354_554E
    return message + [0x80, 0x28, 0, 4] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
}
