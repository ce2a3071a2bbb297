import Foundation
import HookswitchClient
import Synchronization

/// Keeps the state of `hookswitch top` up to date: a snapshot, the events behind it, and a look at what they leave open.
final class TopFeed: Sendable {
    /// New calls that are asked for one by one; where there are more, all are.
    private static let mostSingle = 10
    /// The shortest time between two looks, and between two of all calls and lines.
    private static let pause = Duration.milliseconds(250), longPause = Duration.seconds(1)

    private let client: HookswitchClient
    private let state: Mutex<TopState>
    private let end = Mutex<(any Error)?>(nil)

    init(_ client: HookswitchClient, gateway: String) {
        self.client = client
        state = Mutex(TopState(gateway: gateway))
    }

    func frame(at now: Date = Date()) -> TopFrame { state.withLock { $0.frame(at: now) } }

    /// The error that ended it: the gateway does not want this reader.
    var failure: (any Error)? { end.withLock(\.self) }

    /// Takes all anew. Returns the position of the calls.
    @discardableResult func begin() async throws -> HookswitchClient.Position? {
        let server = try await client.server(), snapshot = try await client.snapshot(), lines = try await client.lines()
        state.withLock { $0.begin(server, snapshot, lines, at: Date()) }
        return snapshot.position
    }

    /// Follows the events, until its task is cancelled or the gateway does not want this reader any more.
    ///
    /// - Parameter position: of the snapshot that was taken.
    func run(after position: HookswitchClient.Position?) async {
        var position = position
        while !Task.isCancelled {
            do { try await follow(after: position) } catch let problem as HookswitchClient.Problem
                where (400..<429).contains(problem.status)
            {
                return end.withLock { $0 = problem }
            } catch { note(error) }
            // A new snapshot has all that was missed.
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.longPause)
                do {
                    position = try await begin()
                    break
                } catch { note(error) }
            }
        }
    }

    private func note(_ error: (any Error)?) { state.withLock { $0.note(trouble: error.map { "\($0)" }) } }

    private func follow(after position: HookswitchClient.Position?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for try await event in self.client.events(after: position, connection: { self.note($0) }) {
                    self.state.withLock { $0.note(event, at: Date()) }
                }
            }
            group.addTask { try await self.look() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Asks for what events leave open. Where the gateway is away, that waits.
    private func look() async throws {
        while true {
            try await Task.sleep(for: Self.pause)
            let (wanted, areLinesStale, isStale) = state.withLock { ($0.wanted, $0.areLinesStale, $0.isStale) }
            do {
                if isStale || wanted.count > Self.mostSingle {
                    try await begin()
                    try await Task.sleep(for: Self.longPause)
                    continue
                }
                for id in wanted {
                    let call = try await found(id)
                    state.withLock { $0.take(call, of: id) }
                }
                guard areLinesStale else { continue }
                let lines = try await client.lines()
                state.withLock { $0.take(lines) }
                try await Task.sleep(for: Self.longPause)
            } catch is HookswitchClient.ConnectionError {}
        }
    }

    private func found(_ id: UUID) async throws -> HookswitchClient.Call? {
        do { return try await client.call(id) } catch let problem as HookswitchClient.Problem where problem.status == 404 { return nil }
    }
}
