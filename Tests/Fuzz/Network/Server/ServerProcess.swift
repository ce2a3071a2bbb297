import Foundation
import Primitives

/// `hookswitch serve` under attack, whose allocator overwrites what is freed.
final class ServerProcess {
    let addresses: GatewayAddresses
    private let process: Process
    private let hookswitch: String, folder: String
    private var log: String { folder + "/server.log" }

    /// Starts it, and waits until it is ready.
    init(_ options: Options) throws {
        (hookswitch, folder) = (options.hookswitch, options.work)
        addresses = GatewayAddresses(certificates: options.corpus + "/certificates")
        let file = folder + "/hookswitch.yaml"
        do {
            try FileManager.default.createDirectory(atPath: folder + "/data/mailbox", withIntermediateDirectories: true)
            try addresses.configuration(data: folder + "/data").write(toFile: file, atomically: true, encoding: .utf8)
        } catch { throw CannotRun("the folder \(folder) cannot be used: \(error.localizedDescription)") }
        process = try Self.start(hookswitch, ["serve", "--config", file], log: folder + "/server.log")
        try awaitReadiness()
    }

    private static func start(_ command: String, _ arguments: [String], log: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "KILL", "--", command] + arguments
        let more = ["MALLOC_PERTURB_": "165", "SWIFT_BACKTRACE": "enable=no"]
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HOOKSWITCH_") }.merging(more) { $1 }
        guard FileManager.default.createFile(atPath: log, contents: nil) else { throw CannotRun("\(log) cannot be written") }
        let output = FileHandle(forWritingAtPath: log)
        (process.standardOutput, process.standardError, process.standardInput) = (output, output, FileHandle.nullDevice)
        do { try process.run() } catch { throw CannotRun("\(command) cannot be started: \(error.localizedDescription)") }
        return process
    }

    private func awaitReadiness() throws {
        let deadline = Date(timeIntervalSinceNow: 30)
        while !transcript.contains("is ready") {
            guard process.isRunning, Date() < deadline else { throw CannotRun("the server does not start:\n\(transcript)") }
            usleep(20_000)
        }
    }

    /// The end of its output.
    var transcript: String { String((try? String(contentsOfFile: log, encoding: .utf8))?.suffix(4_000) ?? "") }

    /// - Throws: `Broken` where it does not live any more.
    func checkLife() throws { if !process.isRunning { throw Broken("the server has ended: \(ending)\n\(transcript)") } }

    private var ending: String { "\(process.terminationReason == .uncaughtSignal ? "signal" : "exit code") \(process.terminationStatus)" }

    var reading: ProcessReading { ProcessReading(process.processIdentifier) }

    /// SIGTERM, exit code 0, and no broken rule.
    func stop(within limit: TimeInterval = 60) throws {
        try checkLife()
        process.terminate()
        let deadline = Date(timeIntervalSinceNow: limit)
        while process.isRunning {
            guard Date() < deadline else { throw Broken("the server has not ended \(Int(limit)) s after SIGTERM\n\(transcript)") }
            usleep(20_000)
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Broken("the server ended with \(ending) after SIGTERM\n\(transcript)")
        }
    }

    /// - Throws: `Broken` where `hookswitch audit` finds something in the journal.
    func audit() throws -> String {
        let data = folder + "/data", names = (try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []
        let journals = names.filter { $0.hasPrefix("journal.jsonl") }.sorted().map { data + "/" + $0 }
        let process = try Self.start(hookswitch, ["audit"] + journals, log: folder + "/audit.log")
        process.waitUntilExit()
        let verdict = (try? String(contentsOfFile: folder + "/audit.log", encoding: .utf8)) ?? ""
        guard process.terminationStatus == 0 else { throw Broken("the audit of the journal: \(verdict.suffix(4_000))") }
        return verdict.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// Ends it at once, when something broke.
    func kill() { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }
}

/// Descriptors and memory of a process, as the kernel has them.
struct ProcessReading {
    var descriptors: Int
    /// kB of memory that is no file's.
    var memory: Int

    init(_ pid: Int32) {
        descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
        let status = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        memory = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
