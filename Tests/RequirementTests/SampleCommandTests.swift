import ArgumentParser
import Foundation
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

    /// `swift run Hotline …` in the README, in the page about call code and in its tutorial, and options that stand alone.
    @Test func `what the pages show can be typed`() throws {
        let paths = ["../README.md", "../docs/tutorials/ios-call-code-in-ci.md", "Apps/CallApp/CallApp.docc/YourCallCodeOnLinux.md"]
        let pages = try paths.map(Sources.text).joined(separator: "\n")
        let lines = pages.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("swift run ") }
        #expect(lines.count == 6)
        for line in lines {
            #expect(throws: Never.self, "\(line)") { try SampleCommand.read(line.split(separator: " ").dropFirst(3).map(String.init)) }
        }
        let help = SampleCommand.helpMessage()
        for option in [
            "--answer-after", "--block", "--decline-after", "--do-not-disturb", "--ring-timeout", "--second", "--conference", "--waiting",
        ] {
            #expect(help.contains(option) && pages.contains(option), "\(option)")
        }
    }
}
