import Audio
import Foundation
import Testing

extension Talks {
    /// Hold and resume between two baresips, from either side, with a capture of all that passes.
    @Suite(.serialized, .furtherTriesForTornSound, .timeLimit(.minutes(30))) struct HoldTests {
        enum Side: String, CaseIterable { case caller, callee }

        @Test(arguments: Side.allCases)
        func `nothing is sent while held, and speech is back in both directions after it`(side: Side) async throws {
            let gateway = try await Gateway.start()
            let pair = try await Pair.start(at: gateway, codecs: ["pcmu"], repeating: true)
            let capture = try await Capture.start(gateway.mediaRange, in: gateway.folder)
            try await pair.connect()
            try await Self.waitForAudio(pair, capture, after: 0)
            let (holder, held) = side == .caller ? (pair.caller, pair.callee) : (pair.callee, pair.caller)

            let marks = (holder.control.events.end, held.control.events.end)
            holder.hold()
            try await holder.event("CALL_REMOTE_SDP", from: marks.0)
            try await held.event("CALL_REMOTE_SDP", from: marks.1)
            let sockets = gateway.mediaSockets
            try await Self.waitForSilence(gateway, capture)

            let resumed = try capture.read().count, mark = holder.control.events.end
            holder.resume()
            try await holder.event("CALL_REMOTE_SDP", from: mark)
            try await Self.waitForAudio(pair, capture, after: resumed)
            #expect(gateway.mediaSockets == sockets, "a hold neither opens nor closes a socket")

            pair.callee.hangUp()
            try await gateway.waitForNoMediaSocket()
            let packets = Array(try await capture.stop().dropFirst(resumed))
            try pair.expectSpeech(in: packets)
            let journal = try await gateway.stop()
            journal.expectNothingLeft()
            #expect(journal.count("media.opened") == 2)
            #expect(journal.all("remote.hold").compactMap { $0.number("on") } == [1, 0])
        }

        /// Until each has been sent two seconds.
        private static func waitForAudio(_ pair: Pair, _ capture: Capture, after start: Int) async throws {
            try await eventually("audio flows to both", within: .seconds(20)) {
                let packets = try capture.read().dropFirst(start)
                return [pair.caller, pair.callee].allSatisfy { client in
                    packets.count { $0.isRTP && client.mediaPorts.contains($0.destination) } > 100
                }
            }
        }

        /// Until a whole second passed in which the gateway sent no RTP. The held far end goes on sending, so the capture's clock goes on.
        private static func waitForSilence(_ gateway: Gateway, _ capture: Capture) async throws {
            try await eventually("the gateway is silent", within: .seconds(20)) {
                let sent = try capture.read().last { $0.isRTP && gateway.mediaRange.contains($0.source) }
                return sent.map { Date().timeIntervalSince1970 - $0.time > 1 } ?? false
            }
        }
    }
}
