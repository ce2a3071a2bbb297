import Dispatch
import Glibc
import Primitives
import Synchronization
import Testing

@testable import Runtime

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct PollerTests {
        @Test func `without a socket or a timer the poller does not wake until it is called`() throws {
            let visits = Visits()
            let poller = try Poller()
            try poller.start(name: "test") {
                visits.record($0); return nil
            }
            for number in 1...5 {
                poller.wake()
                visits.wait(for: number)
            }
            #expect(visits.all == [[], [], [], [], []])
            poller.stop()
        }

        @Test func `a ready socket is reported under its token and a timer without one`() throws {
            let visits = Visits()
            let poller = try Poller()
            try poller.start(name: "test", batch: .immediate) { ready in
                visits.record(ready)
                return ready.isEmpty ? nil : MonotonicClock.now + .milliseconds(1)
            }
            let pair = try DatagramPair()
            try poller.watch(pair.near, token: 77)
            pair.send()
            visits.wait(for: 1)
            pair.receive()
            visits.wait(where: { $0.last == [] })
            #expect(visits.all.first == [77])
            poller.unwatch(pair.near)
            let before = visits.all.count
            pair.send()
            poller.wake()
            visits.wait(for: before + 1)
            #expect(visits.all.dropFirst(before).allSatisfy { !$0.contains(77) })
            poller.stop()
        }

        @Test func `automatic gathers above three thousand packets a second and ends below two thousand`() {
            var pacer = Pacer(.automatic)
            var now = Instant.zero + .seconds(1)
            func run(packets: Int, every step: Duration) -> Int {
                (0..<packets).reduce(0) { pauses, _ in
                    now += step
                    return pauses + (pacer.pause(after: 1, at: now) == nil ? 0 : 1)
                }
            }
            #expect(run(packets: 1_000, every: .microseconds(400)) == 0)
            #expect(run(packets: 1_000, every: .microseconds(250)) > 700)
            #expect(run(packets: 1_000, every: .microseconds(400)) == 1_000)
            #expect(run(packets: 1_000, every: .milliseconds(1)) < 100)
            #expect(pacer.pause(after: 0, at: now) == nil)
        }

        @Test func `a fixed time is kept after every batch with packets, and none when it is off`() {
            var fixed = Pacer(.every(.microseconds(500))), off = Pacer(.immediate)
            let now = Instant.zero + .seconds(1)
            #expect(fixed.pause(after: 1, at: now) == now + .microseconds(500))
            #expect(fixed.pause(after: 0, at: now) == nil)
            #expect(off.pause(after: 500, at: now) == nil)
        }
    }
}

/// What a poller reported, and a way to wait for it.
private final class Visits: Sendable {
    private let seen = Mutex<[[UInt64]]>([])
    private let bell = DispatchSemaphore(value: 0)

    var all: [[UInt64]] { seen.withLock { $0 } }

    func record(_ ready: UnsafeBufferPointer<Poller.Ready>) {
        let tokens = ready.map(\.token)
        seen.withLock { $0.append(tokens) }
        bell.signal()
    }

    func wait(for count: Int) { wait { $0.count >= count } }
    func wait(where done: ([[UInt64]]) -> Bool) { while !done(all) { bell.wait() } }
}

private struct DatagramPair {
    let near: Int32, far: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
        (near, far) = (ends[0], ends[1])
    }

    func send() { _ = Glibc.send(far, [1], 1, 0) }

    func receive() {
        var byte: UInt8 = 0
        _ = recv(near, &byte, 1, 0)
    }
}
