import Audio
import Foundation
import Glibc
import Media
import Primitives
import RTP
import Runtime
import SDP

/// Two media planes of three lanes each, whose legs are opened, linked, updated, moved, recorded and closed while packets come.
func raceMedia(_ run: Run) throws -> [Figure] {
    try withFolder { folder in
        let ends = try FarEnds(sockets: 2), tallies = MediaTallies()
        let writer = RecordingWriter(clock: { MonotonicClock.now }, report: { _ in tallies.refusals.add() })
        onThreads(4) { number in
            guard number < 2 else { return ends.talk(on: number - 2) { run.isOver } }
            guard let signalling = try? Signalling(number, run, ends, writer, folder, tallies) else { return }
            while !run.isOver { signalling.step() }
            signalling.closeAll()
        }
        writer.finish(at: MonotonicClock.now)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).count
        return [
            ("legs", tallies.legs.count), ("links", tallies.links.count), ("updates", tallies.updates.count),
            ("packets to us", ends.sent.count), ("packets of ours", ends.received.count), ("events", tallies.events.count),
            ("recordings", files),
        ]
    }
}

private struct MediaTallies: Sendable { let legs = Tally(), links = Tally(), updates = Tally(), events = Tally(), refusals = Tally() }

/// The one thread that may call a plane; it takes one random step after the other.
private final class Signalling {
    private struct OpenLeg {
        var plan: MediaPlan
        let reservation: PortReservation
        var isStarted = true
    }

    private let plane: MediaLanes
    private let ends: FarEnds
    private let writer: RecordingWriter
    private let folder: String
    private let tallies: MediaTallies
    private let number: Int
    private var random: SeededRandom
    private var legs: [MediaLegID: OpenLeg] = [:]
    private var lastLeg: UInt64
    private static let mostLegs = 10

    init(_ number: Int, _ run: Run, _ ends: FarEnds, _ writer: RecordingWriter, _ folder: String, _ tallies: MediaTallies) throws {
        let first = UInt16(24_000 + 2_000 * number)
        let settings = MediaSettings(ports: first...(first + 1_999), quarantine: .seconds(1), lanes: 3)
        plane = try MediaLanes(settings: settings) { _, _ in tallies.events.add() }
        (self.ends, self.writer, self.folder, self.tallies) = (ends, writer, folder, tallies)
        (self.number, random, lastLeg) = (number, run.random(number), UInt64(number) << 32)
    }

    /// What the plane refuses is counted, and the next step is another.
    func step() {
        let now = MonotonicClock.now
        do throws(MediaError) {
            if legs.count < 4 { return try open(at: now) }
            switch Int.random(in: 0..<12, using: &random) {
            case 0, 1: if legs.count < Self.mostLegs { try open(at: now) }
            case 2, 3, 4: try link(at: now)
            case 5, 6, 7: try update(at: now)
            case 8: try pauseOrResume(at: now)
            case 9: try sendDigits(at: now)
            case 10: if let leg = anyLeg { try close(leg, at: now) }
            default: try look(at: now)
            }
        } catch {
            tallies.refusals.add()
        }
        usleep(2_000)   // packets come meanwhile
    }

    func closeAll() { for leg in legs.keys { try? close(leg, at: MonotonicClock.now) } }

    /// Sorted, so that a seed chooses the same again.
    private var anyLeg: MediaLegID? { legs.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random) }

    private func open(at now: Instant) throws(MediaError) {
        lastLeg += 1
        let leg = MediaLegID(lastLeg), socket = Int.random(in: 0..<ends.addresses.count, using: &random),
            isOpus = Bool.random(using: &random)
        let plan = makePlan(isOpus: isOpus, far: ends.addresses[socket], at: now), reserved = try plane.reserve(at: now)
        let kept: PortReservation
        do throws(MediaError) { kept = try plane.open(leg, reservation: reserved, plan: plan, near: nil, at: now) } catch {
            if case .cannotBind = error { try plane.releaseTaken(reserved, at: now) } else { try plane.release(reserved, at: now) }
            throw error
        }
        legs[leg] = OpenLeg(plan: plan, reservation: kept)
        tallies.legs.add()
        try plane.activate(leg)
        try plane.start(leg, at: now)
        ends.add(leg, FarEnds.Line(port: kept.rtp, isOpus: isOpus, socket: socket))
    }

    private func makePlan(isOpus: Bool, far: SocketAddress, at now: Instant) -> MediaPlan {
        let codec = NegotiatedCodec(
            codec: isOpus ? .opus : .pcmu, receivePayloadType: isOpus ? 111 : 0, sendPayloadType: isOpus ? 111 : 0)
        let keys = NegotiatedCodec(codec: .telephoneEvent(codec.codec.clockRate), receivePayloadType: 101, sendPayloadType: 101)
        let audio = NegotiatedAudio(codecs: [codec], telephoneEvents: [keys], remoteRTP: far, remoteRTCP: far, rtcpMux: true)
        var plan = MediaPlan(localAddress: .loopback, audio: audio, source: anySource())
        if Int.random(in: 0..<4, using: &random) == 0 { plan.sink = .record }
        if Int.random(in: 0..<3, using: &random) == 0 { plan.recording = beginRecording(at: now) }
        return plan
    }

    private func beginRecording(at now: Instant) -> RecordingTap {
        let format: RecordingFormat = Bool.random(using: &random) ? .wav : .opus
        let path = "\(folder)/\(lastLeg)-\(UInt32.random(in: 0 ... .max, using: &random)).\(format.rawValue)"
        return writer.begin(RecordingWriter.Order(path: path, format: format, sampleRate: 16_000), at: now)
    }

    private func anySource() -> MediaSource {
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2: .relay
        case 3, 4: .conference(UInt64(number * 10 + Int.random(in: 0..<2, using: &random)))
        case 5: .tone(Tone(440))
        case 6: .samples([Int16](repeating: 500, count: 1_600), sampleRate: 8_000, loops: false)
        default: .echo
        }
    }

    /// Two legs that relay: transcoded where their codecs differ, and on one lane from then on.
    private func link(at now: Instant) throws(MediaError) {
        guard let first = anyLeg, let second = anyLeg, first != second else { return }
        for leg in [first, second] {
            try plane.unlink(leg)
            try change(leg, at: now) { $0.source = .relay }
        }
        try plane.link(first, second, at: now)
        tallies.links.add()
    }

    /// Another source, a hold, or a recording that begins or ends. A leg that joins a conference of another lane moves there.
    private func update(at now: Instant) throws(MediaError) {
        guard let leg = anyLeg else { return }
        let old = legs[leg]?.plan.recording
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try change(leg, at: now) { $0.audio.sends.toggle() }
        case 1:
            let tap = beginRecording(at: now)
            try change(leg, at: now) { $0.recording = tap }
            if let old { writer.end(old, at: now) }
        default:
            let source = anySource()
            try plane.unlink(leg)
            try change(leg, at: now) { $0.source = source }
        }
        tallies.updates.add()
    }

    private func change(_ leg: MediaLegID, at now: Instant, _ change: (inout MediaPlan) -> Void) throws(MediaError) {
        guard var plan = legs[leg]?.plan else { return }
        change(&plan)
        try plane.update(leg, plan: plan, at: now)
        legs[leg]?.plan = plan
    }

    private func pauseOrResume(at now: Instant) throws(MediaError) {
        guard let leg = anyLeg, let isStarted = legs[leg]?.isStarted else { return }
        if isStarted { try plane.stop(leg, at: now) } else { try plane.start(leg, at: now) }
        legs[leg]?.isStarted = !isStarted
    }

    private func sendDigits(at now: Instant) throws(MediaError) {
        guard let leg = anyLeg, legs[leg]?.isStarted == true, let digit = DTMFDigit(event: 5) else { return }
        try plane.send([digit, digit], on: leg, at: now)
    }

    private func look(at now: Instant) throws(MediaError) {
        if let leg = anyLeg { _ = try plane.statistics(of: leg, at: now) }
        _ = plane.counts(at: now)
    }

    private func close(_ leg: MediaLegID, at now: Instant) throws(MediaError) {
        guard let open = legs.removeValue(forKey: leg) else { return }
        ends.remove(leg)
        if open.isStarted { try plane.stop(leg, ending: true, at: now) }
        try plane.close(leg, at: now)
        try plane.release(open.reservation, at: now)
        if let tap = open.plan.recording { writer.end(tap, at: now) }
    }
}
