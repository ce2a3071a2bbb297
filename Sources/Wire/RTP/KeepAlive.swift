/// Datagrams that hold nothing and keep a NAT open (RFC 6263 §4).
public enum KeepAlive {
    /// An empty datagram, up to four zeros or line ends, or a STUN binding request or indication (RFC 8489 §5). Looks at the header alone.
    public static func isOne(_ datagram: UnsafeRawBufferPointer) -> Bool {
        guard datagram.count > 4 else { return datagram.allSatisfy { $0 == 0 || $0 == 0x0D || $0 == 0x0A } }
        guard datagram.count >= STUNMessage.headerSize, datagram.bigEndian32(at: 4) == STUNMessage.cookie else { return false }
        return [0x0001, 0x0011].contains(datagram.bigEndian16(at: 0))
            && Int(datagram.bigEndian16(at: 2)) + STUNMessage.headerSize == datagram.count
    }
}
