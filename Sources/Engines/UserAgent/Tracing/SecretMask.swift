import Primitives

/// Takes the secrets out of a message that others are to read. Each byte of a secret becomes a `*`, so that lengths and places stay.
///
/// Secrets are: the credentials of Authorization and Proxy-Authorization and the proofs of their Info fields (RFC 3261 §22), the keys of
/// SDES, MIKEY and `k=` (RFC 4568, RFC 4567, RFC 4566 §5.12), the password of ICE (RFC 8839 §5.4), and what a device is pushed by
/// (RFC 8599), and passwords in URIs. They are found also in a message that cannot be read, and in bodies that quote one.
public enum SecretMask {
    private static let star: UInt8 = 0x2A

    /// The message without its secrets.
    public static func masked(_ bytes: [UInt8]) -> [UInt8] {
        var masked = bytes, start = 0, isSecret = false
        while start < bytes.count {
            let end = bytes[start...].firstIndex { $0 == 0x0D || $0 == 0x0A } ?? bytes.count
            let isFolded = start < end && (bytes[start] == 0x20 || bytes[start] == 0x09)
            if isFolded, isSecret {
                cover(start..<end, in: &masked)
            } else if start < end {
                isSecret = coverField(start..<end, in: &masked)
            }
            coverParameters(start..<end, in: &masked)
            coverPasswords(start..<end, in: &masked)
            start = end + 1
        }
        return masked
    }

    private static let headers: [Text] = ["authorization", "proxy-authorization", "authentication-info", "proxy-authentication-info"]
    private static let attributes: [Text] = ["a=ice-pwd:", "a=key-mgmt:", "k="]
    private static let inline: Text = "inline:", crypto: Text = "a=crypto:"
    private static let schemes: [Text] = ["sip:", "sips:"]
    private static let parameters: [Text] = ["pn-prid=", "pn-param="]

    /// - Returns: whether lines that continue this one are secret, too.
    private static func coverField(_ line: Range<Int>, in bytes: inout [UInt8]) -> Bool {
        if let attribute = attributes.first(where: { begins(line, with: $0, in: bytes) }) {
            cover(line.lowerBound + attribute.count..<line.upperBound, in: &bytes)
            return false
        }
        if begins(line, with: crypto, in: bytes) { coverKeys(line, in: &bytes) }
        guard let colon = bytes[line].firstIndex(of: 0x3A) else { return false }
        let name = Text(bytes[line.lowerBound..<colon]).trimmed
        guard headers.contains(where: name.equalsIgnoringCase) else { return false }
        cover(afterScheme(colon + 1..<line.upperBound, in: bytes), in: &bytes)
        return true
    }

    /// `Digest` says which kind of secret it is; what has a `=` in its first word has no scheme.
    private static func afterScheme(_ value: Range<Int>, in bytes: [UInt8]) -> Range<Int> {
        let first = bytes[value].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? value.upperBound
        let end = bytes[first..<value.upperBound].firstIndex { $0 == 0x20 || $0 == 0x09 || $0 == 0x3D || $0 == 0x2C } ?? value.upperBound
        return end < value.upperBound && bytes[end] == 0x20 ? end..<value.upperBound : first..<value.upperBound
    }

    /// Several keys may stand in a line; what is behind a `|` says how a key is used.
    private static func coverKeys(_ line: Range<Int>, in bytes: inout [UInt8]) {
        for start in places(of: inline, line, in: bytes) {
            let end = bytes[start..<line.upperBound].firstIndex { $0 == 0x7C || $0 == 0x3B || $0 == 0x20 } ?? line.upperBound
            cover(start..<end, in: &bytes)
        }
    }

    private static func coverParameters(_ line: Range<Int>, in bytes: inout [UInt8]) {
        for start in parameters.flatMap({ places(of: $0, line, in: bytes) }) {
            let end = bytes[start..<line.upperBound].firstIndex { [0x3B, 0x3E, 0x20, 0x2C, 0x3F].contains($0) } ?? line.upperBound
            cover(start..<end, in: &bytes)
        }
    }

    /// `sip:1001:secret@example.test`, which RFC 3261 §19.1.1 advises against.
    private static func coverPasswords(_ line: Range<Int>, in bytes: inout [UInt8]) {
        for start in schemes.flatMap({ places(of: $0, line, in: bytes) }) {
            let end = bytes[start..<line.upperBound].firstIndex { [0x40, 0x3E, 0x3C, 0x22, 0x20, 0x2C].contains($0) } ?? line.upperBound
            guard end < line.upperBound, bytes[end] == 0x40, let colon = bytes[start..<end].firstIndex(of: 0x3A) else { continue }
            cover(colon + 1..<end, in: &bytes)
        }
    }

    /// Spaces stay: a line is folded and taken apart as before.
    private static func cover(_ range: Range<Int>, in bytes: inout [UInt8]) {
        for index in range where bytes[index] != 0x20 && bytes[index] != 0x09 { bytes[index] = star }
    }

    private static func begins(_ line: Range<Int>, with word: Text, in bytes: [UInt8]) -> Bool {
        line.count >= word.count && Text(bytes[line.lowerBound..<line.lowerBound + word.count]).equalsIgnoringCase(word)
    }

    /// Behind each time that the word stands there.
    private static func places(of word: Text, _ line: Range<Int>, in bytes: [UInt8]) -> [Int] {
        guard line.count >= word.count, let first = word.bytes.first else { return [] }
        return line.dropLast(word.count - 1).filter { start in
            asciiLowercased(bytes[start]) == first && begins(start..<line.upperBound, with: word, in: bytes)
        }.map { $0 + word.count }
    }
}
