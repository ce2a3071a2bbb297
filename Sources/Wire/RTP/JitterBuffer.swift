import Primitives

/// Puts the packets of one stream in order and hands them out when their time has come.
///
/// Knows payloads as bytes and ticks. Sound waits as long as 99 of 100 packets need (see `DelayEstimator`), between `Settings.minimum` and
/// `maximum`. Losses, silences that the sender left out (DTX: the timestamp jumps and the sequence does not), late packets and duplicates
/// are told apart; another SSRC, a jump of the timestamps or of the sequence is a new beginning. All memory is taken at `init`: 64 packets
/// and 16 kB of payload. Belongs to one lane; `insert` and `next` allocate nothing.
public struct JitterBuffer: Sendable {
    /// The bounds of its delay.
    public struct Settings: Hashable, Sendable {
        /// The least time that sound waits, whatever the network does; `maximum` is the most.
        public var minimum: Duration
        /// Sound that has waited for longer is given up.
        public var maximum: Duration

        /// A maximum below the minimum counts as the minimum.
        public init(minimum: Duration = .milliseconds(20), maximum: Duration = .milliseconds(200)) {
            (self.minimum, self.maximum) = (minimum, max(minimum, maximum))
        }
    }

    /// Packets by what became of them, since the beginning.
    public struct Counters: Hashable, Sendable {
        /// Handed out.
        public var played: UInt64 = 0
        /// Never came, or not before the next beginning.
        public var lost: UInt64 = 0
        /// Came when their place had been filled already.
        public var late: UInt64 = 0
        /// Came a second time.
        public var duplicate: UInt64 = 0
        /// Came behind one that was sent later, and in time.
        public var reordered: UInt64 = 0
        /// Given up because sound had piled up for longer than the maximum, or too many packets came at once.
        public var overflowed: UInt64 = 0
        /// Far from the stream's sequence, and not followed by another there.
        public var strayed: UInt64 = 0
        /// Silences that the sender left out.
        public var gaps: UInt64 = 0
        /// Times that nothing was there when sound was due, and it was neither lost nor left out by the sender: it came too late.
        public var underruns: UInt64 = 0
        /// New beginnings: another source, or a jump.
        public var restarts: UInt64 = 0

        /// Nothing has come yet.
        public init() {}

        /// The counts of two buffers, one after the other.
        public static func + (one: Self, other: Self) -> Self {
            var sum = one
            (sum.played, sum.lost, sum.late) = (one.played + other.played, one.lost + other.lost, one.late + other.late)
            (sum.duplicate, sum.reordered, sum.overflowed) = (
                one.duplicate + other.duplicate, one.reordered + other.reordered, one.overflowed + other.overflowed
            )
            (sum.strayed, sum.gaps) = (one.strayed + other.strayed, one.gaps + other.gaps)
            (sum.underruns, sum.restarts) = (one.underruns + other.underruns, one.restarts + other.restarts)
            return sum
        }
    }

    /// The sound to play next.
    public enum Next: Sendable {
        /// A packet, and whether it should be played a little shorter or longer than it is, so that the wait comes to what it should be.
        case audio(Payload, Stretch)
        /// A lost packet that lasted so many ticks, and the packet after it, when that is there, for error correction.
        case lost(ticks: Int, following: Payload?)
        /// The sender is silent: comfort noise until it speaks again.
        case gap
        /// Nothing has come that could be played: a packet is late, or the stream has ended.
        case nothing
    }

    /// The pace at which the sound of a packet is to be played, so that the delay follows the network.
    public enum Stretch: Hashable, Sendable {
        /// At its own pace.
        case none
        /// Sound waits for longer than it must, which costs delay alone: shorter, but between phrases only, unless it is far too long.
        case shorter(atOnce: Bool)
        /// Packets are wanted before their time and will come late: longer, within a phrase only when it is more than a little.
        case longer(atOnce: Bool)
    }

    /// A packet in the buffer; its bytes are valid until the next `insert`.
    public struct Payload: Sendable {
        /// As in the packet's header.
        public let payloadType: UInt8
        /// The length of its sound, in ticks of the clock rate.
        public let ticks: Int
        let place: Int
        let count: Int
    }

    /// The result for a packet. `strayed`: its sequence number was not believed.
    public enum Insertion: Hashable, Sendable { case taken, duplicate, late, strayed }

    static let slotCount = 64
    static let capacity = 16_384
    /// Steps of the sequence that are believed at once (as RFC 3550 A.1: MAX_DROPOUT, MAX_MISORDER).
    static let greatestDropout = 3_000, greatestMisorder = 500

    /// Ticks per second; it changes with the codec that comes.
    public private(set) var clockRate: UInt32
    /// Counts of the packets that came and of what was made of them, since the beginning.
    public private(set) var counters = Counters()
    /// Ticks that sound waits at present, to be reached by and by.
    public var wait: Int { Int(min(max(delays.wait, least), most)) }

    /// Nothing came since the beginning, or since the last pause.
    public var isIdle: Bool {
        if case .idle = phase { true } else { false }
    }

    enum Phase: Sendable {
        case idle
        /// The first packets wait until `start`.
        case filling(start: Instant)
        case playing
    }

    struct Slot: Sendable {
        /// -1 for one that was never used. Stays when the packet was played, to know its copies.
        var sequence: Int64 = -1
        var timestamp: Int64 = 0
        var ticks: Int64 = 0
        /// The place where its bytes begin, counted from the beginning of the stream; older than `capacity` is overwritten.
        var start = 0
        var count = 0
        var payloadType: UInt8 = 0
        var isWaiting = false
    }

    var slots = [Slot](repeating: Slot(), count: slotCount)
    var bytes = [UInt8](repeating: 0, count: capacity)
    /// Bytes written since the beginning, with what was left empty at the edge.
    var written = 0
    var phase = Phase.idle
    var delays: DelayEstimator
    private let settings: Settings
    private(set) var least: Int64 = 0, most: Int64 = 0

    private var ssrc: UInt32 = 0
    var highest: Int64 = 0
    private var suspect: UInt16?
    /// The timestamp and the arrival of the packet with the highest sequence number.
    private var latest: (timestamp: Int64, cameAt: Int64) = (0, 0)
    private var origin = Instant.zero
    /// When the first packet came of those that come too late to be played.
    private var tooLateSince: Int64?
    /// The packet that is due next, and the timestamp that is.
    var due: Int64 = 0
    var position: Int64 = 0
    var lastTicks: Int64 = 0
    var isInGap = false, isStarved = false

    /// - Parameter clockRate: of RTP timestamps, in Hz.
    public init(clockRate: UInt32, settings: Settings = Settings()) {
        self.clockRate = max(1, clockRate)
        self.settings = settings
        delays = DelayEstimator(clockRate: self.clockRate)
        setLimits()
    }

    /// The stream changes to a codec of another clock: a new beginning.
    public mutating func change(clockRate: UInt32) {
        self.clockRate = max(1, clockRate)
        delays = DelayEstimator(clockRate: self.clockRate)
        setLimits()
        pause()
    }

    private mutating func setLimits() {
        func ticks(_ time: Duration) -> Int64 { time.wholeMilliseconds * Int64(clockRate) / 1_000 }
        (least, most) = (ticks(settings.minimum), ticks(settings.maximum))
    }

    /// Takes one packet.
    ///
    /// - Parameters:
    ///   - ticks: how long its sound lasts; 0 for one that is no sound (an event), whose place in the sequence it only fills.
    public mutating func insert(_ header: RTPHeader, _ payload: UnsafeRawBufferPointer, ticks: Int, at now: Instant) -> Insertion {
        if case .idle = phase { begin(header, at: now) } else if ssrc != header.ssrc { restart(header, at: now) }
        guard let sequence = believed(header, at: now) else {
            counters.strayed += 1
            return .strayed
        }
        var timestamp = latest.timestamp + timestampDistance(from: UInt32(truncatingIfNeeded: latest.timestamp), to: header.timestamp)
        var place = sequence
        if ticks > 0, sequence >= highest, hasJumped(to: timestamp, at: now) {
            restart(header, at: now)
            (place, timestamp) = (highest, latest.timestamp)
        }
        if place - due >= Int64(Self.slotCount) { giveUp(before: place, timestamp) }
        return take(place, timestamp, header.payloadType, payload, ticks: ticks, at: now)
    }

    /// Reads a packet that `next` has given.
    public func read<Value>(_ payload: Payload, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[payload.place..<payload.place + payload.count])) }
    }

    /// The stream pauses: what waits is dropped, and what comes next is a new beginning.
    public mutating func pause() {
        phase = .idle
        for index in slots.indices { slots[index].isWaiting = false }
    }

    /// Ticks since the beginning.
    func clock(_ now: Instant) -> Int64 {
        let time = now > origin ? now.nanoseconds - origin.nanoseconds : 0
        return Int64(time / 1_000_000_000) * Int64(clockRate) + Int64(time % 1_000_000_000) * Int64(clockRate) / 1_000_000_000
    }

    // MARK: Beginnings

    private mutating func begin(_ header: RTPHeader, at now: Instant) {
        (ssrc, suspect, origin, tooLateSince) = (header.ssrc, nil, now, nil)
        delays.rebase()
        for index in slots.indices { slots[index] = Slot() }
        highest = 65_536 + Int64(header.sequence.rawValue)   // never negative, however far back the next one is
        due = highest
        latest = (Int64(header.timestamp) + 1 << 32, 0)
        position = latest.timestamp
        (isInGap, isStarved, lastTicks) = (false, false, 0)
        phase = .filling(start: now + .nanoseconds(Int64(wait) * 1_000_000_000 / Int64(clockRate)))
    }

    private mutating func restart(_ header: RTPHeader, at now: Instant) {
        counters.restarts += 1
        begin(header, at: now)
    }

    /// The sequence number without its wrap; nil for one far off, unless it follows another one there.
    private mutating func believed(_ header: RTPHeader, at now: Instant) -> Int64? {
        let step = SequenceNumber(UInt16(truncatingIfNeeded: highest)).distance(to: header.sequence)
        guard step > Self.greatestDropout || step < -Self.greatestMisorder else {
            suspect = nil
            return highest + Int64(step)
        }
        guard suspect == header.sequence.rawValue else {
            suspect = header.sequence.rawValue &+ 1
            return nil
        }
        restart(header, at: now)
        return highest
    }

    /// A second or more away from where the time that passed would put it.
    private func hasJumped(to timestamp: Int64, at now: Instant) -> Bool {
        abs((timestamp - latest.timestamp) - (clock(now) - latest.cameAt)) > Int64(clockRate)
    }

    // MARK: Taking

    private mutating func take(
        _ sequence: Int64, _ timestamp: Int64, _ payloadType: UInt8, _ payload: UnsafeRawBufferPointer, ticks: Int, at now: Instant
    ) -> Insertion {
        let index = Int(sequence % Int64(Self.slotCount))
        if slots[index].sequence == sequence { return refuse(.duplicate) }
        let time = clock(now)
        if ticks > 0 { noteTransit(time - timestamp, ticks: Int64(ticks), isNews: sequence >= due, at: time) }
        if case .filling = phase, sequence < due, due - sequence < Int64(Self.slotCount) {
            (due, position) = (sequence, min(position, timestamp))   // the first ones came in another order
        }
        if sequence < due { return refuse(.late) }
        guard payload.count <= Self.capacity / 4 else { return refuse(.strayed) }
        if sequence < highest { counters.reordered += 1 }
        if sequence >= highest {
            highest = sequence
            if ticks > 0 { latest = (timestamp, time) }
        }
        store(index, sequence, timestamp, payloadType, payload, ticks: ticks)
        return .taken
    }

    /// Notes the transit of a packet. A packet that comes too late when nothing waits, and is followed by another such at the usual pace,
    /// says that the way has grown longer. Else all would be given up until the shorter way is forgotten. Packets that a stall of the
    /// network held back come all at once.
    private mutating func noteTransit(_ transit: Int64, ticks: Int64, isNews: Bool, at time: Int64) {
        let isTooLate = delays.base.map { transit - $0 > most } ?? false
        delays.receive(transit: transit, at: time)
        guard isNews else { return }
        if !isTooLate {
            tooLateSince = nil
        } else if let since = tooLateSince {
            guard time - since >= ticks / 2 else { return }
            delays.rebase(to: transit, at: time)
            tooLateSince = nil
        } else if firstWaiting() == nil {
            tooLateSince = time
        }
    }

    /// Too far behind to be waited for: what waits is dropped and what does not is lost.
    private mutating func giveUp(before sequence: Int64, _ timestamp: Int64) {
        var waiting: Int64 = 0
        for index in slots.indices where slots[index].isWaiting && slots[index].sequence < sequence {
            slots[index].isWaiting = false
            waiting += 1
        }
        counters.overflowed += UInt64(waiting)
        counters.lost += UInt64(max(0, sequence - due - waiting))
        (due, position) = (sequence, timestamp)
    }

    private mutating func refuse(_ cause: Insertion) -> Insertion {
        switch cause {
        case .duplicate: counters.duplicate += 1
        case .late:
            counters.late += 1
            if counters.lost > 0 { counters.lost -= 1 }
        case .strayed: counters.strayed += 1
        case .taken: break
        }
        return cause
    }

    private mutating func store(
        _ index: Int, _ sequence: Int64, _ timestamp: Int64, _ payloadType: UInt8, _ payload: UnsafeRawBufferPointer, ticks: Int
    ) {
        var place = written % Self.capacity
        if place + payload.count > Self.capacity {
            written += Self.capacity - place
            place = 0
        }
        bytes.withUnsafeMutableBytes {
            $0.baseAddress?.advanced(by: place).copyMemory(
                from: payload.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, byteCount: payload.count)
        }
        slots[index] = Slot(
            sequence: sequence, timestamp: timestamp, ticks: Int64(ticks), start: written, count: payload.count, payloadType: payloadType,
            isWaiting: true)
        written += payload.count
    }

    mutating func count(_ change: (inout Counters) -> Void) { change(&counters) }
}
