import ArgumentParser
import Dispatch
import Foundation
import HookswitchClient
import Synchronization

/// The options that name the gateway, for every command that steers one.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The gateway's data folder, with its control socket (default: HOOKSWITCH_DATA, else data).", valueName: "folder")
    )
    var data: String?
    @Option(help: ArgumentHelp("Its control socket (default: hookswitch.sock in the data folder).", valueName: "file")) var socket: String?
    @Option(
        help: ArgumentHelp(
            "Its control interface over TCP, as http://127.0.0.1:8080 or https://gateway.example.net (default: the socket).",
            valueName: "address"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token for --server (default: none is shown). A token on a command line could be read by others.",
            valueName: "file"))
    var tokenFile: String?
    @Option(
        help: ArgumentHelp(
            "The authorities of the server's certificate, PEM (default: those that the system trusts).", valueName: "file"))
    var authority: String?

    /// The gateway's place, for people.
    var place: String { server ?? socketPath }

    private var socketPath: String {
        socket ?? DataPlaces.folder(data) + "/hookswitch.sock"
    }

    func client() throws -> HookswitchClient {
        guard let server else {
            guard tokenFile == nil else { throw Failure.usage("--token-file goes with --server: the socket needs no token") }
            guard authority == nil else { throw Failure.usage("--authority goes with --server https://…") }
            return HookswitchClient(socket: socketPath)
        }
        guard data == nil, socket == nil else { throw Failure.usage("--server names the gateway already: leave --data and --socket out") }
        guard let url = Self.url(server) else {
            throw Failure.usage("--server takes an address as http://127.0.0.1:8080 or https://gateway.example.net, got '\(server)'")
        }
        if authority != nil, url.scheme != "https" { throw Failure.usage("--authority goes with --server https://…, got '\(server)'") }
        let token = try tokenFile.map { try Self.token(in: $0) }
        do throws(HookswitchClient.ConnectionError) {
            return try HookswitchClient(server: url, token: token, authorities: authority)
        } catch {
            switch error {
            case .authorities(let reason): throw Failure.usage("--authority: \(reason)")
            default: throw Failure.usage("--server: \(error)")
            }
        }
    }

    /// Without a scheme it is HTTP, and HTTP without a port is on 8080.
    private static func url(_ text: String) -> URL? {
        guard var parts = URLComponents(string: text.contains("://") ? text : "http://" + text), let host = parts.host, !host.isEmpty,
            ["http", "https"].contains(parts.scheme), parts.user == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        if parts.scheme == "http", parts.port == nil { parts.port = 8_080 }
        return parts.url
    }

    /// - Parameter option: the option that names the file.
    static func token(in path: String, option: String = "--token-file") throws -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure.usage("\(option) \(path): cannot be read")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure.usage("\(option) \(path): there is no token in it")
        }
        return token
    }

    // MARK: Asking

    /// Asks, and refuses what is not a success.
    func ask<Answer>(_ request: HookswitchClient.Request<Answer>) throws -> Answer { try wait { try await $0.send(request) } }

    /// The answer as it came.
    func content<Answer>(of request: HookswitchClient.Request<Answer>) throws -> String {
        String(decoding: try wait { try await $0.content(of: request) }, as: UTF8.self)
    }

    /// Prints the answer: as it came, or a line for each thing in it.
    func show<Answer>(_ request: HookswitchClient.Request<Answer>, isJSON: Bool, lines: (Answer) -> [String]) throws {
        if isJSON { return try StandardOutput.printExactly(content(of: request)) }
        for line in lines(try ask(request)) { try StandardOutput.print(line) }
    }

    /// Waits for work with a client, and tells in one line why it failed.
    func wait<Value: Sendable>(_ work: @escaping @Sendable (HookswitchClient) async throws -> Value) throws -> Value {
        let client = try client()
        do { return try Waiting.run { try await work(client) } } catch { throw failure(error) }
    }

    /// One line, with exit code 1 for what the gateway refused, 2 where it did not understand what was typed, and 3 where it was not
    /// reached.
    func failure(_ error: any Error) -> any Error {
        switch error {
        case let problem as HookswitchClient.Problem:
            switch problem.status {
            case 400: Failure.usage("\(problem)")
            case 401:
                Failure.bad(
                    tokenFile == nil
                        ? "\(place) needs a token: --token-file names a file with one (\(problem.code))"
                        : "\(place) does not know the token of --token-file, or it has ended (\(problem.code))")
            case 503: Failure.cannotRun("\(problem)")
            default: Failure.bad("\(problem)")
            }
        case let gone as HookswitchClient.EventsGone: Failure.bad("\(gone): begin without --after")
        case let gap as HookswitchClient.EventGap: Failure.bad("\(gap)")
        case HookswitchClient.ConnectionError.unreachable where server == nil:
            Failure.cannotRun("\(error): does the gateway run? (--data names its data folder, --socket the socket)")
        case HookswitchClient.ConnectionError.untrusted where authority == nil:
            Failure.cannotRun("\(error) (--authority names a file with its authority)")
        case let error as HookswitchClient.ConnectionError: Failure.cannotRun("\(error)")
        default: error
        }
    }

    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the gateway did it", .bad: "it refused, and one line says why", .cannotRun: "no gateway answers there",
    ]
}

/// Waits for asynchronous work: commands are synchronous.
enum Waiting {
    static func run<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let outcome = Mutex<Result<Value, any Error>?>(nil), done = DispatchSemaphore(value: 0)
        Task.detached {
            let result: Result<Value, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        guard let result = outcome.withLock(\.self) else { preconditionFailure("it is written before the signal") }
        return try result.get()
    }
}

extension UUID {
    /// The value of an argument.
    init(call text: String) throws {
        guard let uuid = UUID(uuidString: text) else {
            throw Failure.usage("'\(text)' is no UUID of a call: 'hookswitch calls' lists them")
        }
        self = uuid
    }
}

extension HookswitchClient.WaitLevel: ExpressibleByArgument {}
