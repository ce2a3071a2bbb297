import Primitives

/// The format parameters of Opus (RFC 7587 §6.1): what the side that wrote them can receive and wishes to, and what it will send.
public struct OpusParameters: Hashable, Sendable {
    /// The highest sample rate in Hz that it plays, 8,000 to 48,000; nil for all.
    public var maximumPlaybackRate: Int?
    /// The highest that it captures; nil for all.
    public var maximumCaptureRate: Int?
    /// Bits per second, 6,000 to 510,000; nil for no limit.
    public var maximumAverageBitrate: Int?
    /// It prefers stereo, or sends it.
    public var prefersStereo = false, sendsStereo = false
    /// It prefers a constant bit rate.
    public var prefersConstantBitrate = false
    /// It can use in-band error correction.
    public var usesForwardErrorCorrection = false
    /// It prefers that silence is not sent.
    public var prefersDiscontinuous = false

    /// Nothing said: the defaults of RFC 7587 §6.1.
    public init() {}

    /// Reads what `a=fmtp` has after the number. Unknown parameters and values out of range are left out, as if they were not there.
    public init(_ fmtp: Text?) {
        for field in fmtp?.bytes.split(separator: UInt8(ascii: ";")) ?? [] {
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1)
            guard parts.count == 2, let value = Text(Array(parts[1])).trimmed.integer(Int.self) else { continue }
            set(Text(Array(parts[0])).trimmed, value)
        }
    }

    private mutating func set(_ name: Text, _ value: Int) {
        let names: [(Text, WritableKeyPath<Self, Bool>)] = [
            ("stereo", \.prefersStereo), ("sprop-stereo", \.sendsStereo), ("cbr", \.prefersConstantBitrate),
            ("useinbandfec", \.usesForwardErrorCorrection), ("usedtx", \.prefersDiscontinuous),
        ]
        if let flag = names.first(where: { name.equalsIgnoringCase($0.0) })?.1 {
            self[keyPath: flag] = value == 1
        } else if name.equalsIgnoringCase("maxplaybackrate") {
            maximumPlaybackRate = (8_000...48_000).contains(value) ? value : nil
        } else if name.equalsIgnoringCase("sprop-maxcapturerate") {
            maximumCaptureRate = (8_000...48_000).contains(value) ? value : nil
        } else if name.equalsIgnoringCase("maxaveragebitrate") {
            maximumAverageBitrate = (6_000...510_000).contains(value) ? value : nil
        }
    }

    /// As `a=fmtp` has it after the number; nil when there is nothing to say.
    public var fmtp: Text? {
        var parts: [Text] = []
        if let maximumPlaybackRate { parts.append("maxplaybackrate=" + Text(maximumPlaybackRate)) }
        if let maximumCaptureRate { parts.append("sprop-maxcapturerate=" + Text(maximumCaptureRate)) }
        if let maximumAverageBitrate { parts.append("maxaveragebitrate=" + Text(maximumAverageBitrate)) }
        let flags: [(Bool, Text)] = [
            (prefersStereo, "stereo=1"), (sendsStereo, "sprop-stereo=1"), (prefersConstantBitrate, "cbr=1"),
            (usesForwardErrorCorrection, "useinbandfec=1"), (prefersDiscontinuous, "usedtx=1"),
        ]
        parts += flags.filter(\.0).map(\.1)
        guard let first = parts.first else { return nil }
        return parts.dropFirst().reduce(first) { $0 + ";" + $1 }
    }
}
