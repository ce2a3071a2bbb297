import Audio
import Media
import Primitives
import RTP
import Runtime
import SDP

/// Calls in one engine, an Opus leg and a PCMU leg each, whose far ends talk.
final class Bridges {
    private let binder = SilentBinder()
    private let engine: MediaEngine
    private var now = Instant.zero + .seconds(100)
    private var frame = 0

    init(calls: Int) throws {
        engine = MediaEngine(binder: binder, random: SeededRandom(seed: 1), opus: settings, at: now)
        for call in 0..<UInt64(calls) {
            let opus = try open(
                2 * call,
                NegotiatedCodec(
                    codec: Codec(name: "opus", clockRate: 48_000, channels: 2, fmtp: "useinbandfec=1"), receivePayloadType: 111,
                    sendPayloadType: 111))
            let pcmu = try open(2 * call + 1, NegotiatedCodec(codec: .pcmu, receivePayloadType: 0, sendPayloadType: 0))
            try engine.link(opus, pcmu, at: now)
            for leg in [opus, pcmu] {
                try engine.activate(leg)
                try engine.start(leg, at: now)
            }
        }
    }

    private func open(_ number: UInt64, _ codec: NegotiatedCodec) throws -> MediaLegID {
        let far = SocketAddress(IPAddress("192.0.2.1")!, port: UInt16(1_024 + number % 60_000))
        let audio = NegotiatedAudio(codecs: [codec], remoteRTP: far, remoteRTCP: far, rtcpMux: true)
        let plan = MediaPlan(localAddress: .loopback, audio: audio, source: .relay)
        try engine.open(MediaLegID(number), reservation: PortReservation(rtp: UInt16(number) &* 2), plan: plan, at: now)
        binder.sockets[Int(number)].sender = far
        return MediaLegID(number)
    }

    /// 20 ms after 20 ms: each far end's packet comes, then all that is due is done.
    func run(frames: Int) throws {
        for _ in 0..<frames {
            for (number, socket) in binder.sockets.enumerated() {
                let isOpus = number.isMultiple(of: 2)
                socket.packet = RTPHeader(
                    payloadType: isOpus ? 111 : 0, sequence: SequenceNumber(UInt16(truncatingIfNeeded: frame)),
                    timestamp: UInt32(truncatingIfNeeded: frame * (isOpus ? 960 : 160)), ssrc: UInt32(number))
                socket.payload = isOpus ? speech.opus[frame % speech.opus.count] : speech.pcmu[frame % speech.pcmu.count]
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
        let played = try (0..<binder.sockets.count).reduce(0) {
            try $0 + (engine.statistics(of: MediaLegID(UInt64($1))).playout?.packets.played ?? 0)
        }
        guard played > UInt64(binder.sockets.count * (frame - 20)) else { fatalError("only \(played) packets were transcoded") }
    }
}

/// Sockets without a network: what is sent is gone, what arrives is put in front of them.
private final class SilentBinder: PortBinder {
    var sockets: [SilentSocket] = []

    func bind(_ address: SocketAddress, token: UInt64) throws(SocketError) -> any MediaSocket {
        let socket = SilentSocket(token)
        sockets.append(socket)
        return socket
    }

    func release(_ socket: any MediaSocket) {}
    func adopt(_ socket: any MediaSocket, token: UInt64) throws(SocketError) {}
}

private final class SilentSocket: MediaSocket {
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
