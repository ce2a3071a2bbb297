import Foundation
import Testing

extension Talks {
    /// The contract, seen by the kernel: sockets and packets exist between answer and end, and at no other time.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct WitnessTests {
        enum Ending: String, CaseIterable { case caller, callee }

        @Test(arguments: Ending.allCases)
        func `a bridged call has sockets and packets between answer and end only`(ending: Ending) async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: ["opus"])
            let capture = try await Capture.start(gateway.ports.range, in: gateway.folder)
            let witness = try await Witness.start(beside: gateway)
            #expect(gateway.mediaSockets.isEmpty)
            try await pair.ring()
            #expect(gateway.mediaSockets.isEmpty, "it rings, and nobody answered")

            pair.callee.accept()
            try await pair.caller.waitForRecording(of: 1)
            try await pair.callee.waitForRecording(of: 1)
            let during = gateway.mediaSockets
            #expect((2...4).contains(during.count), "a port for each leg, or two where RTCP has its own: \(during)")

            (ending == .caller ? pair.caller : pair.callee).hangUp()
            try await gateway.waitForNoMediaSocket()
            try await (ending == .caller ? pair.callee : pair.caller).event("CALL_CLOSED")
            let packets = try await capture.stop()
            try Self.expectMediaOnlyInCall(packets, gateway)
            let verdict = try await witness.stop(expecting: 0)
            let seen = try #require(verdict.firstMatch(of: #/2 calls \(2 with media\), (\d+) sockets and (\d+) packets seen: /#)?.output)
            #expect(Int(seen.1) == during.count && Int(seen.2) ?? 0 > 80 && verdict.contains(Witness.agreement), "\(verdict)")
            let journal = try await gateway.stop()
            #expect(Set(during).isSuperset(of: journal.all("media.opened").compactMap { $0.number("port").map(UInt16.init) }))
        }

        @Test func `a call that is not answered never has a socket or a packet`() async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: ["opus"])
            let capture = try await Capture.start(gateway.mediaRange, in: gateway.folder)
            let witness = try await Witness.start(beside: gateway)
            try await pair.ring()
            #expect(gateway.mediaSockets.isEmpty)
            try await witness.program.line(containing: "the first call was seen")
            pair.callee.hangUp()
            let closed = try await pair.caller.event("CALL_CLOSED")
            #expect(closed.parameter.contains("486"), "\(closed)")
            let verdict = try await witness.stop(expecting: 0)
            #expect(verdict.contains("2 calls (0 with media), 0 sockets and 0 packets seen: \(Witness.agreement)"), "\(verdict)")
            #expect(try await capture.stop().allSatisfy { !gateway.mediaRange.contains($0.source) })
            let journal = try await gateway.stop()
            #expect(journal.count("media.reserved") == 2 && journal.count("media.released") == 2 && journal.count("media.opened") == 0)
        }

        @Test(arguments: [false, true])
        func `a socket that no call has open is named, unless only those of the gateway count`(isCounted: Bool) async throws {
            let gateway = try await Gateway.start()
            let port = gateway.mediaRange.lowerBound + 6, witness = try await Witness.start(beside: gateway, isOfItsProcess: !isCounted)
            let socket = try UDPPeer(port: port)
            if isCounted { try await witness.program.line(containing: "call –  port \(port)  ") }
            let pair = try await Pair.start(at: gateway, codecs: ["opus"])
            try await pair.ring()
            try await witness.program.line(containing: "the first call was seen")
            pair.callee.hangUp()
            try await pair.caller.event("CALL_CLOSED")
            let verdict = try await witness.stop(expecting: isCounted ? 1 : 0)
            let words = isCounted ? "the kernel and the journal disagree: 1 time" : "\(Witness.agreement); 1 sockets of other processes"
            #expect(verdict.contains(words), "\(verdict)")
            withExtendedLifetime(socket) {}
            try await gateway.stop()
        }

        /// In the order of the wire: nothing leaves a media port before the caller's 200 and nothing after the gateway's BYE.
        private static func expectMediaOnlyInCall(_ packets: [Capture.Packet], _ gateway: Gateway) throws {
            let answered = try #require(packets.firstIndex { isSIP($0, from: gateway, "SIP/2.0 200", "INVITE") })
            let ended = try #require(packets.firstIndex { isSIP($0, from: gateway, "BYE ", "BYE") })
            let media = packets.indices.filter { gateway.mediaRange.contains(packets[$0].source) }
            #expect(media.count > 80, "the capture sees media at all")
            let early = media.filter { $0 < answered && packets[$0].source == answerPort(packets[answered]) }
            #expect(early.isEmpty, "\(early.count) packets to the caller before its 200")
            let accepted = try #require(
                packets.firstIndex {
                    $0.destination == gateway.sipPort && $0.sipLine?.hasPrefix("SIP/2.0 200") == true && $0.sipMethod == "INVITE"
                })
            #expect(media.allSatisfy { $0 > accepted }, "packets before anybody answered")
            #expect(media.allSatisfy { $0 < ended }, "\(media.count { $0 > ended }) packets after the BYE")
        }

        private static func isSIP(_ packet: Capture.Packet, from gateway: Gateway, _ line: String, _ method: String) -> Bool {
            packet.source == gateway.sipPort && packet.sipLine?.hasPrefix(line) == true && packet.sipMethod == method
        }

        /// The port of `m=audio` in a message.
        private static func answerPort(_ packet: Capture.Packet) -> UInt16? {
            String(decoding: packet.payload, as: UTF8.self).firstMatch(of: #/m=audio (\d+)/#).flatMap { UInt16($0.output.1) }
        }
    }
}
