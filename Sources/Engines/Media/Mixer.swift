import Audio
import Primitives
import RTP
import SDP

/// One conference on one lane: every 20 ms it hears each member once, adds up who speaks, and gives each all of it but itself.
///
/// Works at 16 kHz, which Opus and G.722 speak natively. One decode for each member; one encode for each who speaks, and one for all
/// listeners of one format together, as they hear the same. All memory is taken when a member joins or leaves.
final class Mixer {
    static let sampleRate = 16_000
    static let samplesPerFrame = sampleRate / 1_000 * frameMilliseconds
    /// Quieter frames than this, in dB below full scale, are not speech; who spoke counts as speaking for half a second more.
    private static let gate: Int64 = 320 * 100 * 100   // the energy of a frame at -50 dBFS
    private static let hangover = 25

    /// The coding of a listener's sound: all of one format get the same packets' payloads.
    struct Format: Hashable {
        var codec: AudioCodec
        var opus: OpusSettings
    }

    /// The part of a conference that belongs to one leg.
    final class Member {
        /// The number of the conference.
        let conference: UInt64
        let receiver: AudioReceiver
        let format: Format
        /// Used while it speaks; made when it joins.
        fileprivate let encoder: FrameEncoder
        fileprivate let heard: UnsafeMutableBufferPointer<Int16>
        /// Frames for which it still counts as speaking; 0 for a listener.
        fileprivate(set) var speaking = 0
        /// The energy of its last speech, per frame: it tells the active speaker.
        fileprivate(set) var energy: Int64 = 0
        /// It was given somebody's voice.
        fileprivate(set) var hasHeardOthers = false

        init(of conference: UInt64, codecs: [AudioCodec], format: Format) throws(CodecError) {
            (self.conference, self.format) = (conference, format)
            receiver = try AudioReceiver(codecs: codecs, sampleRate: Mixer.sampleRate)
            encoder = try FrameEncoder(format.codec, sampleRate: Mixer.sampleRate, opus: format.opus)
            heard = .allocate(capacity: Mixer.samplesPerFrame)
            heard.initialize(repeating: 0)
        }

        deinit { heard.deallocate() }

        func expect(lossPercent: Int) { encoder.expect(lossPercent: lossPercent) }
    }

    private final class Shared {
        let encoder: FrameEncoder
        var payload = UnsafeMutableRawBufferPointer.allocate(byteCount: FrameEncoder.largestPayload, alignment: 8)
        /// Bytes of this frame; nil until it was made.
        var count: Int?
        var listeners = 0

        init(_ format: Format) throws(CodecError) {
            encoder = try FrameEncoder(format.codec, sampleRate: Mixer.sampleRate, opus: format.opus)
        }

        deinit { payload.deallocate() }
    }

    private(set) var members: [MediaLeg] = []
    /// Members that speak in this frame.
    private var speakers = 0
    /// Payloads made since the beginning: at most one for each member and frame, and one for all listeners of a format together.
    private(set) var encodes: UInt64 = 0
    private var shared: [Format: Shared] = [:]
    private let total = UnsafeMutableBufferPointer<Int32>.allocate(capacity: samplesPerFrame)
    private let mix = UnsafeMutableBufferPointer<Int16>.allocate(capacity: samplesPerFrame)
    /// When the next frame is due.
    var due: Instant

    init(at now: Instant) {
        due = now
        total.initialize(repeating: 0)
        mix.initialize(repeating: 0)
    }

    deinit {
        total.deallocate()
        mix.deallocate()
    }

    /// A leg that has a `member`.
    func join(_ leg: MediaLeg) throws(CodecError) {
        guard let format = leg.member?.format else { return }
        if shared[format] == nil { shared[format] = try Shared(format) }
        shared[format]?.listeners += 1
        members.append(leg)
    }

    func leave(_ leg: MediaLeg) {
        guard let index = members.firstIndex(where: { $0 === leg }), let format = leg.member?.format else { return }
        members.remove(at: index)
        shared[format]?.listeners -= 1
        if shared[format]?.listeners == 0 { shared[format] = nil }
    }

    /// Hears everyone.
    func listen(at now: Instant) {
        for index in total.indices { total[index] = 0 }
        for entry in shared.values { entry.count = nil }
        speakers = 0
        for leg in members {
            guard let member = leg.member else { continue }
            let isHeard = leg.gates.canReceive && member.receiver.read(member.heard, at: now) && !leg.plan.isMuted
            member.energy = isHeard ? energy(of: member.heard) : 0
            if member.energy >= Self.gate { member.speaking = Self.hangover } else if member.speaking > 0 { member.speaking -= 1 }
            if !isHeard { member.speaking = 0 }
            guard member.speaking > 0 else { continue }
            speakers += 1
            for index in total.indices { total[index] &+= Int32(member.heard[index]) }
        }
    }

    /// Writes the payload for a member: all that was said but by itself.
    ///
    /// - Parameter isSilent: silence instead, which its far end is to hear.
    /// - Returns: its bytes; nil where it could not be encoded, 0 where nothing need be sent.
    func payload(for member: Member, isSilent: Bool, into room: UnsafeMutableRawBufferPointer) -> Int? {
        if isSilent {
            mix.update(repeating: 0)
            return silent(encode(by: member.encoder, into: room), member.format)
        }
        if speakers > (member.speaking > 0 ? 1 : 0) { member.hasHeardOthers = true }
        if member.speaking > 0 {
            for index in mix.indices { mix[index] = saturated(total[index] &- Int32(member.heard[index])) }
            return silent(encode(by: member.encoder, into: room), member.format)
        }
        guard let entry = shared[member.format] else { return nil }
        if entry.count == nil {
            for index in mix.indices { mix[index] = saturated(total[index]) }
            entry.count = silent(encode(by: entry.encoder, into: entry.payload), member.format)
        }
        guard let count = entry.count else { return nil }
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: entry.payload[..<count]))
        return count
    }

    private func silent(_ count: Int?, _ format: Format) -> Int? {
        format.opus.discontinuous && format.codec == .opus && count ?? 0 <= 2 ? count.map { _ in 0 } : count
    }

    private func encode(by encoder: FrameEncoder, into room: UnsafeMutableRawBufferPointer) -> Int? {
        var bytes = room.bindMemory(to: UInt8.self).mutableSpan
        encodes += 1
        return try? encoder.encode(mix.span, into: &bytes)
    }

    private func energy(of samples: UnsafeMutableBufferPointer<Int16>) -> Int64 {
        var sum: Int64 = 0
        for sample in samples { sum &+= Int64(Int32(sample) &* Int32(sample)) }
        return sum
    }

    private func saturated(_ sum: Int32) -> Int16 { Int16(clamping: sum) }
}
