import ArgumentParser
import Foundation
import HookswitchClient
import Testing

@testable import hookswitch

/// The options that name a gateway, and what a person is told where it is not reached.
@Suite struct ControlOptionsTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus")

    /// A command waits for its gateway on a thread of its own: those of the tests are few, and its work needs one.
    private static func failure(_ words: String) async throws -> Failure? {
        let typed = words.split(separator: " ").map { String($0).replacing("CORPUS", with: corpus.path) }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let failure = #expect(throws: Failure.self) {
                    var command = try Hookswitch.parseAsRoot(typed)
                    try command.run()
                }
                continuation.resume(returning: failure)
            }
        }
    }

    @Test(
        arguments: [
            (
                "status --server ftp://a", 2,
                "--server takes an address as http://127.0.0.1:8080 or https://gateway.example.net, got 'ftp://a'"
            ),
            (
                "status --server http://u@a", 2,
                "--server takes an address as http://127.0.0.1:8080 or https://gateway.example.net, got 'http://u@a'"
            ),
            ("status --server 127.0.0.1 --socket x", 2, "--server names the gateway already: leave --data and --socket out"),
            ("status --token-file x", 2, "--token-file goes with --server: the socket needs no token"),
            ("status --server 127.0.0.1 --token-file /nowhere", 2, "--token-file /nowhere: cannot be read"),
            ("status --authority x", 2, "--authority goes with --server https://…"),
            ("status --server http://127.0.0.1 --authority x", 2, "--authority goes with --server https://…, got 'http://127.0.0.1'"),
            ("status --server https://127.0.0.1 --authority /nowhere", 2, "--authority: '/nowhere' cannot be read"),
            (
                "status --server http://192.0.2.1 --token-file CORPUS/certificates/make", 2,
                "--token-file CORPUS/certificates/make: there is no token in it"
            ),
            ("hangup x", 2, "'x' is no UUID of a call: 'hookswitch calls' lists them"),
            ("hangup 0B000000-0000-4000-8000-000000000001 --within 500", 2, "--within takes seconds from 0.1 to 120, got 500"),
            (
                "status --socket /nowhere/s", 3,
                "nobody can be reached at /nowhere/s: No such file or directory: does the gateway run? (--data names its data folder, --socket the socket)"
            ),
            ("status --server http://127.0.0.1:1", 3, "nobody can be reached at 127.0.0.1:1: Connection refused"),
            ("top --once --server http://127.0.0.1:1", 3, "nobody can be reached at 127.0.0.1:1: Connection refused"),
            ("status --server https://nowhere.invalid", 3, "the name nowhere.invalid is unknown"),
        ] as [(String, Int32, String)]) func `a gateway that cannot be asked is one line`(words: String, code: Int32, message: String)
        async throws
    {
        let failure = try await Self.failure(words)
        #expect(
            failure?.exitCode == code && failure?.message == message.replacing("CORPUS", with: Self.corpus.path),
            "\(String(describing: failure))")
    }

    @Test func `a token is not shown in the clear to another machine`() async throws {
        let folder = try SoundFolder(), file = folder.path + "/token"
        try Data("hsw_x\n".utf8).write(to: URL(filePath: file))
        let failure = try await Self.failure("status --server http://192.0.2.1 --token-file \(file)")
        #expect(
            failure?.message
                == "--server: a token for 192.0.2.1:8080 would be readable by everybody on the way there: use https://"
                && failure?.exitCode == 2)
    }
}
