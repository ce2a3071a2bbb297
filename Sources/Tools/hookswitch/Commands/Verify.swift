import ArgumentParser
import Foundation

struct Verify: ExplainedCommand {
    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "all of it agrees", .bad: "something contradicts, was changed, or the file is no bundle",
        .cannotRun: "the file cannot be read",
    ]

    static let configuration = CommandConfiguration(
        abstract: "Derive the verdict of a bundle of 'load --bundle' or 'calls --bundle' anew, from its contents alone.",
        discussion: """
            Needs no gateway and no network. It holds each file to its digest in the manifest; counts the report's calls anew, and derives its verdict \
            from its figures; audits the journal, and looks for the report's calls in it by their Call-IDs; and reads what the kernel's sockets were held \
            to. A bundle proves that its parts agree with each other. That nobody made all of them up, its SHA-256 proves, where it was told at once. \
            \(ExitStatus.sentence(exits))

            Examples:
              hookswitch verify run.tar
              hookswitch verify run.tar --json
            """)

    @Argument(help: "The bundle.") var file: String
    @Flag(help: "Print one JSON object.") var json = false

    func run() throws {
        let file = try file.named(by: "verify")
        guard let data = FileManager.default.contents(atPath: file) else { throw Failure.cannotRun("\(file): cannot be read") }
        let check: BundleCheck
        do { check = try BundleCheck(data) } catch let failure as Failure {
            throw Failure(message: "\(file): \(failure.message)", exitCode: failure.exitCode)
        }
        if json { try printJSON(check) } else { try StandardOutput.print(Self.text(check)) }
        if !check.agrees { throw ExitCode(.bad) }
    }

    static func text(_ check: BundleCheck) -> String {
        var lines: [String] = []
        for part in check.parts {
            lines.append(part.name.padding(toLength: 16, withPad: " ", startingAt: 0) + part.seen)
            lines += part.faults.map { "              ! \($0)" }
        }
        let count = check.parts.map(\.faults.count).reduce(0, +)
        let verdict = check.agrees ? "all of it agrees" : count == 1 ? "1 contradiction" : "\(count) contradictions"
        return (lines + ["sha256          \(check.sha256)", "verdict         \(verdict)"]).joined(separator: "\n")
    }
}
