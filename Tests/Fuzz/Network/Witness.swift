import Dispatch
import Foundation
import Primitives
import Runtime
import SIP
import Synchronization

/// A call to the echo that nobody attacks, with 50 packets a second on a thread of its own: its sound must go on to the end.
final class Witness: Sendable {
    struct Report {
        var sent = 0, returned = 0
        /// The most packets in a row of which none came back before the next was sent.
        var longestGap = 0
        var byeStatus: Int?
        var isOver = false
    }

    private static let interval = Duration.milliseconds(20)
    /// A longer gap is a failure: three seconds. On a machine that does much else, packets wait for their turn.
    private static let longestGap = 150
    private let report = Mutex(Report())
    private let isStopping = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Sets the call up.
    init(server: SocketAddress) throws {
        var random = SeededRandom(seed: 0x57_17)
        let dialog = Dialog(
            from: "<sip:witness@fuzz.test>;tag=witness1", to: "<sip:9195@fuzz.test>", target: "sip:9195@fuzz.test", callID: "witness@call")
        let call = try Call(.tone, dialog: dialog, server: server, using: &random)
        call.send(call.draft("INVITE", ["Content-Type: application/sdp"], body: call.description.text).bytes)
        guard call.status(of: 1, by: MonotonicClock.now + .seconds(10)) == 200 else {
            throw Broken("the call of the witness is not answered")
        }
        // Made here and used there alone.
        nonisolated(unsafe) let handed = call
        Thread.detachNewThread { [self] in talk(handed) }
    }

    /// - Throws: `Broken` where its sound has stopped.
    func check() throws {
        let report = report.withLock(\.self)
        if report.longestGap > Self.longestGap { throw Broken("the witness heard none of \(report.longestGap) packets in a row") }
        if report.isOver, !isStopping.load(ordering: .relaxed) { throw Broken("the call of the witness was ended") }
    }

    /// Hangs up.
    func finish() throws -> Report {
        isStopping.store(true, ordering: .relaxed)
        hasEnded.wait()
        let result = report.withLock(\.self)
        guard result.byeStatus == 200 else {
            throw Broken("the BYE of the witness is answered with \(result.byeStatus.map(String.init) ?? "nothing")")
        }
        guard result.returned * 100 >= result.sent * 95 else {
            throw Broken("of \(result.sent) packets of the witness \(result.returned) came back")
        }
        return result
    }

    private func talk(_ call: Call) {
        var next = MonotonicClock.now, number: UInt32 = 0, gap = 0
        while !isStopping.load(ordering: .relaxed), call.isUp {
            number += 1
            call.media.send(Self.packet(number), to: call.remoteMedia)
            // A thread that was late does not send all at once what it has left out.
            next = max(next + Self.interval, MonotonicClock.now + Self.interval / 2)
            let returned = listen(call, until: next)
            gap = returned > 0 ? 0 : gap + 1
            report.withLock { ($0.sent, $0.returned, $0.longestGap) = ($0.sent + 1, $0.returned + returned, max($0.longestGap, gap)) }
            call.listen()
        }
        leave(call)
    }

    /// Packets of ours that came back.
    private func listen(_ call: Call, until deadline: Instant) -> Int {
        var returned = 0
        while let datagram = call.media.receive(by: deadline) {
            if datagram.bytes.count == 172, datagram.bytes.suffix(8).elementsEqual("witness!".utf8) { returned += 1 }
        }
        return returned
    }

    private func leave(_ call: Call) {
        let returned = listen(call, until: MonotonicClock.now + .milliseconds(500)), wasUp = call.isUp
        let request = call.draft("BYE")
        if wasUp { call.send(request.bytes) }
        let status = wasUp ? call.status(of: call.dialog.sequence, by: MonotonicClock.now + .seconds(5)) : nil
        report.withLock { ($0.returned, $0.byeStatus, $0.isOver) = ($0.returned + returned, status, true) }
        hasEnded.signal()
    }

    /// 20 ms of PCMU that nobody else would send.
    private static func packet(_ number: UInt32) -> [UInt8] {
        [0x80, 0] + MediaPackets.bytes(UInt64(number & 0xFFFF), 2) + MediaPackets.bytes(UInt64(number &* 160), 4) + [0x57, 0x17, 0, 1]
            + [UInt8](repeating: 0xD5, count: 152) + Array("witness!".utf8)
    }
}
