import Foundation

/// A real program that a test runs: its lines as events, its exit, and its end by its pid.
///
/// The kernel ends it when the tests' process goes, however that happens.
final class Program: Sendable {
    let name: String
    let pid: Int32
    /// Lines of both outputs, in the order in which they came.
    let lines = EventLog<String>()
    private let exit = EventLog<Int32>()

    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: its words.
    ///   - folder: where it runs.
    ///   - environment: what is added to the tests' own.
    ///   - playsSound: whether it goes before others where processors are scarce, as sound does on a desktop; where that is permitted.
    init(
        _ path: String, _ arguments: [String], in folder: String? = nil, environment: [String: String] = [:], playsSound: Bool = false
    ) throws {
        name = URL(filePath: path).lastPathComponent
        var all = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("HOOKSWITCH_") }
        all["SWIFT_BACKTRACE"] = "enable=no"
        for (key, value) in environment { all[key] = value }
        let child = try Spawner.shared.spawn([path] + arguments, in: folder, environment: all)
        pid = child.pid
        if playsSound { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(pid), -10) }
        Thread.detachNewThread { [lines, exit] in
            Self.read(child.output, into: lines)
            exit.append(Self.wait(for: child.pid))
            exit.close()
        }
    }

    deinit { kill() }

    /// The first line from `start` on that contains `text`.
    @discardableResult
    func line(containing text: String, from start: Int = 0, within limit: Duration = .seconds(20)) async throws -> String {
        guard let line = await lines.first(from: start, within: limit, where: { $0.contains(text) }) else {
            throw Unmet("\(name) did not say '\(text)' within \(limit).\(transcript)")
        }
        return line
    }

    /// Its exit code; negative: the signal that ended it. All its lines are there then.
    @discardableResult
    func exitCode(within limit: Duration) async throws -> Int32 {
        guard let code = await exit.first(within: limit, where: { _ in true }) else {
            throw Unmet("\(name) did not end within \(limit).\(transcript)")
        }
        return code
    }

    /// SIGTERM, and exit 0.
    func stopped(within limit: Duration = .seconds(20)) async throws {
        signal(SIGTERM)
        let code = try await exitCode(within: limit)
        if code != 0 { throw Unmet("\(name) ended with \(code).\(transcript)") }
    }

    /// Not yet waited for, so that its pid is still its own.
    var isRunning: Bool { exit.end == 0 }

    func signal(_ number: Int32) {
        if isRunning { Foundation.kill(pid, number) }
    }

    func kill() { signal(SIGKILL) }

    /// What it said last, for a failure's text.
    var transcript: String {
        let said = lines.all.suffix(40)
        return said.isEmpty ? " It said nothing." : " It said:\n  " + said.joined(separator: "\n  ")
    }

    /// Runs to its end and gives what it said.
    static func run(_ path: String, _ arguments: [String], in folder: String? = nil, within limit: Duration = .seconds(30)) async throws
        -> (code: Int32, lines: [String])
    {
        let program = try Program(path, arguments, in: folder)
        defer { program.kill() }
        return (try await program.exitCode(within: limit), program.lines.all)
    }

    private static func read(_ pipe: Int32, into lines: EventLog<String>) {
        var rest: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = Foundation.read(pipe, &buffer, buffer.count), count > 0 || (count < 0 && errno == EINTR) {
            rest += buffer[..<max(count, 0)]
            var pieces = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = Array(pieces.removeLast())
            for piece in pieces { lines.append(String(decoding: piece, as: UTF8.self)) }
        }
        if !rest.isEmpty { lines.append(String(decoding: rest, as: UTF8.self)) }
        lines.close()
        close(pipe)
    }

    private static func wait(for pid: Int32) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }
}

/// Starts children from one thread that lives as long as the process: the kernel's "end with the parent" means the parent's thread.
private final class Spawner: Sendable {
    struct Child: Sendable {
        var pid: Int32
        var output: Int32
    }

    static let shared = Spawner()
    private let requests = EventLog<@Sendable () -> Void>()
    private let ready = DispatchSemaphore(value: 0)

    private init() {
        Thread.detachNewThread { [requests, ready] in
            var next = 0
            while true {
                ready.wait()
                requests.all[next]()
                next += 1
            }
        }
    }

    func spawn(_ words: [String], in folder: String?, environment: [String: String]) throws -> Child {
        let done = DispatchSemaphore(value: 0), result = EventLog<Result<Child, Unmet>>()
        requests.append {
            result.append(Result { () throws(Unmet) in try Self.spawn(words, folder, environment) })
            done.signal()
        }
        ready.signal()
        done.wait()
        return try result.all[0].get()
    }

    private static func spawn(_ words: [String], _ folder: String?, _ environment: [String: String]) throws(Unmet) -> Child {
        var pipes: [Int32] = [0, 0]
        guard pipe(&pipes) == 0 else { throw Unmet("no pipe") }
        for end in pipes { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(pipes[1]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
        posix_spawn_file_actions_adddup2(&actions, pipes[1], 2)
        // This thread's blocked and ignored signals are not the child's.
        var attributes = posix_spawnattr_t(), none = sigset_t(), all = sigset_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let place = folder.map { ["/usr/bin/env", "-C", $0] } ?? []
        let arguments = (["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + place + words).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in arguments + variables { free(word) } }
        var pid: Int32 = 0
        let error = posix_spawn(&pid, "/usr/bin/setpriv", &actions, &attributes, arguments, variables)
        guard error == 0 else { throw Unmet("\(words[0]) cannot be started: \(String(cString: strerror(error)))") }
        return Child(pid: pid, output: pipes[0])
    }
}
