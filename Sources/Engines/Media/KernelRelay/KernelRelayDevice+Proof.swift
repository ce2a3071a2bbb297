import Glibc
import Primitives
import RTP
import Runtime

// The proof at the start that the relay can be used on this machine.
extension KernelRelayDevice {
    /// Why the relay cannot be used on this machine, for a person.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String

        /// A reason, without a full stop.
        public init(_ description: String) { self.description = description }
    }

    /// The process has the capabilities that it needs: CAP_NET_ADMIN, CAP_PERFMON and CAP_BPF. False where /proc does not tell.
    public static var isPermitted: Bool {
        guard let file = fopen("/proc/self/status", "re") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix("CapEff:"), let set = UInt64(text.dropFirst(7).filter { !$0.isWhitespace }, radix: 16) else { continue }
            return [12, 38, 39].allSatisfy { set >> $0 & 1 == 1 }
        }
        return false
    }

    /// Loads the program, tries its way into an interface, and holds a packet of its to what `RTPRewriter` makes of the same.
    public static func proven(mostEntries: UInt32) throws(Refusal) -> KernelRelayDevice {
        let device: KernelRelayDevice
        do throws(Failure) { device = try KernelRelayDevice(mostEntries: mostEntries) } catch {
            throw Refusal(
                error.code == EPERM || error.code == EACCES
                    ? "bpf(2) is refused: the process needs the capabilities BPF, NET_ADMIN and PERFMON, and a seccomp profile that lets it"
                    : "the kernel does not take the program (errno \(error.code))")
        }
        let loopback = if_nametoindex("lo")
        do throws(Failure) {
            try device.attach(to: loopback)
            device.detach(from: loopback)
        } catch {
            throw Refusal("the program cannot stand before an interface (errno \(error.code)): Linux 6.6 and later let it")
        }
        guard try device.relaysAsWeDo() else { throw Refusal("the program relays a packet of a test otherwise than this process does") }
        return device
    }

    private func relaysAsWeDo() throws(Refusal) -> Bool {
        let key = RelayKey(local: Self.place(1), remote: Self.place(2)), now = MonotonicClock.now
        var map = PayloadTypeMap()
        map[0] = 96
        var statistics = ReceiverStatistics(clockRate: 8_000)
        var rewriter = RTPRewriter(ssrc: 0x1234_5678, sequence: 65_530, timestamp: 4_294_967_000, clockRate: 8_000, payloadTypes: map)
        for number in 0..<3 as Range<UInt8> { _ = Self.pass(Self.packet(number), &statistics, &rewriter, at: now) }
        guard let stream = RelayedStream(statistics, rewriter) else { return false }
        let plan = RelayEntry.Plan(
            source: Self.place(3), destination: Self.place(4), interface: nil, types: RelayTypes(map, [0]), clockRate: 8_000)
        do throws(Failure) {
            try renew(at: now)
            try arm(key, RelayEntry(plan: plan, stream: stream))
            let run = try run(Self.frame(Self.packet(3), from: key.remote, to: key.local))
            guard let taken = take(key), taken.hold == nil else { return false }
            let expected = Self.pass(Self.packet(3), &statistics, &rewriter, at: taken.stream.last?.at ?? now)
            return run.verdict == .up && Array(run.frame.dropFirst(42)) == expected && taken.stream.packets == 1
                && run.frame[26..<34].elementsEqual([127, 0, 0, 3, 127, 0, 0, 4])
                && taken.stream.reception == RelayedStream(statistics, rewriter)?.reception
        } catch { throw Refusal("the program cannot be tried (errno \(error.code))") }
    }

    private static func place(_ number: UInt32) -> SocketAddress { SocketAddress(IPAddress(v4: 0x7F00_0000 + number), port: 4_000) }

    private static func packet(_ number: UInt8) -> [UInt8] {
        [0x80, 0, 0xFF, 0xF0 &+ number, 0, 0, UInt8(UInt16(number) * 160 >> 8), UInt8(UInt16(number) * 160 & 0xFF), 0, 0, 0, 7]
            + [UInt8](repeating: number, count: 160)
    }

    private static func pass(
        _ packet: [UInt8], _ statistics: inout ReceiverStatistics, _ rewriter: inout RTPRewriter, at now: Instant
    ) -> [UInt8]? {
        var packet = packet
        guard let header = try? packet.withUnsafeBytes({ try RTPHeader(parsing: $0) }) else { return nil }
        statistics.receive(header, at: now)
        return packet.withUnsafeMutableBytes { rewriter.rewrite($0, header, at: now) } == .rewritten ? packet : nil
    }

    /// An Ethernet frame with UDP over IPv4, whose checksum is left out.
    private static func frame(_ payload: [UInt8], from: SocketAddress, to: SocketAddress) -> [UInt8] {
        func words(_ numbers: UInt16...) -> [UInt8] { numbers.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } }
        func words(_ address: IPAddress) -> [UInt8] { words(UInt16(address.low >> 16 & 0xFFFF), UInt16(address.low & 0xFFFF)) }
        let length = UInt16(payload.count + 8)
        var header = words(0x4500, length + 20, 1, 0x4000, 0x4011, 0) + words(from.address) + words(to.address)
        var sum = stride(from: 0, to: 20, by: 2).reduce(UInt32(0)) { $0 + UInt32(header[$1]) << 8 + UInt32(header[$1 + 1]) }
        sum = (sum & 0xFFFF) + sum >> 16
        header.replaceSubrange(10..<12, with: words(~UInt16((sum & 0xFFFF) + sum >> 16)))
        return [UInt8](repeating: 0, count: 12) + words(0x0800) + header + words(from.port, to.port, length, 0) + payload
    }
}
