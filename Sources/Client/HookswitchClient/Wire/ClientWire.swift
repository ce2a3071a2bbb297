import Foundation
import HTTP
import Primitives
import Runtime

/// A request on its way out.
struct WireRequest: Sendable {
    var method: HTTPRequest.Method
    var path: String
    var body: Data?
    /// The event that a stream goes on behind.
    var lastEvent: String?

    /// Its bytes (RFC 9112 §3).
    func bytes(to host: String, prefix: String, token: String?) -> [UInt8] {
        var lines = ["\(method.rawValue) \(prefix)\(path) HTTP/1.1", "Host: \(host)", "User-Agent: Hookswitch", "Connection: close"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let lastEvent { lines.append("Last-Event-ID: \(lastEvent)") }
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.count)"] }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? Data())
    }
}

/// The way to one gateway: a lane, on which each request has a connection of its own.
final class ClientWire: Sendable {
    /// The most content of an answer that waits for its reader, in bytes.
    static let mostUnread = 64 << 20

    private let place: ClientPlace
    private let prefix: String
    private let token: String?
    private let lane: Lane<ClientHost>

    init(to place: ClientPlace, prefix: String, token: String?) {
        (self.place, self.prefix, self.token) = (place, prefix, token)
        lane = Lane(label: "client") { lane, _ throws(Never) in ClientHost(lane) }
    }

    /// The last reference may go on the lane.
    deinit {
        let lane = lane
        lane.queue.async { lane.leave() }
    }

    /// The gateway's, in errors.
    var name: String { place.name }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - timeout: until the head of the answer is there, and where `silence` is nil the whole answer.
    ///   - silence: an answer without an end: it is over when it says nothing for so long.
    /// - Returns: the answer, whose content is to come.
    func open(_ request: WireRequest, timeout: Duration, silence: Duration? = nil) async throws -> WireAnswer {
        let bytes = request.bytes(to: place.host, prefix: prefix, token: token)
        let end = MonotonicClock.now + timeout
        let addresses = try await addresses(within: timeout)
        let backlog = WireBacklog()
        let (news, tell) = AsyncStream<WireNews>.makeStream()
        let order = ClientOrder(
            place: place, addresses: addresses, method: request.method, bytes: bytes, end: end, silence: silence, backlog: backlog,
            tell: tell)
        lane.post { host, now in host.begin(order, at: now) }
        var answer = WireAnswer(news.makeAsyncIterator(), backlog, place.name)
        try await answer.readHead()
        return answer
    }

    private func addresses(within limit: Duration) async throws -> [SocketAddress] {
        guard case .server(let host, let port, _) = place else { return [] }
        let found = await HostAddresses.find(host, port: port, within: limit)
        try Task.checkCancellation()
        guard !found.isEmpty else { throw HookswitchClient.ConnectionError.unknownHost(host) }
        return found
    }
}

/// An answer as it comes.
struct WireAnswer {
    private(set) var status = 0
    private var news: AsyncStream<WireNews>.Iterator
    private let backlog: WireBacklog
    private let name: String

    init(_ news: AsyncStream<WireNews>.Iterator, _ backlog: WireBacklog, _ name: String) {
        (self.news, self.backlog, self.name) = (news, backlog, name)
    }

    mutating func readHead() async throws {
        guard case .head(let code) = try await take() else { throw HookswitchClient.ConnectionError.notHTTP(name) }
        status = code
    }

    /// The next content; nil: there is no more.
    mutating func next() async throws -> [UInt8]? {
        switch try await take() {
        case .content(let bytes):
            backlog.remove(bytes.count)
            return bytes
        default: return nil
        }
    }

    mutating func whole() async throws -> Data {
        var content = Data()
        while let piece = try await next() {
            content += piece
            guard content.count <= ClientWire.mostUnread else { throw HookswitchClient.ConnectionError.tooLong(name) }
        }
        return content
    }

    private mutating func take() async throws -> WireNews {
        // The stream ends by itself only where its task was cancelled.
        guard let next = await news.next(isolation: #isolation) else { throw CancellationError() }
        if case .failed(let error) = next { throw error }
        return next
    }
}
