import Testing
import Workbench

/// Expects that a report finds its target at fault, and that it blames the target where the machine kept up.
///
/// The tests beside this one take every core: packets of the tool itself may be late then, and the report has to say so in place of a blame.
/// `LoadReportTests` holds both verdicts to figures that no machine makes.
func expectFault(_ report: LoadReport, sourceLocation: SourceLocation = #_sourceLocation) {
    let verdict = report.verdict, isBlamed = report.validity.blamesTarget
    let word: LoadVerdict.Word = isBlamed ? .failed : .notMeasured
    #expect(verdict.word == word && report.exitCode == (isBlamed ? 1 : 3), "\(verdict), \(report.validity)", sourceLocation: sourceLocation)
    #expect(
        isBlamed || verdict.text.contains("perhaps by the tool") || report.slo.contains { $0.isToolsFault }, "\(verdict)",
        sourceLocation: sourceLocation)
}
