import Dispatch
import Media
import Primitives
import RTP
import Runtime
import SDP
import Synchronization
import Testing

/// Records a fault.
func expectNone(_ fault: String?, at location: SourceLocation = #_sourceLocation) {
    if let fault { Issue.record("\(fault)", sourceLocation: location) }
}

/// A bridge of two legs on a media lane's own sockets, which relay PCMU to each other, and its two far ends.
struct Bridge {
    /// A leg's far end: it speaks without a gap, and holds what it hears to what the other one said.
    struct Phone {
        var end: End, voice = Voice(), ear = Ear()
        /// The address of ours that it sends to.
        var peer: SocketAddress

        func send(_ packet: [UInt8]) throws { try end.send(packet, to: peer) }

        /// The next packet of RTP; nil where none has come for so long. Reports of RTCP come to the same port when they are due.
        func receive(within milliseconds: Int32 = 5_000) -> [UInt8]? {
            while let packet = end.receive(within: milliseconds) {
                if packet.withUnsafeBytes({ MediaPacketKind($0) }) != .rtcp { return packet }
            }
            return nil
        }

        /// The fault in what it hears of a packet that the other one said.
        mutating func fault(for packet: [UInt8], type: UInt8 = 0, isNew: Bool = false) -> String? {
            ear.fault(in: receive(), for: packet, type: type, isNew: isNew)
        }
    }

    let news = News(), plane: MediaLanes
    let a = MediaLegID(1), b = MediaLegID(2)
    var alice: Phone, bob: Phone
    private var plans: [MediaLegID: MediaPlan] = [:]

    /// On this machine's loopback.
    ///
    /// - Parameter signalled: where she says that she is; nil: where she is.
    init(_ device: KernelRelayDevice?, signalled: SocketAddress? = nil) throws {
        try self.init(device, ends: (End.onLoopback(), End.onLoopback()), signalled: signalled)
    }

    /// - Parameters:
    ///   - locals: our addresses towards the two.
    ///   - namespace: the network of our sockets; nil: that of this process.
    init(
        _ device: KernelRelayDevice?, ends: (End, End), locals: (IPAddress, IPAddress) = (.loopback, .loopback),
        signalled: SocketAddress? = nil, in namespace: Namespace? = nil
    ) throws {
        let news = news
        @Sendable func make() throws -> MediaLanes {
            try MediaLanes(settings: MediaSettings(ports: 30_100...30_499, lanes: 1, batch: .immediate), relay: device) { news.add($0, $1) }
        }
        plane = try namespace.map { try $0.within { Unchecked(try make()) }.value } ?? make()
        (alice, bob) = (Phone(end: ends.0, peer: ends.0.address), Phone(end: ends.1, peer: ends.1.address))
        bob.voice.ssrc = 0x3333_4444
        alice.peer = try open(a, from: locals.0, to: signalled ?? ends.0.address, in: namespace)
        bob.peer = try open(b, from: locals.1, to: ends.1.address, in: namespace)
        try plane.link(a, b, at: MonotonicClock.now)
    }

    private mutating func open(
        _ leg: MediaLegID, from local: IPAddress, to remote: SocketAddress, in namespace: Namespace?
    ) throws -> SocketAddress {
        let keys = NegotiatedCodec(codec: .telephoneEvent(8_000), receivePayloadType: 101, sendPayloadType: 101)
        let audio = NegotiatedAudio(
            codecs: [.pcmu()], telephoneEvents: [keys], remoteRTP: remote, remoteRTCP: remote, rtcpMux: true)
        let plan = MediaPlan(localAddress: local, audio: audio, source: .relay), now = MonotonicClock.now
        let plane = Unchecked(plane), near = a
        @Sendable func open() throws -> PortReservation {
            while true {
                let reservation = try plane.value.reserve(.one, at: now)
                do throws(MediaError) {
                    return try plane.value.open(leg, reservation: reservation, plan: plan, near: near, at: now)
                } catch {
                    guard case .cannotBind(.addressInUse) = error else { throw error }   // another program's port: the next one
                }
            }
        }
        let opened = try namespace.map { try $0.within(open) } ?? open()
        plans[leg] = plan
        try plane.value.activate(leg)
        try plane.value.start(leg, at: now)
        return SocketAddress(local, port: opened.rtp)
    }

    /// A re-INVITE of that leg.
    mutating func update(_ leg: MediaLegID, _ change: (inout NegotiatedAudio) -> Void) throws {
        guard var plan = plans[leg] else { return }
        change(&plan.audio)
        plans[leg] = plan
        try plane.update(leg, plan: plan, at: MonotonicClock.now)
    }

    /// She sends a packet; the fault in what he hears: nil where it is the very next of his stream.
    ///
    /// - Parameters:
    ///   - pause: ticks of silence before it.
    ///   - number: the payload type that he agreed on for it; nil: the same.
    ///   - isNew: she begins anew, but his stream goes on.
    mutating func say(
        type: UInt8 = 0, pause: UInt32 = 0, marker: Bool = false, payload: Int = 160, as number: UInt8? = nil, isNew: Bool = false
    ) throws -> String? {
        let packet = alice.voice.next(type: type, pause: pause, marker: marker, payload: payload)
        try alice.send(packet)
        return bob.fault(for: packet, type: number ?? type, isNew: isNew)
    }

    /// He sends a packet; the fault in what she hears.
    mutating func reply() throws -> String? {
        let packet = bob.voice.next()
        try bob.send(packet)
        return alice.fault(for: packet)
    }

    /// As many packets of hers; the first fault.
    mutating func talk(_ count: Int, type: UInt8 = 0, as number: UInt8? = nil) throws -> String? {
        for said in 0..<count { if let fault = try say(type: type, as: number) { return "packet \(said) of \(count): \(fault)" } }
        return nil
    }

    /// Four packets, and the kernel has her direction.
    mutating func begin() throws -> String? { try talk(4) ?? (isArmed() ? nil : "not armed") }

    /// She speaks in the pace of 20 ms until the kernel was given directions so many times; the first fault.
    mutating func talk(untilArmed times: Int, type: UInt8 = 0, as number: UInt8? = nil) throws -> String? {
        for _ in 0..<500 {
            if relayed.armings >= times { return nil }
            if let fault = try say(type: type, as: number) { return fault }
            if !isQuiet(for: 20) { return "one more came" }
        }
        return "not armed"
    }

    /// He hears nothing more.
    func isQuiet(for milliseconds: Int32 = 100) -> Bool { bob.receive(within: milliseconds) == nil }

    func isArmed(_ leg: MediaLegID? = nil) -> Bool {
        news.first(of: leg ?? a) { if case .relayArmed(let arming) = $0 { arming } else { nil } } != nil
    }

    var relayed: RelayCounts { plane.counts(at: MonotonicClock.now).relayed }

    func statistics(_ leg: MediaLegID) throws -> MediaStatistics { try plane.statistics(of: leg, at: MonotonicClock.now) }

    @discardableResult
    func stop(_ leg: MediaLegID) throws -> MediaInterval { try plane.stop(leg, ending: false, at: MonotonicClock.now) }
}

/// The events of legs.
final class News: Sendable {
    private let all = Mutex<[(leg: MediaLegID, event: MediaEvent)]>([])
    private let came = DispatchSemaphore(value: 0)

    func add(_ leg: MediaLegID, _ event: MediaEvent) {
        all.withLock { $0.append((leg, event)) }
        came.signal()
    }

    /// Waits for an event that fits; nil after ten seconds, whatever else there is to say meanwhile.
    func first<Found>(of leg: MediaLegID, _ find: (MediaEvent) -> Found?) -> Found? {
        let end = DispatchTime.now() + .seconds(10)
        while true {
            let said = all.withLock { $0 }
            for (_, event) in said.filter({ $0.leg == leg }) { if let found = find(event) { return found } }
            if came.wait(timeout: end) == .timedOut { return nil }
        }
    }
}

/// A source of RTP: each packet has the next number, and holds 20 ms.
struct Voice {
    var ssrc: UInt32 = 0x1111_2222, sequence: UInt16 = 65_530, timestamp: UInt32 = 0

    mutating func next(type: UInt8 = 0, pause: UInt32 = 0, marker: Bool = false, payload: Int = 160) -> [UInt8] {
        sequence &+= 1
        timestamp &+= 160 &+ pause
        return rtp(type: type, sequence: sequence, timestamp: timestamp, ssrc: ssrc, marker: marker, payload: payload)
    }
}

/// The hearing of a far end: a packet's number and timestamp must be as far from those of the last one as they were when they were sent.
struct Ear {
    private var last: (said: RTPHeader, heard: RTPHeader)?
    /// It comes in in the middle of a stream: the first packet may be any.
    private let isLate: Bool

    init(isLate: Bool = false) { self.isLate = isLate }

    /// The fault in a packet that was heard for one that was said; nil: none.
    ///
    /// - Parameter isNew: the source begins anew: the stream goes on by one number, with a marker, in time.
    mutating func fault(in heard: [UInt8]?, for said: [UInt8], type: UInt8, isNew: Bool = false) -> String? {
        guard let heard else { return "nothing came" }
        guard let sent = Self.header(said), let came = Self.header(heard) else { return "no RTP: \(heard)" }
        defer { last = (sent, came) }
        guard came.payloadType == type, heard[12...].elementsEqual(said[12...]) else { return "another packet: \(came) for \(sent)" }
        guard let last else { return came.marker || isLate ? nil : "the first has no marker" }
        guard came.ssrc == last.heard.ssrc else { return "another SSRC" }
        let step = came.sequence.rawValue &- last.heard.sequence.rawValue, time = came.timestamp &- last.heard.timestamp
        let follows =
            isNew
            ? came.marker && step == 1 && (1...80_000).contains(time)
            : came.marker == sent.marker && step == sent.sequence.rawValue &- last.said.sequence.rawValue
                && time == sent.timestamp &- last.said.timestamp
        return follows ? nil : "\(step) numbers and \(time) ticks on, marker \(came.marker)"
    }

    private static func header(_ packet: [UInt8]) -> RTPHeader? { try? packet.withUnsafeBytes { try RTPHeader(parsing: $0) } }
}

/// Handed from one thread to the other, and used by one at a time.
struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension NegotiatedCodec {
    static func pcmu(_ receive: UInt8 = 0, _ send: UInt8 = 0) -> Self {
        Self(codec: .pcmu, receivePayloadType: receive, sendPayloadType: send)
    }
}
