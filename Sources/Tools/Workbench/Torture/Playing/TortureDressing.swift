import Primitives
import SIP

/// Makes a torture message answerable: its answer goes to where it came from (`rport`, RFC 3581), and no two runs, and no two messages of
/// RFC 5118, have a Call-ID and a branch in common, which would make one the repetition of another. Nothing else is touched.
struct TortureDressing {
    private(set) var bytes: [UInt8]
    /// Nil where the message has none.
    private(set) var callID: Text?

    /// - Parameter mark: letters and digits; nil: the bytes stay as they are.
    init(_ bytes: [UInt8], mark: Text?, asksForPort: Bool) {
        self.bytes = bytes
        if let mark, let via = value(of: ["via", "v"]) { dress(via, mark, asksForPort) }
        if let mark, let value = value(of: ["call-id", "i"]) { self.bytes.insert(contentsOf: mark.bytes, at: value.upperBound) }
        callID = value(of: ["call-id", "i"]).map { Text(Array(self.bytes[$0])) }
    }

    /// By what a server tells it from other requests (RFC 3261 §17.2.3); nil of a response, and where that cannot be read, or says nothing.
    var transaction: Text? {
        guard let value = value(of: ["via", "v"]), let via = try? Via(parsing: Text(Array(bytes[value].prefix { $0 != UInt8(ascii: ",") })))
        else { return nil }
        guard let branch = via.branch, branch.count > 7, !bytes.starts(with: "SIP/".utf8) else { return nil }
        return branch + " " + via.host + " " + Text(bytes.prefix { $0 > 0x20 })
    }

    /// The port of an answer over UDP by its Via alone; nil where that cannot be read, or leaves it to where the message came from.
    var answerPort: UInt16? {
        guard let value = value(of: ["via", "v"]), let via = try? Via(parsing: Text(Array(bytes[value]))), !via.asksForPort else {
            return nil
        }
        return via.port ?? 5060
    }

    private mutating func dress(_ via: Range<Int>, _ mark: Text, _ asksForPort: Bool) {
        let element = via.lowerBound..<(bytes[via].firstIndex(of: UInt8(ascii: ",")) ?? via.upperBound)
        var end = element.upperBound
        while end > element.lowerBound, bytes[end - 1] <= 0x20 { end -= 1 }
        if asksForPort, bytes[element].firstRange(of: Array(";rport".utf8)) == nil {
            bytes.insert(contentsOf: Array(";rport".utf8), at: end)
        }
        let name = Array("branch".utf8)
        guard let found = bytes[element].firstRange(of: name) else { return }
        var start = found.upperBound
        while start < end, bytes[start] <= 0x20 || bytes[start] == UInt8(ascii: "=") { start += 1 }
        var stop = start
        while stop < end, bytes[stop] > 0x20, bytes[stop] != UInt8(ascii: ";") { stop += 1 }
        // "z9hG4bK" with nothing behind it is what one of them tests.
        if stop - start > 7 { bytes.insert(contentsOf: mark.bytes, at: stop) }
    }

    /// Finds the value of the first header with one of these names, without space around it.
    private func value(of names: [Text]) -> Range<Int>? {
        var start = 0
        while let end = bytes[start...].firstRange(of: [0x0D, 0x0A])?.lowerBound, end > start {
            var stop = end
            while stop + 2 < bytes.count, bytes[stop + 2] == 0x20 || bytes[stop + 2] == 0x09,
                let next = bytes[(stop + 2)...].firstRange(of: [0x0D, 0x0A])?.lowerBound
            { stop = next }
            if let colon = bytes[start..<stop].firstIndex(of: UInt8(ascii: ":")),
                names.contains(Text(bytes[start..<colon]).trimmed.lowercased)
            {
                var first = colon + 1, last = stop
                while first < last, bytes[first] <= 0x20 { first += 1 }
                while last > first, bytes[last - 1] <= 0x20 { last -= 1 }
                return first..<last
            }
            start = stop + 2
        }
        return nil
    }
}
