import Console
import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization
import Workbench

/// An agent: takes the order of a load from a tool on another machine, makes it, and tells how it goes. One load at a time.
///
/// Thread-safe. A load whose orderer asks no more is given up, so that no agent calls on behind everybody's back.
final class AgentDesk: Sendable {
    /// The commands, each a path of a POST.
    static let paths = [
        "/v1/load", "/v1/load/start", "/v1/load/state", "/v1/load/calls", "/v1/load/end", "/v1/load/again", "/v1/load/stop",
        "/v1/load/close",
    ]

    private let local: String?
    private let patience: Duration
    private let reporter: ProgressReporter
    private let isOnce: Bool
    private let job = Mutex<AgentJob?>(nil)
    /// Signalled when a load is over and closed, of an agent that makes one alone.
    let isDone = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - local: the address of this machine at which loads take SIP; nil: the one that faces the target.
    ///   - isOnce: the agent makes one load and ends.
    ///   - patience: the orderer may be silent for so long.
    init(local: String? = nil, isOnce: Bool = false, patience: Duration = .seconds(15), _ reporter: ProgressReporter) {
        (self.local, self.isOnce, self.patience, self.reporter) = (local, isOnce, patience, reporter)
    }

    /// Takes one command, on the server's lane.
    func answer(_ path: String, _ content: [UInt8]) -> HTTPReply {
        do {
            if path == "/v1/load" { return try take(content) }
            guard let job = job.withLock({ $0 }) else { return Self.refusal(.conflict, "there is no load") }
            job.noteAsked()
            return try answer(path, content, of: job)
        } catch let failure as Failure {
            return Self.refusal(.unprocessableContent, failure.message)
        } catch { return Self.refusal(.badRequest, "the command cannot be read") }
    }

    private func answer(_ path: String, _ content: [UInt8], of job: AgentJob) throws -> HTTPReply {
        switch path {
        case "/v1/load/start": job.load.go()
        case "/v1/load/state": return try Self.json(job.state)
        case "/v1/load/calls": return try Self.json(job.calls(from: try Self.read(AgentCallsWish.self, content).from))
        case "/v1/load/end": job.load.endArrivals()
        case "/v1/load/again": job.runAgain(try Self.read(AgentAgain.self, content).step)
        case "/v1/load/stop": job.load.stop()
        default: close(job)
        }
        return HTTPReply(.ok, text: "{}\n", type: "application/json")
    }

    private func take(_ content: [UInt8]) throws -> HTTPReply {
        let order = try Self.read(AgentOrder.self, content)
        guard order.version == Hookswitch.version else {
            return Self.refusal(.conflict, "it is version \(Hookswitch.version), and not \(order.version)")
        }
        if let present = job.withLock({ $0 }) {
            guard present.isForgotten else { return Self.refusal(.conflict, "it has a load of somebody else's") }
            present.load.stop()
            guard present.isOver else { return Self.refusal(.conflict, "it is ending a load that nobody asks about") }
        }
        let job = try AgentJob(order, local: local, patience: patience)
        self.job.withLock { $0 = job }
        reporter.say("load: \(order.share.index + 1) of \(order.share.count), \(job.target)")
        job.begin { [reporter] words in
            reporter.say(words)
        } whenOver: { [self, weak job] in
            if job?.isForgotten ?? true { isOver() }
        }
        return HTTPReply(.created, text: "{}\n", type: "application/json")
    }

    private func close(_ job: AgentJob) {
        job.load.stop()
        job.forget()
        guard job.isOver else { return }
        self.job.withLock { $0 = nil }
        isOver()
    }

    private func isOver() { if isOnce { isDone.signal() } }

    /// Hangs up what is up; the orderer still hears of the end.
    func stop() { job.withLock { $0 }?.load.stop() }

    // MARK: JSON

    private static func read<Value: Decodable>(_ type: Value.Type, _ content: [UInt8]) throws -> Value {
        try JSONDecoder().decode(type, from: Data(content))
    }

    private static func json(_ value: some Encodable) throws -> HTTPReply {
        HTTPReply(.ok, body: Array(try JSONEncoder().encode(value)), type: "application/json")
    }

    private static func refusal(_ status: HTTPResponse.Status, _ line: String) -> HTTPReply {
        (try? json(AgentRefusal(error: line))).map { HTTPReply(status, body: $0.body, type: "application/json") } ?? HTTPReply(status)
    }
}
