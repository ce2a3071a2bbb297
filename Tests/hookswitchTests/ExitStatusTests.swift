import ArgumentParser
import Testing

@testable import hookswitch

@Suite struct ExitStatusTests {
    @Test func `the help of every command says what it ends with`() throws {
        for command in Hookswitch.configuration.subcommands {
            let explained = try #require(command as? any ExplainedCommand.Type, "\(command)")
            #expect(explained.exits.first?.key == .good, "\(command)")
            #expect(command.configuration.discussion.contains(ExitStatus.sentence(explained.exits)), "\(command)")
        }
    }

    @Test func `a sentence names each code with its meaning`() {
        #expect(
            ExitStatus.sentence([.good: "it is there", .cannotRun: "it is not known"]) == "Exit code 0: it is there; 3: it is not known.")
    }
}
