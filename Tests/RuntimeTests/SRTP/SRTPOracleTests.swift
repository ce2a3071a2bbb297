// Left out where the package is built without libsrtp2; see Package.swift.
#if canImport(CSRTPOracle)
import CSRTPOracle
import Primitives
import Runtime
import Testing

/// libsrtp2, on the other side of the same key.
private final class Oracle {
    private let session: srtp_t

    init?(_ key: SRTPKey, sends: Bool) {
        let suites: [SRTPSuite: Int32] = [
            .aes128CMSHA1_80: Int32(oracle_cm_80), .aes128CMSHA1_32: Int32(oracle_cm_32),
            .aes128GCM: Int32(oracle_gcm_128), .aes256GCM: Int32(oracle_gcm_256),
        ]
        guard let suite = suites[key.suite], let session = oracle_session(suite, key.material, sends ? 1 : 0) else { return nil }
        self.session = session
    }

    deinit { oracle_end(session) }

    func protected(_ packet: [UInt8]) -> [UInt8]? { changed(packet, oracle_protect) }
    func opened(_ packet: [UInt8]) -> [UInt8]? { changed(packet, oracle_unprotect) }
    func protectedControl(_ packet: [UInt8]) -> [UInt8]? { changed(packet, oracle_protect_control) }
    func openedControl(_ packet: [UInt8]) -> [UInt8]? { changed(packet, oracle_unprotect_control) }

    private func changed(_ packet: [UInt8], _ work: (srtp_t?, UnsafeMutableRawPointer?, Int32) -> Int32) -> [UInt8]? {
        var buffer = packet + [UInt8](repeating: 0, count: 64)
        let count = buffer.withUnsafeMutableBytes { work(session, $0.baseAddress, Int32(packet.count)) }
        return count < 0 ? nil : Array(buffer[..<Int(count)])
    }
}

/// Byte for byte what libsrtp2 makes, and readable for each other. The library has a global state, so one test at a time.
@Suite(.serialized) struct SRTPOracleTests {
    @Test(arguments: SRTPSuite.allCases) func `RTP is that of libsrtp2 over three turns of the sequence number`(suite: SRTPSuite) throws {
        let key = SRTPKey.test(suite)
        let (sender, receiver) = (SRTPSender(key), SRTPReceiver(key))
        let (theirSender, theirReceiver) = (try #require(Oracle(key, sends: true)), try #require(Oracle(key, sends: false)))
        var random = SeededRandom(seed: 5)
        for number in stride(from: 0, to: 200_000, by: 37) {
            let packet = rtpPacket(UInt16(truncatingIfNeeded: number), payload: Int.random(in: 0...300, using: &random))
            let ours = try sender.protected(packet)
            try #require(theirSender.protected(packet) == ours, "packet \(number)")
            try #require(theirReceiver.opened(ours) == packet, "packet \(number)")
            try #require(try receiver.opened(ours) == packet, "packet \(number)")
        }
    }

    @Test(arguments: SRTPSuite.allCases) func `RTCP is that of libsrtp2`(suite: SRTPSuite) throws {
        let key = SRTPKey.test(suite)
        let (sender, receiver) = (SRTPSender(key), SRTPReceiver(key))
        let (theirSender, theirReceiver) = (try #require(Oracle(key, sends: true)), try #require(Oracle(key, sends: false)))
        // The library begins at index 1.
        _ = try sender.protectedControl(rtcpPacket())
        for number in 0..<300 {
            let packet = rtcpPacket()
            let ours = try sender.protectedControl(packet)
            try #require(theirSender.protectedControl(packet) == ours, "packet \(number)")
            try #require(theirReceiver.openedControl(ours) == packet, "packet \(number)")
            try #require(try receiver.openedControl(ours) == packet, "packet \(number)")
        }
    }

    @Test(arguments: SRTPSuite.allCases) func `contributing sources, extension and padding stay where they are`(suite: SRTPSuite) throws {
        let key = SRTPKey.test(suite)
        let sender = SRTPSender(key)
        let theirs = try #require(Oracle(key, sends: false))
        var packet = rtpPacket(1, payload: 0)
        packet[0] = 0xB2
        packet += [1, 2, 3, 4, 5, 6, 7, 8] + [0xBE, 0xDE, 0, 1, 9, 9, 9, 9] + [1, 2, 3, 4, 0, 0, 0, 4]
        let ours = try sender.protected(packet)
        #expect(Array(ours[..<28]) == Array(packet[..<28]))
        #expect(theirs.opened(ours) == packet)
        #expect(try SRTPReceiver(key).opened(ours) == packet)
    }
}
#endif
