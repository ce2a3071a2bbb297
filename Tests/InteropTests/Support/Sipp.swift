import Foundation
import Testing

/// sipp with one of our scenarios.
final class Sipp: Sendable {
    enum Transport: String { case udp = "u1", tcp = "t1", tcpPerCall = "tn" }

    struct Plan {
        var scenario: String
        /// A scenario of this text; nil: the file of this name.
        var script: SippScript?
        /// Replaced in the scenario: `@NAME@`.
        var values: [String: String] = [:]
        var port: UInt16
        /// First of the ports for RTP; sipp takes two for each call.
        var mediaPort: UInt16
        /// The number that is called; nil: it waits for calls.
        var target: String?
        var calls = 1
        var rate = 1
        /// Milliseconds that a call lasts.
        var duration = 1_000
        var transport = Transport.udp
        var user = "tester"
        var password: String?
        var host = "127.0.0.1"
        /// Seconds until it gives up altogether.
        var limit = 50
    }

    let program: Program
    private let plan: Plan
    private let folder: String
    private let gateway: Gateway

    init(_ plan: Plan, to gateway: Gateway) throws {
        self.plan = plan
        self.gateway = gateway
        folder = try gateway.folder.folder("sipp-\(plan.port)-\(UUID().uuidString.prefix(4))")
        program = try Program("/usr/bin/sipp", try Self.arguments(plan, gateway, folder), in: folder, environment: ["TERM": "dumb"])
    }

    private static func arguments(_ plan: Plan, _ gateway: Gateway, _ folder: String) throws -> [String] {
        let host = plan.host.contains(":") ? "[\(plan.host)]" : plan.host
        var arguments = [
            "\(host):\(gateway.sipPort)", "-sf", try scenario(plan, folder), "-m", "\(plan.calls)", "-r", "\(plan.rate)", "-l",
            "\(plan.calls + 10)",
        ]
        arguments += [
            "-i", host, "-p", "\(plan.port)", "-mi", plan.host, "-mp", "\(plan.mediaPort)", "-ci", "127.0.0.1", "-cp", "\(plan.port + 1)",
        ]
        arguments += ["-d", "\(plan.duration)", "-t", plan.transport.rawValue, "-key", "user", plan.user, "-s", plan.target ?? plan.user]
        arguments += [
            "-nostdin", "-max_socket", "1000", "-trace_err", "-error_file", "errors.log", "-timeout", "\(plan.limit)s", "-timeout_error",
            "-f", "60",
        ]
        if let password = plan.password { arguments += ["-au", plan.user, "-ap", password] }
        return arguments
    }

    /// The scenario with its values, and what it plays, in sipp's folder.
    private static func scenario(_ plan: Plan, _ folder: String) throws -> String {
        var text = try plan.script?.xml ?? String(contentsOf: Place.scenarios.appending(path: plan.scenario + ".xml"), encoding: .utf8)
        for (name, value) in plan.values { text = text.replacing("@\(name)@", with: value) }
        if let missing = text.firstMatch(of: #/@[A-Z]+@/#) { throw Unmet("\(plan.scenario): no value for \(missing.output)") }
        try Data(Recordings.tonePCMA).write(to: URL(filePath: folder + "/tone.pcma"))
        let file = "\(folder)/scenario.xml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }

    /// Waits until its port is bound.
    func ready() async throws {
        try await eventually("sipp listens on \(plan.port)") {
            KernelSockets.udpPorts(of: program.pid).contains(plan.port) || KernelSockets.tcpPorts(of: program.pid).contains(plan.port)
        }
    }

    /// Waits for its end; every call must have gone as the scenario says.
    func succeeds(within limit: Duration = .seconds(60)) async throws {
        do {
            let code = try await program.exitCode(within: limit)
            if code != 0 { throw Unmet("sipp ended with \(code)") }
        } catch {
            throw Unmet(
                "\(plan.scenario): \(error) \(errors)\nThe gateway \(gateway.program.isRunning ? "runs" : "is dead").\(gateway.program.transcript)"
            )
        }
    }

    private var errors: String {
        let text = (try? String(contentsOfFile: folder + "/errors.log", encoding: .utf8)) ?? ""
        return text.isEmpty ? program.transcript : String(text.prefix(1_000))
    }

    /// Runs a scenario to its end.
    static func run(_ plan: Plan, to gateway: Gateway, within limit: Duration = .seconds(60)) async throws {
        let sipp = try Sipp(plan, to: gateway)
        defer { sipp.program.kill() }
        try await sipp.succeeds(within: limit)
    }
}
