import Primitives

/// The contents of a session description of ours; addresses and version are filled in when it is sent.
struct TortureDescription: Sendable {
    /// Formats of the audio stream.
    var formats = "0"
    /// Further lines of it.
    var lines: [String] = []
    var direction: String?
    /// The direction stands before the streams, for all of them.
    var isSessionLevel = false
    /// In place of our address.
    var connection: String?
    var isRemoved = false
    /// Streams behind the audio, as lines.
    var further: [String] = []

    func text(address: IPAddress, port: UInt16, session: UInt64, version: Int) -> String {
        let family = address.family == .v4 ? "IP4" : "IP6"
        var all = [
            "v=0", "o=- \(session) \(version) IN \(family) \(address)", "s=-", "c=IN \(connection ?? "\(family) \(address)")", "t=0 0",
        ]
        let direction = self.direction.map { ["a=\($0)"] } ?? []
        if isSessionLevel { all += direction }
        all += ["m=audio \(isRemoved ? 0 : port) RTP/AVP \(formats)"] + lines + (isSessionLevel ? [] : direction) + further
        return all.joined(separator: "\r\n") + "\r\n"
    }
}

extension TortureBody {
    static func held(_ direction: String, isSessionLevel: Bool = false) -> TortureBody {
        .description(TortureDescription(direction: direction, isSessionLevel: isSessionLevel))
    }
}
