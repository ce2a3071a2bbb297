import Foundation
import HTTP

extension HookswitchClient {
    /// The events of the gateway, without a gap.
    ///
    /// The sequence connects again by itself, behind the event that came last, for as long as somebody reads it; the first connection must
    /// stand. It holds each event to be the one that follows. A reader that is slow is not waited for: the connection is cut, and taken up
    /// again where the reader is.
    ///
    /// - Parameters:
    ///   - position: that of a snapshot, or the `id` of the last event of an earlier stream; nil: from now on.
    ///   - types: as `["call.*", "violation"]`; empty: all.
    ///   - line: of this line; nil: of all.
    ///   - call: of this call; nil: of all.
    ///   - connection: called with nil when a connection stands, and with the reason when it ended or could not be made.
    /// - Throws: while it is read: ``EventsGone`` and ``EventGap``, after which a reader begins at a snapshot; ``Problem`` where the
    ///   gateway does not want this reader; `CancellationError`.
    public func events(
        after position: Position? = nil, types: [String] = [], line: String? = nil, call: UUID? = nil,
        connection: (@Sendable ((any Error)?) -> Void)? = nil
    ) -> Events {
        let query = [("types", types.isEmpty ? nil : types.joined(separator: ",")), ("line", line), ("call", call?.uuidString)]
        return Events(client: self, query: query, after: position, tell: connection ?? { _ in })
    }

    /// Events, one after the other. Each iterator has a connection of its own.
    public struct Events: AsyncSequence, Sendable {
        let client: HookswitchClient
        let query: [(String, String?)]
        let after: Position?
        let tell: @Sendable ((any Error)?) -> Void

        public func makeAsyncIterator() -> Iterator { Iterator(self) }
    }
}

extension HookswitchClient.Events {
    /// Reads, and connects again.
    public struct Iterator: AsyncIteratorProtocol {
        /// A connection without a word for so long is a dead one: the gateway says each 15 s that it is alive.
        static let silence = Duration.seconds(45)
        private static let shortestPause = Duration.milliseconds(50), longestPause = Duration.seconds(5)

        private let events: HookswitchClient.Events
        /// The event that came last, or the position that was begun at.
        private var last: HookswitchClient.Position?
        private var answer: WireAnswer?
        private var reader = EventStreamReader()
        /// Before the next connection: none where the last one brought something.
        private var pause = Duration.zero
        private var hasStood = false
        private var isOver = false

        init(_ events: HookswitchClient.Events) { (self.events, last) = (events, events.after) }

        /// The next event. nil only behind the error that ended the stream.
        public mutating func next() async throws -> HookswitchClient.Event? { try await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> HookswitchClient.Event? {
            guard !isOver else { return nil }
            do { return try await awaited() } catch {
                (isOver, answer) = (true, nil)
                throw error
            }
        }

        private mutating func awaited() async throws -> HookswitchClient.Event {
            while true {
                try Task.checkCancellation()
                do {
                    if answer == nil { try await connect() }
                    if let event = try await read() { return event }
                    events.tell(HookswitchClient.ConnectionError.hungUp(events.client.wire.name))
                } catch {
                    try Task.checkCancellation()
                    guard hasStood, Self.mayPass(error) else { throw error }
                    events.tell(error)
                }
                (answer, reader) = (nil, EventStreamReader())
                if pause > .zero { try await Task.sleep(for: pause) }
                pause = Swift.min(Swift.max(pause * 2, Self.shortestPause), Self.longestPause)
            }
        }

        /// Whether another try may do better.
        private static func mayPass(_ error: any Error) -> Bool {
            switch error {
            case is HookswitchClient.ConnectionError: true
            case let problem as HookswitchClient.Problem: problem.status == 429 || problem.status >= 500
            default: false
            }
        }

        private mutating func connect() async throws {
            let client = events.client
            // Without a position a cut before the first event would hide those that came meanwhile.
            if last == nil { last = try await client.server().position }
            let path = HookswitchClient.Request<HookswitchClient.Nothing>(.get, ["events"], query: events.query).path
            var request = WireRequest(method: .get, path: path, body: nil)
            request.lastEvent = last?.rawValue
            var answer = try await client.wire.open(request, timeout: client.timeout, silence: Self.silence)
            guard answer.status == 200 else {
                let problem = HookswitchClient.Problem(status: answer.status, try await answer.whole())
                throw problem.status == 410 ? HookswitchClient.EventsGone(oldest: problem.oldest) : problem
            }
            self.answer = answer
            hasStood = true
            events.tell(nil)
        }

        /// nil: the connection has ended.
        private mutating func read() async throws -> HookswitchClient.Event? {
            while true {
                while let output = reader.next() {
                    switch output {
                    case .event(let json): return try checked(HookswitchClient.Event(json))
                    // The gateway's word is for browsers: a pause of ours is shorter at first, and longer when it does not help.
                    case .retry: break
                    case .broken: throw HookswitchClient.ConnectionError.notHTTP(events.client.wire.name)
                    }
                }
                guard let content = try await answer?.next() else { return nil }
                reader.receive(content)
            }
        }

        private mutating func checked(_ event: HookswitchClient.Event) throws -> HookswitchClient.Event {
            if let last, event.prev != last { throw HookswitchClient.EventGap(expected: last, found: event.prev) }
            (last, pause) = (event.id, .zero)
            return event
        }
    }
}
