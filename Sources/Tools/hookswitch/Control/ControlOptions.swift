import ArgumentParser
import Foundation
import HTTP
import Primitives

/// The options that name the gateway, for every command that steers one.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The gateway's data folder, with its control socket (default: HOOKSWITCH_DATA, else data).", valueName: "folder")
    )
    var data: String?
    @Option(help: ArgumentHelp("Its control socket (default: hookswitch.sock in the data folder).", valueName: "file")) var socket: String?
    @Option(
        help: ArgumentHelp("Its control interface over TCP, as http://127.0.0.1:8080 (default: the socket).", valueName: "address"))
    var server: String?

    @Option(
        help: ArgumentHelp(
            "A file with the token for --server (default: none is shown). A token on a command line could be read by others.",
            valueName: "file"))
    var tokenFile: String?

    func client() throws -> ControlClient {
        guard let server else {
            guard tokenFile == nil else { throw Failure.usage("--token-file goes with --server: the socket needs no token") }
            return ControlClient(place: .socket(path: socket ?? folder + "/hookswitch.sock"))
        }
        guard data == nil, socket == nil else { throw Failure.usage("--server names the gateway already: leave --data and --socket out") }
        let text = server.contains("://") ? server : "http://" + server
        guard let url = URL(string: text), url.scheme == "http", let host = url.host(percentEncoded: false), !host.isEmpty,
            let port = UInt16(exactly: url.port ?? 8_080), ["", "/"].contains(url.path)
        else { throw Failure.usage("--server takes an address as http://127.0.0.1:8080, got '\(server)'") }
        let place = ControlClient.Place.server(host: host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")), port: port)
        return ControlClient(place: place, token: try tokenFile.map(Self.token))
    }

    private static func token(in path: String) throws -> String {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Failure.usage("--token-file \(path): cannot be read")
        }
        let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Failure.usage("--token-file \(path): there is no token in it")
        }
        return token
    }

    private var folder: String { data ?? ProcessInfo.processInfo.environment["HOOKSWITCH_DATA"] ?? "data" }

    /// Asks, and refuses what is not a success.
    func ask(_ method: HTTPRequest.Method, _ path: String, _ body: [String: ControlValue]? = nil) throws -> Data {
        let answer = try client().ask(method, path, body)
        try Self.check(answer)
        return answer.content
    }

    /// - Throws: what the gateway said, with exit code 1; 2 where it did not understand what was typed.
    static func check(_ answer: ControlClient.Answer) throws {
        guard !(200..<300).contains(answer.status) else { return }
        let problem = try? JSONDecoder().decode(ProblemText.self, from: answer.content)
        let text = problem.map { "\($0.detail) (\($0.code))" } ?? "the gateway answered \(answer.status)"
        throw answer.status == 400 ? Failure.usage(text) : answer.status == 503 ? Failure.cannotRun(text) : Failure.bad(text)
    }

    private struct ProblemText: Decodable { var detail: String, code: String }

    static let exits: KeyValuePairs<ExitStatus, String> = [
        .good: "the gateway did it", .bad: "it refused, and one line says why", .cannotRun: "no gateway answers there",
    ]
}

/// A value of a request's JSON.
enum ControlValue: Encodable {
    case text(String)
    case flag(Bool)
    case number(Double)

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .flag(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        }
    }
}

extension String {
    /// As one segment of a path, or as a value of a query.
    var inPath: String {
        addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.intersection(CharacterSet(charactersIn: Unicode.Scalar(0)..."\u{7F}")).union(
                CharacterSet(charactersIn: "-._~")))
            ?? self
    }
}
