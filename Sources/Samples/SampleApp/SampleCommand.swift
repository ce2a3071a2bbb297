import ArgumentParser
import CallApp
import Foundation

/// The beginning of a sample app: its arguments, and exit code 2 for those that make no sense, 3 where it cannot run.
public struct SampleCommand: ParsableCommand {
    @OptionGroup public var options: SampleOptions

    public init() {}

    @MainActor public static func main(app name: String, _ start: (SampleRun) throws -> Never) {
        let options = parsed().options
        do { try start(SampleRun(options, app: name)) } catch { complain("\(name): \(error)", 3) }
    }

    private static func parsed() -> SampleCommand {
        do {
            guard let command = try parseAsRoot() as? SampleCommand else { Foundation.exit(2) }
            return command
        } catch {
            let code = exitCode(for: error)
            if code.isSuccess { Self.exit(withError: error) }
            complain(message(for: error), 2)
        }
    }

    private static func complain(_ text: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        Foundation.exit(code)
    }
}
