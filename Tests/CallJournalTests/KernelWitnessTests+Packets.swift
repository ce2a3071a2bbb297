import Primitives
import Testing

@testable import CallJournal

/// Packets that left, in virtual time.
extension KernelWitnessTests {
    @Test func `RTP while media runs and other packets while the port is open are agreed on`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.open()
        scene.sample(108, isRTP: false, leftAt: 102, 107)
        scene.start()
        scene.sample(300, leftAt: 110, 200, 299)
        scene.sample(320, port: 20_005, isRTP: false, leftAt: 310)
        scene.stop()
        scene.sample(498, isRTP: false, leftAt: 495)
        scene.close()
        scene.release()
        #expect(packets(scene.judge(2_000)).isEmpty)
        #expect(scene.witness.tally.packets == 7)
    }

    @Test(arguments: [true, false]) func `a packet before the answer is told of once, with the call, the port and its time`(isRTP: Bool) {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.sample(60, isRTP: isRTP, leftAt: 51)
        scene.sample(80, isRTP: isRTP, leftAt: 71)
        scene.open()
        #expect(
            scene.judge(2_000) == [
                KernelDisagreement(
                    call: Scene.alice, port: 20_004, wall: 51_000_000, journal: .reserved, kernel: .packet(isRTP: isRTP))
            ])
    }

    @Test func `RTP before media has started, and after it has stopped, is told of though the port is open`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.open()
        scene.sample(107, leftAt: 104)
        scene.start()
        scene.sample(200, leftAt: 150)
        scene.stop()
        scene.sample(498, leftAt: 495)
        let found = packets(scene.judge(2_000))
        #expect(found.map(\.journal) == [.idle(since: nil), .idle(since: 490_000_000)])
        #expect(found.map(\.wall) == [104_000_000, 495_000_000] && found.allSatisfy { $0.call == Scene.alice })
        #expect(found.first?.sentence == "RTP left; the journal: open, media not started")
    }

    @Test func `the last packet of many is judged, too: one behind the end is told of`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.open()
        scene.start()
        scene.end()
        scene.sample(600, leftAt: 450, 470, 560)
        #expect(packets(scene.judge(2_000)).map(\.journal) == [.closed(500_000_000)])
    }

    @Test func `a packet of no call is told of, and one of a call's port that comes back to use is told of again`() {
        var scene = Scene()
        scene.sample(5)
        scene.sample(30, port: 20_008, leftAt: 20)
        scene.reserve()
        scene.sample(60, leftAt: 51)
        scene.open()
        scene.start()
        scene.stop()
        scene.close()
        scene.sample(600, leftAt: 560)
        let found = packets(scene.judge(2_000))
        #expect(found.map(\.journal) == [.unused, .reserved, .closed(500_000_000)] && found[0].call == nil)
    }

    // MARK: Races

    @Test func `a packet that left while the step was being written down is no disagreement`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.open()
        scene.start()
        scene.stop(read: 530)
        scene.close(read: 530)
        // The clock of a packet may be wrong by a millisecond.
        scene.sample(540, leftAt: 109, 531)
        #expect(packets(scene.judge(2_000)).isEmpty)
        scene.sample(2_100, leftAt: 532)
        #expect(packets(scene.judge(4_000)).count == 1)
    }

    @Test func `a packet that is read late is held against the call of its time`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.open()
        scene.start()
        scene.end()
        scene.sample(600)
        #expect(packets(scene.judge(1_900)).isEmpty)
        scene.sample(1_950, leftAt: 480)
        #expect(packets(scene.judge(4_000)).isEmpty && scene.witness.tally.packets == 1)
    }

    @Test func `packets from before the first sample, and where events are missing, are not judged`() {
        var scene = Scene()
        scene.sample(30, leftAt: 20)
        scene.lose(5)
        scene.write(.journalLost, at: 40)
        scene.sample(60, leftAt: 50)
        #expect(packets(scene.judge(2_000)).isEmpty)
    }

    /// Without what is said of sockets.
    private func packets(_ found: [KernelDisagreement]) -> [KernelDisagreement] {
        found.filter { if case .packet = $0.kernel { true } else { false } }
    }
}
