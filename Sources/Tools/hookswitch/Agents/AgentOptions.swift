import ArgumentParser
import Foundation
import Runtime
import Workbench

/// Options of `hookswitch load` that name agents.
struct AgentOptions: ParsableArguments {
    /// The port of an agent where none is said.
    static let standardPort: UInt16 = 9467

    @Option(
        help: ArgumentHelp(
            "Other machines make the calls: 'hookswitch agent' at each, as 10.0.0.7,10.0.0.8:9467,https://load-3.example.net (default: this one).",
            valueName: "address,…"))
    var agents: String?

    @Option(
        help: ArgumentHelp("A file with the token of the agents (default: HOOKSWITCH_AGENT_TOKEN, else none is shown).", valueName: "file"))
    var agentTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "The authorities of certificates of https agents, PEM (default: those that the system trusts).", valueName: "file"))
    var agentCa: String?

    /// The agents by their addresses; nil: this process makes the calls.
    ///
    /// - Throws: a `Failure` in one line.
    func links() throws -> [AgentLink]? {
        guard let agents else {
            if agentTokenFile != nil { throw Failure.usage("--agent-token-file goes with --agents") }
            if agentCa != nil { throw Failure.usage("--agent-ca goes with --agents https://…") }
            return nil
        }
        let names = agents.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        let token = try AgentToken.read(agentTokenFile, option: "--agent-token-file"), most = LoadShare.mostAgents
        guard names.count <= most else { throw Failure.usage("--agents takes \(most) agents at most, got \(names.count)") }
        guard Set(names).count == names.count else { throw Failure.usage("--agents names one agent twice: '\(agents)'") }
        let urls = try names.map(Self.url), isSecure = urls.contains { $0.scheme == "https" }
        if agentCa != nil, !isSecure { throw Failure.usage("--agent-ca goes with --agents https://…, got '\(agents)'") }
        let trust = isSecure ? try Self.trust(agentCa) : nil
        return zip(names, urls).map { AgentLink($0, $1, token: token, trusting: trust) }
    }

    private static func trust(_ authorities: String?) throws -> TLSContexts {
        var settings = TLSSettings()
        settings.serverAuthorities = authorities
        do throws(TLSError) { return try TLSContexts(settings) } catch { throw Failure.usage("--agent-ca: \(error)") }
    }

    private static func url(_ name: String) throws -> URL {
        let text = name.contains("://") ? name : "http://\(name)"
        guard !name.isEmpty, var parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme),
            parts.host?.isEmpty == false,
            parts.user == nil, ["", "/"].contains(parts.path), parts.query == nil
        else { throw Failure.usage("--agents takes addresses as 10.0.0.7, 10.0.0.7:9467 or https://load-3.example.net, got '\(name)'") }
        parts.port = parts.port ?? Int(standardPort)
        parts.path = ""
        guard let url = parts.url else { throw Failure.usage("--agents: '\(name)' is no address") }
        return url
    }
}

/// The token that an agent and its orderer share.
enum AgentToken {
    static let variable = "HOOKSWITCH_AGENT_TOKEN"

    /// From the file, else from the environment; nil where neither has one.
    ///
    /// - Throws: a `Failure` in one line.
    static func read(_ path: String?, option: String) throws -> String? {
        if let path { return try ControlOptions.token(in: path, option: option) }
        guard let token = ProcessInfo.processInfo.environment[variable], !token.isEmpty else { return nil }
        return token
    }
}
