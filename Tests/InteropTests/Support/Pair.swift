import Audio
import Testing

/// Two baresips, registered as 1001 and 1002, each with a text of its own to say.
struct Pair {
    let gateway: Gateway
    let caller: Baresip
    let callee: Baresip
    private let said: (caller: WAV, callee: WAV)

    static func start(
        at gateway: Gateway, codecs: [String], calleeCodecs: [String]? = nil, callerTransport: String = "udp",
        calleeTransport: String = "udp", repeating: Bool = false, callerEncryption: String? = nil, calleeEncryption: String? = nil
    ) async throws -> Pair {
        let first = try await Recordings.speech(
            Recordings.firstText, voice: "en-us", repeating: repeating, in: gateway.folder, as: "first.wav")
        let second = try await Recordings.speech(
            Recordings.secondText, voice: "en-gb", repeating: repeating, in: gateway.folder, as: "second.wav")
        let caller = try await Baresip.start(
            .init(
                user: "1001", password: "secret-1001", codecs: codecs, port: gateway.clientPort(0), mediaPort: gateway.clientPort(10),
                source: gateway.folder.file("first.wav"), transport: callerTransport, encryption: callerEncryption), at: gateway)
        let callee = try await Baresip.start(
            .init(
                user: "1002", password: "secret-1002", codecs: calleeCodecs ?? codecs, port: gateway.clientPort(60),
                mediaPort: gateway.clientPort(70),
                source: gateway.folder.file("second.wav"), transport: calleeTransport, encryption: calleeEncryption), at: gateway)
        try await caller.waitUntilRegistered()
        try await callee.waitUntilRegistered()
        return Pair(gateway: gateway, caller: caller, callee: callee, said: (first, second))
    }

    /// 1001 dials 1002, which rings.
    func ring() async throws {
        caller.dial("1002")
        try await callee.event("CALL_INCOMING")
        try await caller.event("CALL_RINGING")
    }

    func connect() async throws {
        try await ring()
        callee.accept()
        try await callee.event("CALL_ESTABLISHED")
        try await caller.event("CALL_ESTABLISHED")
    }

    /// Each heard the other, and not itself.
    func expectSpeech() throws {
        try expect(caller, heard: said.callee, notItself: said.caller)
        try expect(callee, heard: said.caller, notItself: said.callee)
    }

    /// The same by what a capture saw arrive in PCMU; for clients that stop decoding after a hold.
    func expectSpeech(in packets: [Capture.Packet]) throws {
        try expect(packets, to: caller, said: said.callee, notItself: said.caller)
        try expect(packets, to: callee, said: said.caller, notItself: said.callee)
    }

    /// What passed on a client's ports, read as PCMU, sounds like neither text, though there were packets enough.
    func expectNothingReadable(in packets: [Capture.Packet], of client: Baresip) throws {
        let passed = packets.filter { $0.isRTP && $0.payloadType == 0 }
        for stream in [
            passed.filter { client.mediaPorts.contains($0.destination) }, passed.filter { client.mediaPorts.contains($0.source) },
        ] {
            let samples = stream.flatMap { $0.media.prefix(160).map(G711.decodeMu) }
            #expect(samples.count > 12_000, "more than a second and a half")
            for text in [said.caller, said.callee] {
                let likeness = try Recordings.likeness(WAV(sampleRate: 8_000, samples: samples), toAnyOf: text)
                #expect(likeness.score < 0.2, "it can be read: \(likeness)")
            }
        }
    }

    private func expect(_ packets: [Capture.Packet], to client: Baresip, said other: WAV, notItself own: WAV) throws {
        let samples = packets.filter { $0.isRTP && $0.payloadType == 0 && client.mediaPorts.contains($0.destination) }.flatMap {
            $0.media.map(G711.decodeMu)
        }
        #expect(samples.count > 12_000, "more than a second and a half")
        try Recordings.expect(piece: WAV(sampleRate: 8_000, samples: samples), isOf: other, isNotOf: own)
    }

    private func expect(_ client: Baresip, heard other: WAV, notItself own: WAV) throws {
        try Recordings.expect(try client.recording(), is: other, isNot: own)
    }
}
