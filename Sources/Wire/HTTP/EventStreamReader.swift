/// The events of a stream of Server-Sent Events (WHATWG HTML §9.2), read from its bytes. A value: bytes in, events out.
public struct EventStreamReader: Sendable {
    public enum Output: Equatable, Sendable {
        /// The data of an event.
        case event(String)
        /// The time before a reader connects again.
        case retry(Duration)
        /// A line is longer than any of ours; nothing more is read.
        case broken
    }

    /// Bytes of a line, and of an event's data.
    public static let longest = 1 << 20

    private var bytes: [UInt8] = []
    private var start = 0
    /// The lines of the event's data, so far.
    private var data: [UInt8]?
    private var isBroken = false

    public init() {}

    /// Takes what came.
    public mutating func receive(_ more: [UInt8]) {
        if start == bytes.count { (bytes, start) = ([], 0) }
        bytes += more
    }

    /// The next event; nil while bytes are missing.
    public mutating func next() -> Output? {
        while !isBroken, let feed = bytes[start...].firstIndex(of: 0x0A) {
            let line = bytes[start..<feed]
            start = feed + 1
            if let output = take(line.last == 0x0D ? line.dropLast() : line) { return output }
        }
        guard !isBroken, bytes.count - start > Self.longest else { return nil }
        return fail()
    }

    private mutating func take(_ line: ArraySlice<UInt8>) -> Output? {
        guard !line.isEmpty else {
            defer { data = nil }
            return data.map { .event(String(decoding: $0, as: UTF8.self)) }
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex, name = String(decoding: line[..<colon], as: UTF8.self)
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch name {
        case "data":
            data = data.map { $0 + [0x0A] + value } ?? Array(value)
            return data.map(\.count) ?? 0 > Self.longest ? fail() : nil
        case "retry": return Int64(String(decoding: value, as: UTF8.self)).map { .retry(.milliseconds(min(max($0, 0), 60_000))) }
        default: return nil
        }
    }

    private mutating func fail() -> Output {
        (bytes, start, data, isBroken) = ([], 0, nil, true)
        return .broken
    }
}
