import Foundation
import Testing

extension Calls {
    /// The control interface as a program of somebody else's uses it: `Examples/control.py`, as it stands.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ControlExampleTests {
        private let example = Place.tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples/control.py")
            .path

        /// A gateway with the control interface on a port, and a port for a proxy before it.
        private static func start() async throws -> (gateway: Gateway, port: UInt16, proxy: UInt16) {
            let ports = try await Ports.take(2)
            var setup = Gateway.Setup()
            (setup.others, setup.settings) = (ports, ["api: { listen: [\"127.0.0.1:\(ports[0])\"] }"])
            return (try await Gateway.start(setup), ports[0], ports[1])
        }

        private static func telephone(_ line: Int, at gateway: Gateway) async throws -> Program {
            let words = "answer --register \(line) --password secret-\(line) --server \(gateway.address) --after 0"
            let phone = try Program(Place.hookswitch, words.split(separator: " ").map(String.init))
            try await phone.line(containing: "registered")
            return phone
        }

        @Test func `the example starts a call, is cut off, and misses no event of it`() async throws {
            let (gateway, port, proxyPort) = try await Self.start()
            let phones = [try await Self.telephone(1001, at: gateway), try await Self.telephone(1002, at: gateway)]
            let proxy = try Program("/usr/bin/python3", [Place.scenario("cutting-proxy.py"), "\(proxyPort)", "\(port)"])
            try await proxy.line(containing: "LISTENS")
            let program = try Program("/usr/bin/python3", [example, "1001", "1002", "127.0.0.1:\(proxyPort)"])
            try await program.line(containing: " call.connected ")
            let call = try #require(program.lines.all.first)
            proxy.signal(SIGUSR1)
            #expect(try await proxy.line(containing: "CUT") == "CUT 1")
            for command in [["hold"], ["hold", "--off"], ["mute"]] {
                let words = command + [call, "--server", "http://127.0.0.1:\(port)"]
                #expect(try await Program.run(Place.hookswitch, words).code == 0)
            }
            proxy.signal(SIGUSR2)
            try await program.line(containing: " call.muted ")
            #expect(try await Program.run(Place.hookswitch, ["hangup", call, "--server", "127.0.0.1:\(port)"]).code == 0)
            #expect(try await program.exitCode(within: .seconds(20)) == 0, "\(program.transcript)")
            for phone in phones { try await phone.stopped() }
            proxy.kill()
            let told = program.lines.all.dropFirst().map { $0.split(separator: " ").map(String.init) }
            let journal = try await gateway.stop()
            let types = told.map { $0[1] }, names = ["call.connected", "call.held", "call.resumed", "call.muted", "call.ended"]
            #expect(types.filter(names.contains) == names, "\(program.transcript)")
            #expect(Set(told.map { $0[2] }).count == told.count, "none comes twice")
            #expect(journal.count("perform.muted") == 1)
        }
    }
}
