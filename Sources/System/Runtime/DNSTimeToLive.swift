/// Reads of a DNS message what c-ares 1.18 keeps to itself of SRV and NAPTR records: how long they hold (RFC 1035 §4.1).
enum DNSTimeToLive {
    /// The smallest time to live of the answer section, in seconds; zero where the message is broken or has none. Bounded by the bytes
    /// there are.
    static func smallest(in message: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var reader = Reader(message)
        guard message.count >= 12 else { return 0 }
        let (questions, answers) = (reader.word(at: 4), reader.word(at: 6))
        reader.at = 12
        for _ in 0..<questions { guard reader.skipName(), reader.skip(4) else { return 0 } }
        var smallest: UInt32?
        for _ in 0..<answers {
            guard reader.skipName(), reader.at + 10 <= message.count else { break }
            let seconds = UInt32(reader.word(at: reader.at + 4)) << 16 | UInt32(reader.word(at: reader.at + 6))
            let length = reader.word(at: reader.at + 8)
            // The highest bit means zero (RFC 2181 §8).
            let time = seconds >> 31 == 0 ? seconds : 0
            smallest = min(smallest ?? time, time)
            guard reader.skip(10 + length) else { break }
        }
        return smallest ?? 0
    }

    private struct Reader {
        let message: UnsafeBufferPointer<UInt8>
        var at = 0

        init(_ message: UnsafeBufferPointer<UInt8>) { self.message = message }

        func word(at place: Int) -> Int { Int(message[place]) << 8 | Int(message[place + 1]) }

        mutating func skip(_ count: Int) -> Bool {
            at += count
            return at <= message.count
        }

        /// Labels up to the root, or up to a pointer, which ends a name.
        mutating func skipName() -> Bool {
            while at < message.count {
                let length = Int(message[at])
                if length == 0 { return skip(1) }
                if length >= 0xC0 { return skip(2) }
                guard length < 0x40, skip(1 + length) else { return false }
            }
            return false
        }
    }
}
