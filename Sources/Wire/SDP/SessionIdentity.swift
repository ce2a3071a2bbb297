import Primitives

/// The parts of a session's descriptions that another process needs to go on with it: its name and version (`o=`), and the numbers of its
/// formats.
public struct SessionIdentity: Sendable {
    /// As in `o=`.
    public var id: UInt64
    /// Of the description that was sent last.
    public var version: UInt64
    var formats: [RemoteAudio.Format]

    /// - Parameter formats: each as `payloadTypes` has it; what cannot be read is left out.
    public init(id: UInt64, version: UInt64, payloadTypes formats: [Text]) {
        (self.id, self.version) = (id, version)
        self.formats = formats.compactMap { format in
            let parts = format.bytes.split(separator: 0x20, maxSplits: 1)
            guard parts.count == 2, let number = Text(parts[0]).integer(UInt8.self), number < 128 else { return nil }
            return Codec(rtpmap: Text(parts[1])).map { .init(payloadType: number, codec: $0) }
        }
    }

    fileprivate init(_ id: UInt64, _ version: UInt64, _ formats: [RemoteAudio.Format]) {
        (self.id, self.version, self.formats) = (id, version, formats)
    }

    /// The value of `a=rtpmap` for each format, such as `111 opus/48000/2`.
    public var payloadTypes: [Text] { formats.map { Text($0.payloadType) + " " + $0.codec.map } }
}

extension OfferAnswer {
    /// The session as it is now, for who goes on with it.
    public var identity: SessionIdentity { SessionIdentity(sessionID, version, session.numbers.all) }
}

extension Codec {
    /// As `a=rtpmap` has it behind the number: `name/clock`, and `/channels` where there is more than one.
    public var map: Text {
        var bytes: [UInt8] = []
        appendMap(to: &bytes)
        return Text(bytes)
    }
}
