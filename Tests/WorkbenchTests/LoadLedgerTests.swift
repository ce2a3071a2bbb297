import Primitives
import Testing

@testable import Workbench

@Suite struct LoadLedgerTests {
    @Test func `a step that was not offered is known at once, whatever the judge still has to do`() throws {
        let ledger = try LoadLedger(judgesSteps: true)
        for (step, notBegun) in [0, 3, 5].enumerated() {
            let window = StepWindow(step: step, from: .seconds(2 * step), to: .seconds(2 * step + 2))
            ledger.hear(.step(StepReading(window: window, began: .zero, calls: [], notBegun: notBegun)), at: .zero)
        }
        #expect(ledger.read(\.stepsOver) == 3 && ledger.read(\.firstNotOffered) == 1)
        #expect(ledger.settle().steps.mapValues(\.notBegun) == [0: 0, 1: 3, 2: 5])
    }
}
