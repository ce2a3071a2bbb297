import Foundation
import Gateway
import Glibc
import Synchronization

/// Posts each push as JSON to one HTTP address, which knows how to reach the push services.
///
/// A 2xx is a push that was taken. Blocks only threads of its own, a few seconds at most; when too many wait, further ones fail at once.
final class WebhookPushSender: PushSender {
    private struct Body: Encodable { let provider, prid: String, param: String?, line, call, from: String, name: String? }

    private static let mostWaiting = 256
    private let address: URL
    private let timeout: TimeInterval
    private let queues = (0..<4).map { DispatchQueue(label: "push.\($0)") }
    private let state = Mutex((waiting: 0, next: 0))

    init(to address: URL, timeout: TimeInterval = 5) { (self.address, self.timeout) = (address, timeout) }

    func send(_ message: PushMessage, failed: @escaping @Sendable (String) -> Void) {
        let queue = state.withLock { state -> DispatchQueue? in
            guard state.waiting < Self.mostWaiting else { return nil }
            state.waiting += 1
            state.next = (state.next + 1) % queues.count
            return queues[state.next]
        }
        guard let queue else { return failed("too many pushes wait") }
        queue.async { [self] in
            defer { state.withLock { $0.waiting -= 1 } }
            do throws(HTTPPost.Failure) { try post(message) } catch { failed(error.description) }
        }
    }

    private func post(_ message: PushMessage) throws(HTTPPost.Failure) {
        let body = Body(
            provider: message.provider, prid: message.identifier, param: message.parameter, line: message.line, call: message.call.uuidString, from: message.caller,
            name: message.name)
        guard let json = try? JSONEncoder().encode(body) else { throw HTTPPost.Failure(description: "the push cannot be written as JSON") }
        let status = try HTTPPost(address, timeout: timeout).send(json)
        guard (200..<300).contains(status) else { throw HTTPPost.Failure(description: "the push service answered \(status)") }
    }
}

/// One POST over a connection of its own (RFC 9112). Blocks; not for a lane.
struct HTTPPost {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let address: URL
    private let timeout: TimeInterval

    init(_ address: URL, timeout: TimeInterval) { (self.address, self.timeout) = (address, timeout) }

    /// The status of the answer; its body is not read.
    func send(_ body: Data) throws(Failure) -> Int {
        let socket = try connect()
        defer { close(socket) }
        var request = Data(head(length: body.count).utf8)
        request.append(body)
        try write(request, to: socket)
        return try status(from: socket)
    }

    private func head(length: Int) -> String {
        let path = address.path(percentEncoded: true), query = address.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let host = (address.host(percentEncoded: true) ?? "") + (address.port.map { ":\($0)" } ?? "")
        return [
            "POST \(path.isEmpty ? "/" : path)\(query) HTTP/1.1", "Host: \(host)", "User-Agent: Hookswitch", "Content-Type: application/json",
            "Content-Length: \(length)", "Connection: close", "", "",
        ].joined(separator: "\r\n")
    }

    private func connect() throws(Failure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let host = (address.host(percentEncoded: false) ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard getaddrinfo(host, String(address.port ?? 80), &hints, &found) == 0, let found else { throw Failure(description: "the push service's name is unknown") }
        defer { freeaddrinfo(found) }
        for candidate in sequence(first: found, next: { $0.pointee.ai_next }) {
            let socket = socket(candidate.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { continue }
            limit(socket)
            if Glibc.connect(socket, candidate.pointee.ai_addr, candidate.pointee.ai_addrlen) == 0 { return socket }
            close(socket)
        }
        throw Failure(description: "the push service cannot be reached")
    }

    /// Of connecting, each write and each read.
    private func limit(_ socket: Int32) {
        var time = timeval(tv_sec: Int(timeout), tv_usec: Int((timeout - timeout.rounded(.down)) * 1e6))
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] { setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) }
    }

    private func write(_ data: Data, to socket: Int32) throws(Failure) {
        var rest = [UInt8](data)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(description: "the push service does not listen") }
            rest = rest.dropFirst(count)
        }
    }

    /// `HTTP/1.1 200 OK`: twelve bytes are enough.
    private func status(from socket: Int32) throws(Failure) -> Int {
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 512)
        while answer.count < 12 {
            let count = recv(socket, &piece, piece.count, 0)
            guard count > 0 else { throw Failure(description: "the push service does not answer") }
            answer += piece[..<count]
        }
        guard answer.starts(with: Array("HTTP/1.".utf8)), let status = Int(String(decoding: answer[9..<12], as: UTF8.self)) else {
            throw Failure(description: "the push service does not speak HTTP")
        }
        return status
    }
}
