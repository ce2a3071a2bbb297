import Foundation
import Primitives
import Runtime
import Workbench

/// The way to one agent. Blocks; not for two threads at a time.
final class AgentLink: @unchecked Sendable {
    /// The name by which it was called.
    let name: String
    private let url: URL
    private let trust: TLSContexts?
    private let fields: [(name: String, value: String)]
    private let kept = KeptConnection()

    /// The longest wait for an agent, in seconds; and the longest answer in bytes.
    private static let timeout = 5.0, longest = 32 << 20

    init(_ name: String, _ url: URL, token: String?, trusting trust: TLSContexts?) {
        (self.name, self.url, self.trust) = (name, url, trust)
        fields = [("Content-Type", "application/json")] + (token.map { [("Authorization", "Bearer \($0)")] } ?? [])
    }

    /// - Throws: `HTTPPost.Failure` where the agent does not answer; a `Failure` in one line where it refuses.
    func order(_ order: AgentOrder) throws { _ = try ask("", order) }
    /// Throws as `order`, as all here.
    func start() throws { _ = try ask("/start", Nothing()) }
    func state() throws -> AgentState { try read(try ask("/state", Nothing())) }
    func calls(from first: Int) throws -> [CallFigures] { try read(try ask("/calls", AgentCallsWish(from: first))) }
    func endArrivals() throws { _ = try ask("/end", Nothing()) }
    func runAgain(_ step: Int) throws { _ = try ask("/again", AgentAgain(step: step)) }
    func stop() throws { _ = try ask("/stop", Nothing()) }
    func close() throws { _ = try ask("/close", Nothing()) }

    private struct Nothing: Encodable {}

    private func ask(_ path: String, _ content: some Encodable) throws -> Data {
        let post = HTTPPost(
            url.appending(path: "v1/load" + path), trusting: trust, timeout: Self.timeout, to: "agent \(name)", longest: Self.longest,
            fields: fields)
        let answer = try post.ask(try JSONEncoder().encode(content), keeping: kept)
        if (200..<300).contains(answer.status) { return answer.content }
        if [401, 429].contains(answer.status) {
            throw Failure.cannotRun("agent \(name) wants another token: --agent-token-file, or \(AgentToken.variable)")
        }
        guard let refusal = try? JSONDecoder().decode(AgentRefusal.self, from: answer.content) else {
            throw Failure.cannotRun("agent \(name) answers \(answer.status): is it a 'hookswitch agent'?")
        }
        throw Failure(
            message: "agent \(name): \(refusal.error)",
            exitCode: answer.status == 422 ? ExitStatus.usage.rawValue : ExitStatus.cannotRun.rawValue)
    }

    private func read<Value: Decodable>(_ content: Data) throws -> Value {
        do { return try JSONDecoder().decode(Value.self, from: content) } catch {
            throw Failure.cannotRun("agent \(name) answers what cannot be read")
        }
    }
}
