import CKernelRelay
import CNetworkNamespace
import Foundation
import Media
import Primitives
import RTP
import Testing

/// Tests with real sockets, threads or clocks: in a run of their own (`scripts/test`).
@Suite(.serialized) enum RealTime {}

/// What the machine permits.
enum Permission {
    /// Why the program cannot be loaded here; nil where it can. HOOKSWITCH_TEST_KERNEL_RELAY=required makes it a failure.
    static let refusal: String? = {
        do throws(KernelRelayDevice.Failure) {
            _ = try KernelRelayDevice(mostEntries: 1)
            return nil
        } catch {
            return "bpf(2) is refused here with errno \(error.code)"
        }
    }()

    /// The seeds of streams, or the one of HOOKSWITCH_SEED.
    static let seeds = ProcessInfo.processInfo.environment["HOOKSWITCH_SEED"].flatMap(UInt64.init).map { [$0] } ?? Array(1...8)

    static let isRequired = ProcessInfo.processInfo.environment["HOOKSWITCH_TEST_KERNEL_RELAY"] == "required"

    /// Whether the program may stand before an interface, too.
    static let attaches = isRequired || (try? KernelRelayDevice.proven(mostEntries: 4)) != nil

    /// Whether tests of the program run.
    static var isThere: Bool { refusal == nil || isRequired }

    /// Whether namespaces with interfaces can be made, too.
    static let hasNamespaces = isThere && (geteuid() == 0 || isRequired)
}

extension KernelRelayDevice {
    /// A device that believes user space alive, for an hour.
    static func awake(mostEntries: UInt32 = 64) throws -> KernelRelayDevice {
        let device = try KernelRelayDevice(mostEntries: mostEntries)
        try device.renew(at: .kernelNow + .seconds(3_600))
        return device
    }
}

extension Instant {
    /// The clock of the program.
    static var kernelNow: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }
}

/// One direction of a relayed call under test: its addresses, and the two values that user space relays with.
struct Direction {
    var key: RelayKey
    var plan: RelayEntry.Plan
    var statistics = ReceiverStatistics(clockRate: 8_000)
    var sender = SenderStatistics(clockRate: 8_000)
    var rewriter: RTPRewriter

    /// - Parameters:
    ///   - map: the numbers of payload types on the other side.
    ///   - types: those that are relayed.
    init(_ family: IPAddress.Family, map: PayloadTypeMap, types: PayloadTypeSet, interface: UInt32? = nil) {
        let addresses = (UInt64(0)..<4).map { Self.address($0, family) }
        key = RelayKey(local: SocketAddress(addresses[0], port: 4_000), remote: SocketAddress(addresses[1], port: 65_000))
        plan = RelayEntry.Plan(
            source: SocketAddress(addresses[2], port: 4_002), destination: SocketAddress(addresses[3], port: 10_001), interface: interface,
            types: RelayTypes(map, types), clockRate: 8_000)
        rewriter = RTPRewriter(ssrc: 0xABCD_1234, sequence: 30_000, timestamp: 0xFFFF_F000, clockRate: 8_000, payloadTypes: map)
    }

    private static func address(_ number: UInt64, _ family: IPAddress.Family) -> IPAddress {
        if family == .v4 { return IPAddress(v4: 0x0A00_0001 + UInt32(number) * 0x1_0203) }
        return IPAddress(v6High: 0xFD00_1234_0000_0001 &+ number << 32, low: 0xFEDC_0000_0000_0001 &* (number * 7 + 1))
    }

    /// User space takes a packet; as it leaves, or nil.
    mutating func take(_ packet: [UInt8], at now: Instant) throws -> [UInt8]? {
        var packet = packet
        let header = try packet.withUnsafeBytes { try RTPHeader(parsing: $0) }
        statistics.receive(header, at: now)
        let outcome = packet.withUnsafeMutableBytes { rewriter.rewrite($0, header, at: now) }
        guard outcome == .rewritten else { return nil }
        let sent = try packet.withUnsafeBytes { try RTPHeader(parsing: $0) }
        sender.sent(sent.timestamp, sequence: sent.sequence.rawValue, octets: header.payloadCount, at: now)
        return packet
    }

    /// The entry as it is armed now.
    func entry() throws -> RelayEntry { RelayEntry(plan: plan, stream: try #require(RelayedStream(statistics, rewriter))) }

    /// A frame of this direction as it arrives, and one as it leaves.
    func incoming(_ packet: [UInt8], ttl: UInt8 = 57) -> Frame {
        Frame(from: key.remote, to: key.local, packet, ttl: ttl, trafficClass: 0xB8)
    }
    func outgoing(_ packet: [UInt8]) -> Frame {
        Frame(from: plan.source, to: plan.destination, packet, ttl: 64, trafficClass: plan.trafficClass)
    }
}

/// Makes an RTP packet of parts.
func rtp(
    type: UInt8 = 0, sequence: UInt16, timestamp: UInt32, ssrc: UInt32 = 0x1111_2222, marker: Bool = false, contributors: Int = 0,
    extensionWords: Int? = nil, payload: Int = 160, padding: Int? = nil
) -> [UInt8] {
    var packet = [UInt8(0x80) | UInt8(contributors) | (extensionWords == nil ? 0 : 0x10) | (padding == nil ? 0 : 0x20)]
    packet.append((marker ? 0x80 : 0) | type)
    packet += bigEndian(sequence) + bigEndian(timestamp) + bigEndian(ssrc)
    for number in 0..<contributors { packet += bigEndian(UInt32(number) &* 0x0101_0101) }
    if let extensionWords {
        packet += [0xBE, 0xDE] + bigEndian(UInt16(extensionWords)) + [UInt8](repeating: 0x51, count: 4 * extensionWords)
    }
    packet += (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(sequence)) }
    if let padding { packet += [UInt8](repeating: 0, count: max(0, padding - 1)) + [UInt8(padding)] }
    return packet
}

func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
