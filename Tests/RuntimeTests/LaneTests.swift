import Dispatch
import Foundation
import Primitives
import Runtime
import Testing

extension RealTime {
    @Suite(.timeLimit(.minutes(30))) struct LaneTests {
        @Test func `posts run first in, first out, whoever posts`() async {
            let lane = Bench.lane()
            let inbox = Inbox(of: Int.self)
            for number in 0..<1_000 { lane.post { _, _ in inbox.put.yield(number) } }
            #expect(await inbox.next(1_000) == Array(0..<1_000))
        }

        @Test func `sync sees what was posted before it and brings an answer back`() {
            let lane = Bench.lane()
            lane.post { bench, now in bench.deadline = now + .seconds(1_000) }
            let isSet = lane.sync { bench, _ in bench.deadline != nil }
            #expect(isSet == true)
        }

        @Test func `sync passes a typed error through`() {
            struct Refusal: Error, Equatable { var code: Int }
            let lane = Bench.lane()
            #expect(throws: Refusal(code: 7)) { try lane.sync { _, _ throws(Refusal) in throw Refusal(code: 7) } }
        }

        @Test func `a resident that cannot be made is the error of the lane`() {
            struct Refusal: Error, Equatable {}
            #expect(throws: Refusal()) { try Lane<Bench>(label: "refused") { _, _ throws(Refusal) in throw Refusal() } }
        }

        @Test(arguments: [false, true]) func `the alarm advances the resident when its deadline has come`(hasPoller: Bool) async {
            let lane = Bench.lane(hasPoller: hasPoller)
            let inbox = Inbox(of: Duration.self)
            lane.post { bench, now in
                let due = now + .milliseconds(20)
                bench.onAdvance = { bench, now in
                    guard now >= due else { return }
                    bench.deadline = nil
                    inbox.put.yield(now - due)
                }
                bench.deadline = due
            }
            let late = await inbox.next()
            #expect(late ?? .seconds(-1) >= .zero)
        }

        @Test(arguments: [false, true]) func `the poller of a patient lane has the priority of nice 10`(isPatient: Bool) async {
            let usual = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            let lane = Bench.lane(hasPoller: true, isPatient: isPatient), inbox = Inbox(of: Int32.self)
            lane.post { bench, now in
                bench.onAdvance = { bench, _ in
                    bench.deadline = nil
                    inbox.put.yield(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0))
                }
                bench.deadline = now
            }
            #expect(await inbox.next() == (isPatient ? 10 : usual))
        }

        @Test(arguments: [false, true]) func `a deadline that comes nearer moves the alarm`(hasPoller: Bool) async {
            let lane = Bench.lane(hasPoller: hasPoller)
            let inbox = Inbox(of: String.self)
            lane.post { bench, now in
                bench.deadline = now + .seconds(3_000)
                bench.onAdvance = { bench, _ in
                    bench.deadline = nil
                    inbox.put.yield("advanced")
                }
            }
            lane.post { bench, now in bench.deadline = now + .milliseconds(1) }
            #expect(await inbox.next() == "advanced")
        }

        @Test(arguments: [false, true]) func `the resident's next deadline is armed after each advance`(hasPoller: Bool) async {
            let lane = Bench.lane(hasPoller: hasPoller)
            let inbox = Inbox(of: Int.self)
            lane.post { bench, now in
                var rounds = 0
                bench.deadline = now + .milliseconds(1)
                bench.onAdvance = { bench, now in
                    guard let due = bench.deadline, due <= now else { return }
                    rounds += 1
                    inbox.put.yield(rounds)
                    bench.deadline = rounds < 5 ? now + .milliseconds(2) : nil
                }
            }
            #expect(await inbox.next(5) == [1, 2, 3, 4, 5])
        }

        @Test(arguments: [false, true]) func `a deadline that does not move cannot spin the lane`(hasPoller: Bool) async {
            let lane = Bench.lane(hasPoller: hasPoller)
            let inbox = Inbox(of: Instant.self)
            lane.post { bench, _ in
                bench.deadline = .zero
                bench.onAdvance = { _, now in inbox.put.yield(now) }
            }
            let rings = await inbox.next(100)
            let other = Inbox(of: Int.self)
            lane.post { _, _ in other.put.yield(1) }
            #expect(await other.next() == 1)
            lane.close()
            #expect(zip(rings, rings.dropFirst()).allSatisfy { $1 - $0 >= .microseconds(100) })
        }

        @Test(arguments: [false, true]) func `a closed lane lets its resident go and ignores what comes`(hasPoller: Bool) async {
            let inbox = Inbox(of: String.self)
            let lane = Bench.lane(hasPoller: hasPoller)
            lane.post { bench, _ in bench.held["farewell"] = Farewell { inbox.put.yield("gone") } }
            lane.close()
            #expect(await inbox.next() == "gone")
            #expect(lane.sync { _, _ in 1 } == nil)
        }

        @Test func `a lane that nobody has any more ends its alarm's thread, closed or not`() async {
            for isClosed in [true, false] {
                var lane: Lane<Bench>? = Bench.lane("forsaken", hasPoller: true)
                #expect(await Self.comes { $0.contains("forsaken") })
                if isClosed { lane?.close() } else { lane = nil }
                #expect(await Self.comes { !$0.contains("forsaken") })
                withExtendedLifetime(lane) {}
            }
        }

        /// Whether the threads of this process become so, before the test's time is over.
        private static func comes(_ condition: ([String]) -> Bool) async -> Bool {
            while !Task.isCancelled {
                if condition(threads) { return true }
                await Task.yield()
            }
            return false
        }

        private static var threads: [String] {
            let folder = "/proc/self/task"
            return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap {
                (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
            }
        }

        private final class Farewell {
            private let say: () -> Void
            init(_ say: @escaping () -> Void) { self.say = say }
            deinit { say() }
        }

        @Test func `entering a lane from itself by sync traps`() async {
            await #expect(processExitsWith: .failure) {
                let lane = Bench.lane()
                lane.post { [lane] _, _ in _ = lane.sync { _, _ in 0 } }
                lane.queue.sync {}
            }
        }
    }
}
