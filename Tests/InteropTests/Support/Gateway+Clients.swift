import Audio

/// What the tests of a client of another kind have in common: a text for it, and a baresip with another.
extension Gateway {
    typealias Said = (client: WAV, baresip: WAV)

    /// `first.wav` for the client and `second.wav` for the baresip: once each and then silence, or over and over.
    func speech(repeating: Bool = false) async throws -> Said {
        let first = try await Recordings.speech(Recordings.firstText, voice: "en-us", repeating: repeating, in: folder, as: "first.wav")
        let second = try await Recordings.speech(Recordings.secondText, voice: "en-gb", repeating: repeating, in: folder, as: "second.wav")
        return (first, second)
    }

    /// Line 1002, which has PCMU in the clear, registered.
    func baresip() async throws -> Baresip {
        let plan = Baresip.Plan(
            user: "1002", password: "secret-1002", codecs: ["pcmu"], port: clientPort(60), mediaPort: clientPort(70),
            source: folder.file("second.wav"))
        let client = try await Baresip.start(plan, at: self)
        try await client.waitUntilRegistered()
        return client
    }
}
