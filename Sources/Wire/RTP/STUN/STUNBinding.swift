import Primitives

/// STUN as it keeps the flows of SIP open over UDP (RFC 5626 §3.5.2, §8): a binding request without credentials, and its answer.
public enum STUNBinding {
    /// - Parameter transaction: twelve random bytes.
    public static func request(transaction: [UInt8]) -> [UInt8] {
        precondition(transaction.count == 12, "a STUN transaction has twelve bytes")
        var request = STUNAnswer(request: transaction)
        request.addFingerprint()
        return request.bytes
    }

    /// The answer to a binding request: the address that it came from, or (420) what in it we do not understand. Nil for everything else.
    public static func answer(to message: STUNMessage, from remote: SocketAddress) -> [UInt8]? {
        guard message.messageClass == .request, message.method == STUNMessage.binding else { return nil }
        var answer: STUNAnswer
        if message.unknown.isEmpty {
            answer = STUNAnswer(to: message, .success)
            answer.addMappedAddress(remote)
        } else {
            answer = STUNAnswer(to: message, .error)
            answer.addError(420, "Unknown Attribute")
            answer.addUnknown(message.unknown)
        }
        if message.hasFingerprint { answer.addFingerprint() }
        return answer.bytes
    }

    /// A datagram on a port of SIP that may be STUN: no SIP begins with these (RFC 5626 §8, RFC 7983 §7).
    public static func begins(_ datagram: [UInt8]) -> Bool { datagram.count >= STUNMessage.headerSize && datagram[0] < 4 }
}
