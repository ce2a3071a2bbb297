import Primitives

/// Names a dialog in a Replaces header, from the view of whoever receives it: RFC 3891 §6.1.
public struct DialogIdentifier: Hashable, Sendable {
    /// The Call-ID of the dialog.
    public var callID: Text
    /// The receiver's own tag.
    public var localTag: Text
    /// The tag of the receiver's peer.
    public var remoteTag: Text
    /// Only a dialog that is not confirmed yet is to be replaced.
    public var isEarlyOnly = false

    /// Names a dialog of the receiver.
    public init(callID: Text, localTag: Text, remoteTag: Text, isEarlyOnly: Bool = false) {
        (self.callID, self.localTag, self.remoteTag, self.isEarlyOnly) = (callID, localTag, remoteTag, isEarlyOnly)
    }

    /// The value of a Replaces header; nil when the Call-ID or one of the tags is missing.
    public init?(parsing value: Text) {
        let end = value.bytes.firstIndex(of: UInt8(ascii: ";")) ?? value.bytes.endIndex
        let callID = Text(value.bytes[..<end]).trimmed
        guard !callID.isEmpty, let parameters = try? Parameters(parsing: Text(value.bytes[end...])) else { return nil }
        guard let local = parameters["to-tag"], let remote = parameters["from-tag"], !local.isEmpty, !remote.isEmpty else { return nil }
        self.init(
            callID: callID.detached, localTag: local.detached, remoteTag: remote.detached,
            isEarlyOnly: parameters.contains("early-only" as Text))
    }

    /// The value of a Replaces header.
    public var value: Text {
        callID + ";to-tag=" + localTag + ";from-tag=" + remoteTag + (isEarlyOnly ? ";early-only" : "")
    }
}

extension URI {
    /// A header that whoever follows the URI is to send with its request, unescaped (RFC 3261 §19.1.1); nil when there is none of this
    /// name.
    public func header(_ name: Text) -> Text? {
        for field in (headers ?? .empty).bytes.split(separator: UInt8(ascii: "&")) {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, Text(parts[0]).unescapedHeader.equalsIgnoringCase(name) else { continue }
            return Text(parts[1]).unescapedHeader
        }
        return nil
    }
}

extension Text {
    /// With every `%HH` as its byte.
    fileprivate var unescapedHeader: Text {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), rest.count >= 2, let high = Self.digit(rest[rest.startIndex]),
                let low = Self.digit(rest[rest.startIndex + 1])
            else {
                result.append(byte)
                continue
            }
            result.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return Text(result)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
