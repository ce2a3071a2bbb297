import ArgumentParser
import CallApp
import Foundation

/// The beginning of a sample app: its arguments, and exit code 2 for those that make no sense, 3 where it cannot run.
public struct SampleCommand: ParsableCommand {
    /// Named as the app that it is in.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: CommandLine.arguments.first.map { URL(filePath: $0).lastPathComponent })
    }

    @OptionGroup public var options: SampleOptions

    public init() {}

    @MainActor public static func main(app name: String, _ start: (SampleRun) throws -> Never) {
        do { try start(SampleRun(options(), app: name)) } catch { complain("\(name): \(error)", 3) }
    }

    private static func options() -> SampleOptions {
        do { return try read(Array(CommandLine.arguments.dropFirst())) } catch {
            if exitCode(for: error).isSuccess { Self.exit(withError: error) }
            complain(message(for: error), 2)
        }
    }

    /// - Throws: what is wrong with the arguments, or the help that they ask for.
    static func read(_ arguments: [String]) throws -> SampleOptions {
        var command = try parseAsRoot(arguments)
        if let own = command as? SampleCommand { return own.options }
        try command.run()
        throw CleanExit.helpRequest(Self.self)
    }

    private static func complain(_ text: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Foundation.exit(code)
    }
}
