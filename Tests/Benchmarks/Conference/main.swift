// A conference in the media engine, beside the libopus calls that it needs, with nothing else.
//
//   conference-bench MEMBERS SPEAKERS SECONDS
//
// All members have Opus and send a packet every 20 ms; SPEAKERS of them talk, the others send silence. Needed are a decode for each member,
// and an encode for each speaker and one more for all listeners together. Time and sockets are virtual. Prints one line "BARE OURS":
// microseconds of processor time for one second of one member.
import Audio
import CLinux
import Glibc
import Media
import Primitives
import RTP
import Runtime
import SDP

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? -1 }
guard arguments.count == 3, arguments[0] > 0, (0...arguments[0]).contains(arguments[1]), arguments[2] > 0 else {
    fatalError("usage: conference-bench MEMBERS SPEAKERS SECONDS")
}
let (members, speakers, frames) = (arguments[0], arguments[1], arguments[2] * 50)
let settings = OpusSettings()
let voice = try payloads(speaks: true), silence = try payloads(speaks: false)

let bare = try bareFrames()
let room = try Room()
try room.run(frames: 100)
let start = processorTime()
try room.run(frames: frames)
let ours = processorTime() - start
print(Double(bare) / Double(members) / Double(frames) * 50, Double(ours) / Double(members) / Double(frames) * 50)

/// Ten seconds of packets as a client sends them: gliding tones with some noise, or nothing.
@MainActor func payloads(speaks: Bool) throws -> [[UInt8]] {
    let encoder = try FrameEncoder(.opus, sampleRate: 16_000, opus: settings)
    var random = SeededRandom(seed: 5), generator = ToneGenerator(Tone(200, 900, level: -18), sampleRate: 16_000)
    return try (0..<500).map { frame in
        var samples = [Int16](repeating: 0, count: 320), bytes = [UInt8](repeating: 0, count: encoder.largestPayload)
        if speaks {
            if frame % 9 == 0 {
                generator = ToneGenerator(
                    Tone(.random(in: 120...300, using: &random), .random(in: 500...2_200, using: &random), level: -18), sampleRate: 16_000)
            }
            var room = samples.mutableSpan
            generator.fill(&room)
            for index in samples.indices { samples[index] &+= .random(in: -200...200, using: &random) }
        }
        var room = bytes.mutableSpan
        return Array(bytes[..<(try encoder.encode(samples.span, into: &room))])
    }
}

/// The decodes and encodes alone.
@MainActor func bareFrames() throws -> Int {
    let decoders = try (0..<members).map { _ in try FrameDecoder(.opus, sampleRate: 16_000) }
    let encoders = try (0..<speakers + (speakers < members ? 1 : 0)).map { _ in try FrameEncoder(.opus, sampleRate: 16_000, opus: settings)
    }
    var samples = [Int16](repeating: 0, count: 320 * 6), bytes = [UInt8](repeating: 0, count: OpusEncoder.largestPacket), begin = 0
    for frame in 0..<frames + 100 {
        if frame == 100 { begin = processorTime() }
        for (number, decoder) in decoders.enumerated() {
            let packet = (number < speakers ? voice : silence)[frame % 500]
            var room = samples.mutableSpan
            _ = try decoder.decode(packet.span, into: &room)
        }
        // The last decode was silence where not all speak: what is encoded is a voice.
        if speakers > 0 {
            var room = samples.mutableSpan
            _ = try decoders[0].conceal(320, into: &room)
        }
        for encoder in encoders {
            var room = bytes.mutableSpan
            _ = try encoder.encode(samples.span.extracting(0..<320), into: &room)
        }
    }
    return processorTime() - begin
}

/// All members in one engine.
final class Room {
    private let binder = SilentBinder()
    private let engine: MediaEngine
    private var now = Instant.zero + .seconds(100)
    private var frame = 0

    @MainActor init() throws {
        engine = MediaEngine(binder: binder, random: SeededRandom(seed: 1), opus: settings, at: now)
        let opus = NegotiatedCodec(
            codec: Codec(name: "opus", clockRate: 48_000, channels: 2, fmtp: "useinbandfec=1"), receivePayloadType: 111,
            sendPayloadType: 111)
        for number in 0..<members {
            let far = SocketAddress(IPAddress("192.0.2.1")!, port: UInt16(1_024 + number)), leg = MediaLegID(UInt64(number))
            let audio = NegotiatedAudio(codecs: [opus], remoteRTP: far, remoteRTCP: far, rtcpMux: true)
            let plan = MediaPlan(localAddress: .loopback, audio: audio, source: .conference(1))
            try engine.open(leg, reservation: PortReservation(rtp: UInt16(2 * number + 2)), plan: plan, at: now)
            binder.sockets[number].sender = far
            try engine.activate(leg)
            try engine.start(leg, at: now)
        }
    }

    /// 20 ms after 20 ms: each member's packet comes, then all that is due is done.
    @MainActor func run(frames: Int) throws {
        for _ in 0..<frames {
            for (number, socket) in binder.sockets.enumerated() {
                socket.packet = RTPHeader(
                    payloadType: 111, sequence: SequenceNumber(UInt16(truncatingIfNeeded: frame)),
                    timestamp: UInt32(truncatingIfNeeded: frame * 960), ssrc: UInt32(number + 1))
                socket.payload = (number < speakers ? voice : silence)[frame % 500]
                engine.ready(socket.token, at: now)
            }
            let end = now + .milliseconds(20)
            while let due = engine.deadline, due <= end {
                now = max(now, due)
                engine.advance(to: now)
                _ = engine.takeEvents()
            }
            now = end
            frame += 1
        }
        for number in 0..<members {
            let played = try engine.statistics(of: MediaLegID(UInt64(number))).playout?.packets.played ?? 0
            guard played > UInt64(frame - 20) else { fatalError("only \(played) of \(frame) packets of a member were heard") }
        }
    }
}

/// Sockets without a network: what is sent is gone, what arrives is put in front of them.
final class SilentBinder: PortBinder {
    var sockets: [SilentSocket] = []

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket {
        let socket = SilentSocket(token)
        sockets.append(socket)
        return socket
    }

    func release(_ socket: any MediaSocket) {}
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {}
}

final class SilentSocket: MediaSocket {
    let token: UInt64
    var sender = SocketAddress(.loopback, port: 1)
    var packet: RTPHeader?
    var payload: [UInt8] = []

    init(_ token: UInt64) { self.token = token }

    var isSourceVerified: Bool { false }
    func aim(at remote: SocketAddress?) {}
    func lock(to remote: SocketAddress) {}
    func send(_ packet: UnsafeRawBufferPointer) -> Bool { true }
    func send(_ packet: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool { true }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> ReceivedDatagram? {
        guard let header = packet else { return nil }
        packet = nil
        header.write(to: buffer)
        UnsafeMutableRawBufferPointer(rebasing: buffer[RTPHeader.fixedSize...]).copyBytes(from: payload)
        return ReceivedDatagram(count: RTPHeader.fixedSize + payload.count, sender: sender)
    }
}

func processorTime() -> Int {
    var usage = clinux_usage()
    clinux_get_usage(&usage)
    return Int(usage.user_microseconds + usage.system_microseconds)
}
