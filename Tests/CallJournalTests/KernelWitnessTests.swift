import Primitives
import Testing

@testable import CallJournal

/// Journals and samples in virtual time, in milliseconds.
@Suite struct KernelWitnessTests {
    /// A journal that is read as it is written, and a kernel.
    struct Scene {
        static let alice = CallUUID(high: 0xA, low: 1), bob = CallUUID(high: 0xB, low: 2)
        var witness = KernelWitness(ports: 20_000...20_009)
        private var sequence: UInt64 = 0

        init(startsAt start: UInt64? = 0) {
            if let start { write(.gatewayStarted, at: start) }
        }

        private static func instant(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

        /// - Parameter read: when the witness reads it; nil: at once.
        mutating func write(_ kind: JournalEvent.Kind, _ call: CallUUID? = nil, port: Int64? = nil, at time: UInt64, read: UInt64? = nil) {
            sequence += 1
            var details: JournalEvent.Details = [:]
            details[.port] = port.map { .number($0) }
            let event = JournalEvent(
                sequence: sequence, time: Self.instant(time), wall: time * 1_000_000, call: call, kind: kind, details: details)
            witness.note(event, readAt: Self.instant(read ?? time))
        }

        mutating func lose(_ events: UInt64) { sequence += events }

        mutating func sample(_ begin: UInt64, to end: UInt64? = nil, _ ports: UInt16...) {
            let sockets = ports.map { KernelSample.Socket(port: $0, inode: UInt64($0) + 1) }
            let (begin, end) = (Self.instant(begin), Self.instant(end ?? begin + 1))
            witness.note(KernelSample(begin: begin, end: end, wall: begin.nanoseconds, sockets: sockets))
        }

        /// The same without sockets, with packets that left from a port at these times.
        mutating func sample(_ begin: UInt64, port: UInt16 = 20_004, isRTP: Bool = true, leftAt times: UInt64...) {
            let packets = KernelSample.Packets(
                port: port, isRTP: isRTP, first: Self.instant(times[0]), last: Self.instant(times[times.count - 1]), count: times.count)
            let begin = Self.instant(begin)
            witness.note(
                KernelSample(begin: begin, end: begin + .milliseconds(1), wall: begin.nanoseconds, sockets: [], packets: [packets]))
        }

        mutating func judge(_ now: UInt64) -> [KernelDisagreement] { witness.judge(readAt: Self.instant(now)) }

        /// A call whose media is open from 100 to 500, as the journal has it.
        mutating func reserve() { write(.mediaReserved, Self.alice, port: 20_004, at: 10) }
        mutating func open(read: UInt64? = nil) { write(.mediaOpened, Self.alice, port: 20_004, at: 100, read: read) }
        mutating func close(read: UInt64? = nil) { write(.mediaClosed, Self.alice, at: 500, read: read) }
        /// Media runs from 110 to 490.
        mutating func start() { write(.mediaStarted, Self.alice, at: 110) }
        mutating func stop(read: UInt64? = nil) { write(.mediaStopped, Self.alice, at: 490, read: read) }
        /// Media stops, and the port is closed and given back.
        mutating func end() {
            stop()
            close()
            release()
        }
        mutating func release() { write(.mediaReleased, Self.alice, port: 20_004, at: 501) }
    }

    @Test func `a call whose socket is there from its opening to its closing is agreed on`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.sample(50)
        scene.open()
        scene.sample(200, 20_004, 20_005)
        scene.sample(300, 20_004, 20_005)
        scene.close()
        scene.release()
        scene.sample(600)
        #expect(scene.judge(2_000).isEmpty)
        let tally = scene.witness.tally
        #expect(tally.samples == 5 && tally.calls == 1 && tally.callsWithMedia == 1 && tally.sockets == 2 && tally.unjudgedSockets == 0)
    }

    @Test func `a call that nobody answers is seen, and has no socket`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.sample(50)
        scene.release()
        #expect(scene.judge(2_000).isEmpty)
        #expect(scene.witness.tally.calls == 1 && scene.witness.tally.callsWithMedia == 0 && scene.witness.tally.sockets == 0)
    }

    // MARK: Disagreements

    @Test func `a socket before its call is answered is told of once, with the call, the port and the time`() {
        var scene = Scene()
        scene.reserve()
        scene.sample(50, 20_004)
        scene.sample(70, 20_004)
        scene.open()
        #expect(
            scene.judge(100) == [
                KernelDisagreement(call: Scene.alice, port: 20_004, wall: 50_000_000, journal: .reserved, kernel: .socket(20_005))
            ])
        scene.sample(200, 20_004)
        #expect(scene.judge(2_000).isEmpty)
    }

    @Test func `a socket that outlives its call is told of, that of RTCP too`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        scene.close(read: 530)
        scene.release()
        scene.sample(600, 20_004, 20_005)
        let found = scene.judge(1_601)
        #expect(found.map(\.port) == [20_004, 20_005] && found.allSatisfy { $0.call == Scene.alice && $0.journal == .closed(500_000_000) })
    }

    @Test func `a socket of no call is told of again when it comes back`() {
        var scene = Scene()
        for time: UInt64 in [10, 30] { scene.sample(time, 20_008) }
        scene.sample(50)
        scene.sample(70, 20_008)
        let found = scene.judge(2_000)
        #expect(found.map(\.wall) == [10_000_000, 70_000_000] && found.allSatisfy { $0.call == nil && $0.journal == .unused })
    }

    @Test func `media that is open without a socket is told of at the second sample`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        for time: UInt64 in [200, 220, 240] { scene.sample(time) }
        #expect(
            scene.judge(2_000) == [
                KernelDisagreement(call: Scene.alice, port: 20_004, wall: 220_000_000, journal: .open(100_000_000), kernel: .noSocket)
            ])
    }

    @Test func `a call that was over before its samples were judged is held against them all the same`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        for time: UInt64 in [200, 220] { scene.sample(time) }
        scene.close()
        #expect(scene.judge(500).map(\.journal) == [.open(100_000_000)])
    }

    @Test func `the odd port of another call is no RTCP of the one below it`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        scene.write(.mediaReserved, Scene.bob, port: 20_005, at: 150)
        scene.sample(200, 20_004, 20_005)
        #expect(scene.judge(2_000).map(\.call) == [Scene.bob])
    }

    // MARK: Races

    @Test func `what changes within a sample is no disagreement, nor what was not read yet`() {
        var scene = Scene()
        scene.reserve()
        // The turn of the opening began at 100: the socket came during the sample, or before it, and was told of later.
        scene.sample(95, to: 101, 20_004)
        scene.sample(120, 20_004)
        scene.sample(140)
        scene.sample(145)
        scene.open(read: 150)
        scene.sample(200, 20_004)
        // The turn of the closing began at 500.
        scene.sample(499, to: 505)
        scene.sample(506)
        scene.sample(510, 20_004)
        scene.close(read: 550)
        #expect(scene.judge(2_000).isEmpty && scene.witness.tally.samples == 8)
    }

    @Test func `one list without an open socket is no disagreement`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        scene.sample(200)
        scene.sample(220, 20_004)
        scene.sample(240)
        #expect(scene.judge(2_000).isEmpty)
    }

    @Test func `a sample waits for the journal: for a later event, or the time that one takes`() {
        var scene = Scene()
        scene.sample(50, 20_008)
        #expect(scene.judge(1_050).isEmpty && scene.witness.isWaiting)
        #expect(scene.judge(1_051).count == 1 && !scene.witness.isWaiting)
        scene.sample(1_100, 20_002)
        scene.write(.portFree, at: 1_102)
        #expect(scene.judge(1_103).count == 1)
    }

    // MARK: What the journal does not tell

    @Test func `without the beginning of the run a socket is judged once the journal has told of its port`() {
        var scene = Scene(startsAt: nil)
        scene.write(.portFree, at: 1)
        scene.sample(50, 20_002, 20_004)
        scene.write(.mediaReserved, Scene.alice, port: 20_004, at: 60)
        scene.sample(70, 20_002, 20_004)
        #expect(scene.judge(2_000).map(\.port) == [20_004])
        #expect(scene.witness.tally.unjudgedSockets == 1 && scene.witness.tally.gaps == 0)
    }

    @Test(arguments: [true, false]) func `where events are missing nothing is held against what was before`(isTold: Bool) {
        var scene = Scene()
        scene.reserve()
        scene.open()
        scene.sample(200, 20_002)
        scene.lose(5)
        scene.write(isTold ? .journalLost : .portFree, at: 300)
        scene.sample(310, 20_002)
        scene.sample(320)
        #expect(scene.judge(2_000).isEmpty && scene.witness.tally.gaps == 1)
    }

    @Test func `another run begins with nothing open, and the samples of the one before are not judged`() {
        var scene = Scene()
        scene.reserve()
        scene.open()
        for time: UInt64 in [200, 220] { scene.sample(time) }
        scene.write(.gatewayStarted, at: 300)
        for time: UInt64 in [310, 320] { scene.sample(time) }
        #expect(scene.judge(2_000).isEmpty && scene.witness.tally.samples == 2)
        scene.write(.gatewayStopped, at: 2_100)
        #expect(scene.witness.isOver)
    }

    @Test func `a port that another program has, as the journal says, is explained until it is free`() {
        var scene = Scene()
        scene.reserve()
        scene.write(.mediaRefused, Scene.alice, port: 20_004, at: 100)
        scene.sample(150, 20_004)
        scene.sample(170)
        scene.sample(190, 20_004)
        #expect(scene.judge(2_000).map(\.wall) == [190_000_000])
    }

    @Test func `a call between two samples is counted as missed, and a port outside of the range is noticed`() {
        var scene = Scene()
        scene.sample(5)
        scene.reserve()
        scene.release()
        scene.sample(600)
        #expect(scene.judge(2_000).isEmpty)
        #expect(scene.witness.tally.calls == 0 && scene.witness.tally.missedCalls == 1 && scene.witness.strayPort == nil)
        scene.write(.mediaReserved, Scene.bob, port: 30_000, at: 2_100)
        #expect(scene.witness.strayPort == 30_000)
    }
}
