import CKernelRelay
import Primitives
import RTP

// The entry as the program has it, and back.
extension RelayEntry {
    func kernel(for key: kernel_relay_key) -> kernel_relay_entry {
        var entry = kernel_relay_entry()
        entry.plan = plan.kernel(stream)
        withUnsafePointer(to: key) { kernel_relay_prepare($0, &entry.plan) }
        entry.stream = kernelStream
        (entry.left.held, entry.left.control) = (left.held, left.control)
        (entry.left.malformed, entry.left.over_rate, entry.left.failed) = (left.malformed, left.overRate, left.failed)
        entry.stream.since = entry.bursts.fill(stream.reception.bursts)
        entry.jitters.count = stream.reception.jitters.count
        entry.jitters.greatest = stream.reception.jitters.greatest
        withUnsafeMutableBytes(of: &entry.jitters.steps) { steps in
            for step in 0..<68 {
                steps.storeBytes(of: stream.reception.jitters.counts[step], toByteOffset: 4 * step, as: UInt32.self)
            }
        }
        return entry
    }

    private var kernelStream: kernel_relay_stream {
        let reception = stream.reception, source = stream.source
        var kernel = kernel_relay_stream()
        (kernel.packets, kernel.octets, kernel.received) = (stream.packets, stream.octets, reception.received)
        (kernel.window, kernel.cycles) = (reception.window, reception.cycles)
        (kernel.highest, kernel.source_highest) = (reception.highest, source.highest)
        (kernel.fresh, kernel.held, kernel.age, kernel.span) = (isFresh ? 1 : 0, hold?.rawValue ?? 0, reception.age, source.span)
        (kernel.has_transit, kernel.transit) = (reception.transit == nil ? 0 : 1, reception.transit ?? 0)
        (kernel.has_jitter, kernel.jitter) = (reception.jitter == nil ? 0 : 1, reception.jitter ?? 0)
        (kernel.base_sequence, kernel.source_timestamp) = (reception.base, source.timestamp)
        (kernel.source_at, kernel.copies, kernel.late) = (source.sentAt.nanoseconds, reception.copies, late)
        (kernel.second_at, kernel.second_packets) = (second.nanoseconds, secondPackets)
        if let last = stream.last {
            (kernel.last_at, kernel.sent_timestamp) = (last.at.nanoseconds, last.sentTimestamp)
            (kernel.last_octets, kernel.last_type) = (last.octets, last.payloadType)
        }
        kernel.missing = reception.missing
        return kernel
    }

    init(_ entry: kernel_relay_entry, isV6: Bool) {
        plan = Plan(entry.plan, isV6: isV6)
        stream = RelayedStream(entry)
        (isFresh, hold, late) = (entry.stream.fresh != 0, Hold(rawValue: entry.stream.held), entry.stream.late)
        (left.held, left.control) = (entry.left.held, entry.left.control)
        (left.malformed, left.overRate, left.failed) = (entry.left.malformed, entry.left.over_rate, entry.left.failed)
        (second, secondPackets) = (Instant(nanoseconds: entry.stream.second_at), entry.stream.second_packets)
    }
}

extension RelayEntry.Plan {
    fileprivate func kernel(_ stream: RelayedStream) -> kernel_relay_plan {
        var kernel = kernel_relay_plan()
        (kernel.route.source, kernel.route.destination) = (source.address.kernelBytes, destination.address.kernelBytes)
        (kernel.route.source_port, kernel.route.destination_port) = (source.port.bigEndian, destination.port.bigEndian)
        (kernel.route.interface, kernel.route.traffic_class) = (interface ?? 0, trafficClass)
        (kernel.route.ssrc, kernel.route.new_ssrc) = (stream.ssrc, stream.sendingSSRC)
        (kernel.route.sequence_offset, kernel.route.timestamp_offset) = (stream.source.sequenceOffset, stream.source.timestampOffset)
        (kernel.clock_rate, kernel.tolerance, kernel.token) = (stream.clockRate, tolerance, token)
        (kernel.rate_limit, kernel.longest) = (rateLimit ?? 0, longest ?? 0)
        withUnsafeMutableBytes(of: &kernel.types) { bytes in
            for type in 0..<128 { bytes[type] = types.table[type] }
        }
        return kernel
    }

    fileprivate init(_ kernel: kernel_relay_plan, isV6: Bool) {
        source = SocketAddress(IPAddress(kernel.route.source, isV6: isV6), port: UInt16(bigEndian: kernel.route.source_port))
        destination = SocketAddress(IPAddress(kernel.route.destination, isV6: isV6), port: UInt16(bigEndian: kernel.route.destination_port))
        (interface, trafficClass) = (kernel.route.interface == 0 ? nil : kernel.route.interface, kernel.route.traffic_class)
        types = withUnsafeBytes(of: kernel.types) { bytes in RelayTypes(table: InlineArray { bytes[$0] }) }
        (tolerance, rateLimit) = (kernel.tolerance, kernel.rate_limit == 0 ? nil : kernel.rate_limit)
        (longest, token) = (kernel.longest == 0 ? nil : kernel.longest, kernel.token)
    }
}

extension RelayedStream {
    fileprivate init(_ entry: kernel_relay_entry) {
        let kernel = entry.stream
        self.init(
            ssrc: entry.plan.route.ssrc, sendingSSRC: entry.plan.route.new_ssrc, clockRate: entry.plan.clock_rate,
            reception: Reception(entry),
            source: Source(
                highest: kernel.source_highest, timestamp: kernel.source_timestamp, sentAt: Instant(nanoseconds: kernel.source_at),
                span: kernel.span, sequenceOffset: entry.plan.route.sequence_offset, timestampOffset: entry.plan.route.timestamp_offset))
        (packets, octets) = (kernel.packets, kernel.octets)
        guard kernel.last_at != 0 else { return }
        last = Last(
            at: Instant(nanoseconds: kernel.last_at), sentTimestamp: kernel.sent_timestamp, payloadType: kernel.last_type,
            octets: kernel.last_octets)
    }
}

extension RelayedStream.Reception {
    fileprivate init(_ entry: kernel_relay_entry) {
        let kernel = entry.stream
        self.init(
            base: kernel.base_sequence, highest: kernel.highest, cycles: kernel.cycles, received: kernel.received, window: kernel.window,
            age: kernel.age, copies: kernel.copies, missing: kernel.missing, transit: kernel.has_transit == 0 ? nil : kernel.transit,
            jitter: kernel.has_jitter == 0 ? nil : kernel.jitter, bursts: entry.bursts.metrics(since: kernel.since),
            jitters: entry.jitters.histogram)
    }
}

extension kernel_relay_bursts {
    /// Returns the packets since the last loss, which lie elsewhere.
    fileprivate mutating func fill(_ metrics: BurstMetrics) -> Int64 {
        let counts = metrics.counts
        (run, c11, c13, c14, c22) = (counts[1], counts[2], counts[3], counts[4], counts[5])
        (c23, c33, stretches, losses, packets) = (counts[6], counts[7], counts[8], counts[9], counts[10])
        return counts[0]
    }

    fileprivate func metrics(since: Int64) -> BurstMetrics {
        var metrics = BurstMetrics()
        metrics.counts = [since, run, c11, c13, c14, c22, c23, c33, stretches, losses, packets]
        return metrics
    }
}

extension kernel_relay_jitters {
    fileprivate var histogram: Histogram<UInt32> {
        withUnsafeBytes(of: steps) { bytes in
            let counts = InlineArray<68, UInt32> { bytes.load(fromByteOffset: 4 * $0, as: UInt32.self) }
            return Histogram(count: count, greatest: greatest, counts: counts)
        }
    }
}
