import Media
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Workbench

/// A search for the highest rate: which step is run again, and where it ends.
@Suite struct KneeSearchTests {
    private static let level = ["failed<5%"].compactMap { try? ServiceLevel(parsing: $0) }[0]

    private func reading(_ step: Int, refused: Bool, calls: Int = 10, notBegun: Int = 0) -> (StepReading, [CallFigures]) {
        let begin = Duration.seconds(10 * step), window = StepWindow(step: step, from: begin, to: begin + .seconds(10))
        let figures = (1...calls).map { number in
            CallFigures(
                number: UInt32(100 * step + number), kind: .plain, step: step, began: begin.inSeconds + 1, callID: "",
                outcome: refused ? .failed : .good, status: refused ? 503 : 200, duration: refused ? nil : 100, retransmissions: 0,
                findings: refused ? [Finding(.refused, "503")] : [])
        }
        return (StepReading(window: window, began: .zero, calls: [], notBegun: notBegun), figures)
    }

    private func close(_ step: Int, refused: Bool, late: Duration = .zero, notBegun: Int = 0, _ state: inout LoadLedger.State) {
        let (reading, figures) = reading(step, refused: refused, notBegun: notBegun)
        for call in figures { state.judge.add(call, ended: reading.window.from + .seconds(2)) }
        state.close(reading)
        state.judge.close(reading)
        var lateness = Lateness()
        for _ in 0..<200 { lateness.note(late) }
        state.stepLateness[step] = lateness
    }

    private func knee(_ state: LoadLedger.State) throws -> LoadReport.Knee {
        var plan = LoadPlan()
        plan.arrivals = ArrivalPlan(from: 10, to: 50, by: 10, every: .seconds(10))
        let now = MachineReading.now, evidence = ValidityEvidence(before: now, after: now, elapsed: .seconds(9), mediaPorts: 4_000...4_999)
        let outcome = LiveLoad.Outcome(
            failure: nil, state: state, progress: LoadProgress(), elapsed: .seconds(9), evidence: evidence, leaks: LeakReport(leftovers: [])
        )
        let run = LoadReport.Run(command: "", target: "", transport: "udp", version: "", began: "", elapsed: 9, wasStopped: false, seed: 1)
        let report = try #require(outcome.report(run, plan: plan, slo: Self.level, findsKnee: true))
        return try #require(report.knee)
    }

    @Test func `a step that failed while the tool was late is run again, and what it showed is forgotten`() throws {
        var state = LoadLedger.State(), search = KneeSearch(Self.level)
        close(0, refused: false, &state)
        #expect(search.decide(state) == nil)
        close(1, refused: true, late: .milliseconds(8), &state)
        #expect(search.decide(state) == .again(1))
        state.forget(from: 1)
        #expect(state.steps.keys.sorted() == [0] && state.stepLateness[1] == nil && state.stepsOver == 1 && search.decide(state) == nil)
        close(1, refused: false, &state)
        #expect(search.decide(state) == nil && state.attempts[1] == 2)
        close(2, refused: true, &state)
        #expect(search.decide(state) == .end && search.decide(state) == nil)
        let knee = try knee(state)
        #expect(knee.lastKept == 20 && knee.firstBroken == 30 && !knee.isToolsOwn && knee.isKnown)
        #expect(LoadText.text(knee) == "20.0 calls a second passed; at 30.0 failed failed<5% (was 100)")
    }

    @Test func `it is not run again without end, and the knee has the doubt then`() throws {
        var state = LoadLedger.State(), search = KneeSearch(Self.level), attempts = 0
        close(0, refused: false, &state)
        repeat {
            if attempts > 0 { state.forget(from: 1) }
            close(1, refused: true, late: .milliseconds(8), &state)
            attempts += 1
        } while search.decide(state) == .again(1) && attempts < 10
        #expect(attempts == KneeSearch.mostAttempts)
        let knee = try knee(state)
        #expect(knee.isToolsOwn && !knee.isKnown && knee.lastKept == 10)
        #expect(LoadText.text(knee).hasSuffix("(in doubt: the tool was late itself then, in each of 3 attempts)"))
    }

    @Test func `a step that was not offered in full ends it`() throws {
        var state = LoadLedger.State(), search = KneeSearch(Self.level)
        close(0, refused: false, notBegun: 4, &state)
        #expect(search.decide(state) == .end)
        let knee = try knee(state)
        #expect(knee.firstNotOffered == 10 && knee.lastKept == nil && !knee.isKnown)
    }

    @Test func `a plan goes back to a step, whose calls are begun anew`() {
        let room = Room(), seat = room.seat("caller", 1, server: Room.address(2), codecs: [.pcmu])
        room.place(at: Room.address(2)) { request, _ in
            request.method == .ack ? nil : Message.response(to: request, status: 486, toTag: "x")
        }
        var plan = LoadPlan(), windows: [StepWindow] = [], begun: [Int] = []
        plan.target = URI(user: "callee", address: Room.address(2))
        plan.arrivals = ArrivalPlan(from: 2, to: 6, by: 2, every: .seconds(5))
        let client = LoadClient(phone: seat.phone, plan: plan)
        seat.client = client
        client.onEvent = { event, _ in
            if case .step(let reading) = event { windows.append(reading.window) }
            if case .call(let call) = event { begun.append(call.step) }
        }
        client.start(at: room.now)
        room.run(seconds: 11)
        #expect(client.runAgain(1, at: room.now))
        room.run(seconds: 30)
        #expect(windows.map(\.step) == [0, 1, 1, 2] && windows.prefix(3).map(\.to) == [5, 10, 16].map { .seconds($0) })
        #expect(
            (0...2).map { step in begun.count { $0 == step } } == [10, 40, 37],
            "twenty of the second step twice, and seven of the third that were let go")
        #expect(!client.runAgain(1, at: room.now), "it is over")
    }
}
