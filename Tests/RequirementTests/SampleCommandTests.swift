import ArgumentParser
import Testing

@testable import SampleApp

/// The command line that the three apps share.
@Suite struct SampleCommandTests {
    @Test func `help is told, and is no mistake`() {
        let help = #expect(throws: (any Error).self) { try SampleCommand.read(["--help"]) }
        #expect(help.map { SampleCommand.exitCode(for: $0).isSuccess } == true)
        #expect(help.map { SampleCommand.fullMessage(for: $0).contains("--answer-after") } == true)
    }

    @Test(arguments: [["--anwser-after", "5"], ["--media-ports", "9-1"], ["--answer-after", "-1"]])
    func `a mistake is told`(arguments: [String]) {
        let mistake = #expect(throws: (any Error).self) { try SampleCommand.read(arguments) }
        #expect(mistake.map { SampleCommand.exitCode(for: $0).isSuccess } == false)
    }
}
