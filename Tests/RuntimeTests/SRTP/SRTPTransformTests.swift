import Primitives
import Testing

@testable import Runtime

@Suite struct SRTPTransformTests {
    @Test(arguments: SRTPSuite.allCases) func `what is protected cannot be read, and comes out as it went in`(suite: SRTPSuite) throws {
        let key = SRTPKey.test(suite)
        let packet = rtpPacket(7)
        let sealed = try SRTPSender(key).protected(packet)
        #expect(sealed.count == packet.count + suite.tagCount)
        #expect(sealed[..<12] == packet[..<12])
        #expect(zip(sealed[12...], packet[12...]).count { $0 == $1 } < 10)
        #expect(try SRTPReceiver(key).opened(sealed) == packet)
    }

    @Test(arguments: SRTPSuite.allCases)
    func `a packet of another key, a damaged and a replayed one are refused, counted and left as they came`(suite: SRTPSuite) throws {
        let (sender, receiver) = (SRTPSender(.test(suite)), SRTPReceiver(.test(suite)))
        let sealed = try sender.protected(rtpPacket(7))
        let stranger = try SRTPSender(.test(suite, 2)).protected(rtpPacket(8))
        #expect(throws: SRTPRefusal.forged) { try receiver.opened(stranger) }
        for place in [0, 1, 3, 8, 12, 100, sealed.count - 1] {
            var damaged = sealed
            damaged[place] ^= 0x10
            let before = damaged
            let refusal = damaged.withUnsafeMutableBytes { buffer in #expect(throws: SRTPRefusal.self) { try receiver.unprotect(buffer) } }
            #expect(refusal == .forged || refusal == .malformed)
            #expect(damaged == before)
        }
        #expect(try receiver.opened(sealed) == rtpPacket(7))
        #expect(throws: SRTPRefusal.replayed) { try receiver.opened(sealed) }
        #expect(receiver.counts.passed == 1)
        #expect(receiver.counts.replayed == 1)
        #expect(receiver.counts.forged + receiver.counts.malformed == 8)
    }

    @Test(arguments: SRTPSuite.allCases) func `reports have a sequence of their own, which nobody may use twice`(suite: SRTPSuite) throws {
        let (sender, receiver) = (SRTPSender(.test(suite)), SRTPReceiver(.test(suite)))
        let reports = try (0..<3).map { _ in try sender.protectedControl(rtcpPacket()) }
        #expect(Set(reports).count == 3)
        for report in [reports[2], reports[0], reports[1]] { #expect(try receiver.openedControl(report) == rtcpPacket()) }
        #expect(throws: SRTPRefusal.replayed) { try receiver.openedControl(reports[1]) }
        var forged = try sender.protectedControl(rtcpPacket())
        forged[9] ^= 1
        #expect(throws: SRTPRefusal.forged) { try receiver.openedControl(forged) }
    }

    @Test func `late packets are taken within the window, also over a turn of the sequence number`() throws {
        let (sender, receiver) = (SRTPSender(.test(.aes128GCM)), SRTPReceiver(.test(.aes128GCM)))
        let numbers = (0..<300).map { UInt16(truncatingIfNeeded: 65_400 + $0) }
        let sealed = try numbers.map { try sender.protected(rtpPacket($0)) }
        #expect(try receiver.opened(sealed[0]) == rtpPacket(numbers[0]))
        #expect(try receiver.opened(sealed[200]) == rtpPacket(numbers[200]))
        #expect(try receiver.opened(sealed[73]) == rtpPacket(numbers[73]))
        #expect(throws: SRTPRefusal.tooOld) { try receiver.opened(sealed[72]) }
        #expect(throws: SRTPRefusal.replayed) { try receiver.opened(sealed[73]) }
        #expect(try receiver.opened(sealed[299]) == rtpPacket(numbers[299]))
    }

    @Test func `no index is used twice for sending, so that no key stream is`() throws {
        let sender = SRTPSender(.test(.aes256GCM))
        _ = try sender.protected(rtpPacket(100))
        #expect(throws: SRTPRefusal.spent) { try sender.protected(rtpPacket(100)) }
        _ = try sender.protected(rtpPacket(99))
        _ = try sender.protected(rtpPacket(300))
        #expect(throws: SRTPRefusal.spent) { try sender.protected(rtpPacket(98)) }
        #expect(sender.counts.spent == 2)
    }

    @Test(arguments: [true, false]) func `after a new key the rollover goes on, or begins anew with the far end`(goesOn: Bool) throws {
        let (old, new) = (SRTPKey.test(.aes128CMSHA1_80), SRTPKey.test(.aes128GCM))
        let (sender, receiver) = (SRTPSender(old), SRTPReceiver(old))
        for number in stride(from: 0, to: 150_000, by: 1_000) {
            _ = try receiver.opened(try sender.protected(rtpPacket(UInt16(truncatingIfNeeded: number))))
        }
        let late = try sender.protected(rtpPacket(UInt16(truncatingIfNeeded: 149_500)))
        let (newSender, newReceiver) = (SRTPSender(new, after: goesOn ? sender : nil), SRTPReceiver(new, after: receiver))
        for number in stride(from: 150_000, to: 250_000, by: 1_000) {
            let packet = rtpPacket(UInt16(truncatingIfNeeded: number))
            let sealed = try newSender.protected(packet)
            #expect(try newReceiver.opened(sealed) == packet)
            #expect(throws: SRTPRefusal.replayed) { try newReceiver.opened(sealed) }
            if number == 150_000 { #expect(throws: SRTPRefusal.tooOld) { try newReceiver.opened(late) } }
        }
        #expect(throws: SRTPRefusal.forged) { try newReceiver.opened(late) }
    }

    @Test func `a packet under the old key that was under way at the change is still taken`() throws {
        let (old, new) = (SRTPKey.test(.aes128GCM), SRTPKey.test(.aes128GCM, 2))
        let sender = SRTPSender(old), receiver = SRTPReceiver(old)
        let (first, late, never) = (
            try sender.protected(rtpPacket(1)), try sender.protected(rtpPacket(2)), try sender.protected(rtpPacket(3))
        )
        _ = try receiver.opened(first)
        let (newSender, newReceiver) = (SRTPSender(new, after: sender), SRTPReceiver(new, after: receiver))
        #expect(try newReceiver.opened(try newSender.protected(rtpPacket(4))) == rtpPacket(4))
        #expect(try newReceiver.opened(late) == rtpPacket(2))
        #expect(throws: SRTPRefusal.replayed) { try newReceiver.opened(late) }
        for number in 5..<UInt16(5 + SRTPReceiver.packetsOfGrace) { _ = try newReceiver.opened(try newSender.protected(rtpPacket(number))) }
        #expect(throws: SRTPRefusal.forged) { try newReceiver.opened(never) }
    }

    @Test func `many sources share a key, and the seventeenth makes the quietest forgotten`() throws {
        let (sender, receiver) = (SRTPSender(.test(.aes128GCM)), SRTPReceiver(.test(.aes128GCM)))
        let sealed = try (0..<17).map { try sender.protected(rtpPacket(50, ssrc: UInt32($0))) }
        for packet in sealed { _ = try receiver.opened(packet) }
        #expect(throws: SRTPRefusal.replayed) { try receiver.opened(sealed[1]) }
        #expect(throws: SRTPRefusal.replayed) { try receiver.opened(sealed[16]) }
        // 2 is the quietest now, and gives its place to 0, which was forgotten.
        #expect(try receiver.opened(sealed[0]) == rtpPacket(50, ssrc: 0))
    }

    /// Every length, random bytes, and genuine packets with random damage: counted, and never a trap.
    @Test(arguments: SRTPSuite.allCases) func `noise is refused, whatever its length`(suite: SRTPSuite) throws {
        var random = SeededRandom(seed: 11)
        let (sender, receiver) = (SRTPSender(.test(suite)), SRTPReceiver(.test(suite)))
        let sealed = try sender.protected(rtpPacket(7))
        let report = try sender.protectedControl(rtcpPacket())
        var tries: UInt64 = 0
        for length in 0..<sealed.count {
            for packet in [
                Array(sealed[..<length]), Array(report.prefix(length)),
                (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &random) },
            ]
            where packet != report {
                #expect(throws: SRTPRefusal.self) { try receiver.opened(packet) }
                #expect(throws: SRTPRefusal.self) { try receiver.openedControl(packet) }
                tries += 2
            }
        }
        for _ in 0..<2_000 {
            var damaged = Bool.random(using: &random) ? sealed : report
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] ^= UInt8.random(in: 1 ... .max, using: &random)
            }
            if damaged == sealed || damaged == report { continue }
            #expect(throws: SRTPRefusal.self) { try receiver.opened(damaged) }
            #expect(throws: SRTPRefusal.self) { try receiver.openedControl(damaged) }
            tries += 2
        }
        #expect(receiver.counts.refused == tries)
        #expect(receiver.counts.passed == 0)
        for count in 0..<40 {
            var buffer = [UInt8](repeating: 0x80, count: 40)
            buffer.withUnsafeMutableBytes { buffer in
                #expect(throws: SRTPRefusal.malformed) {
                    try sender.protect(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), count: count)
                }
                #expect(throws: SRTPRefusal.malformed) {
                    try sender.protectControl(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), count: count)
                }
            }
        }
    }

    @Test func `a key tells nobody what it is`() {
        let key = SRTPKey.test(.aes256GCM)
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key) \(String(reflecting: key)) \(dumped)" == "AEAD_AES_256_GCM key AEAD_AES_256_GCM key - AEAD_AES_256_GCM key #0\n")
        #expect("\([key: key])" == "[AEAD_AES_256_GCM key: AEAD_AES_256_GCM key]")
        #expect(key == SRTPKey(.aes256GCM, key.material))
        #expect(key != .test(.aes256GCM, 2))
        #expect(SRTPKey(.aes128GCM, key.material) == nil)
    }
}
