import Foundation
import Glibc
import HTTP
import Primitives
import Runtime

/// One POST (RFC 9112), in the clear or over TLS, over a connection of its own or one that is kept. Blocks; not for a lane.
struct HTTPPost {
    struct Failure: Error, CustomStringConvertible {
        enum Cause {
            case unreachable, timeout, broken
            /// The connection ended before an answer began.
            case unanswered
        }

        let description: String
        var cause = Cause.broken
    }

    /// An answer; its content where it is wanted.
    struct Answer {
        var status = 0
        var fields = HTTPFields()
        var content = Data()
    }

    private let address: URL
    private let trust: TLSContexts?
    private let timeout: TimeInterval
    /// In failures.
    private let name: String
    /// Beside those that every request has.
    private let fields: [(name: String, value: String)]

    /// - Parameters:
    ///   - address: with what it has of a user and a password.
    ///   - trust: whose certificates an `https` address may show; nil only for `http`.
    ///   - timeout: of connecting, each write and each read, in seconds.
    ///   - name: of the peer, for failures.
    ///   - longest: the longest content of an answer that is read, in bytes.
    ///   - fields: of the request, beside the usual ones.
    init(
        _ address: URL, trusting trust: TLSContexts? = nil, timeout: TimeInterval, to name: String = "the push service",
        longest: Int = 65_536, fields: [(name: String, value: String)] = [("Content-Type", "application/json")]
    ) {
        longestAnswer = longest
        (self.address, self.trust, self.timeout, self.name, self.fields) = (address, trust, timeout, name, fields)
    }

    /// The longest content of an answer that is read, in bytes.
    private let longestAnswer: Int

    /// The status of the answer; its content is not read.
    func send(_ body: Data) throws(Failure) -> Int {
        var wire = try connected()
        return try exchange(body, over: &wire) { _ in false }.answer.status
    }

    /// The whole answer.
    func ask(_ body: Data) throws(Failure) -> (status: Int, content: Data) {
        var wire = try connected()
        let answer = try exchange(body, over: &wire) { $0 <= longestAnswer }.answer
        return (answer.status, answer.content)
    }

    /// The whole answer, over the connection that is kept, or else a new one, which is kept where the peer lets it.
    func ask(_ body: Data, keeping kept: KeptConnection) throws(Failure) -> Answer {
        if let wire = kept.take(to: origin) {
            do throws(Failure) { return try ask(body, over: wire, kept) } catch {
                // The peer has ended it meanwhile, which is no failure of this request.
                guard error.cause == .unanswered else { throw error }
            }
        }
        return try ask(body, over: try connected(), kept)
    }

    private func ask(_ body: Data, over wire: consuming BlockingWire, _ kept: KeptConnection) throws(Failure) -> Answer {
        let (answer, isKept) = try exchange(body, over: &wire, keeps: true) { $0 <= longestAnswer }
        if isKept { kept.keep(wire, to: origin) }
        return answer
    }

    private var origin: String { "\(address.scheme ?? "")://\(host):\(address.port ?? 0)" }

    private func connected() throws(Failure) -> BlockingWire {
        var wire = BlockingWire(try connect(), to: name)
        if let trust, address.scheme == "https" { try wire.secure(trust.connect(to: host, naming: .web)) }
        return wire
    }

    /// - Parameter readsOn: whether so much content is wanted.
    /// - Returns: the answer, and whether the connection is good for another request.
    private func exchange(
        _ body: Data, over wire: inout BlockingWire, keeps: Bool = false, _ readsOn: (Int) -> Bool
    ) throws(Failure) -> (answer: Answer, isKept: Bool) {
        try wire.write(Array(head(length: body.count, keeps: keeps).utf8) + body)
        var reader = HTTPResponseReader(to: .post), answer = Answer()
        // One that sends a byte now and then must not hold us for ever.
        let end = MonotonicClock.now + .milliseconds(Int64(2_000 * timeout))
        while MonotonicClock.now < end {
            while let output = reader.next() {
                switch output {
                case .head(let head):
                    (answer.status, answer.fields) = (head.status.code, head.headerFields)
                    if !readsOn(0) { return (answer, false) }
                case .content(let bytes):
                    answer.content += bytes
                    guard readsOn(answer.content.count) else { throw Failure(description: "\(name) answers at too great a length") }
                case .end: return (answer, Self.keeps(answer))
                case .broken: throw Failure(description: "\(name) does not speak HTTP")
                }
            }
            guard let bytes = try wire.read() else {
                guard case .end = reader.finish() else {
                    guard answer.status == 0 else { throw Failure(description: "\(name) broke its answer off") }
                    throw Failure(description: "\(name) does not answer", cause: .unanswered)
                }
                return (answer, false)
            }
            reader.receive(bytes)
        }
        throw Failure(description: "\(name) takes too long to answer", cause: .timeout)
    }

    private static func keeps(_ answer: Answer) -> Bool {
        let hasLength = answer.fields[.contentLength] != nil || answer.fields[.transferEncoding] != nil || answer.status == 204
        return hasLength && answer.fields[.connection]?.lowercased() != "close"
    }

    private var host: String { (address.host(percentEncoded: false) ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }

    /// The request without its body of so many bytes. What the address has of a user and a password is said as RFC 7617 wants it.
    func head(length: Int, keeps: Bool = false) -> String {
        let path = address.path(percentEncoded: true), query = address.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let name = host.contains(":") ? "[\(host)]" : address.host(percentEncoded: true) ?? ""
        var lines = ["POST \(path.isEmpty ? "/" : path)\(query) HTTP/1.1", "Host: \(name)\(address.port.map { ":\($0)" } ?? "")"]
        if let credentials { lines.append("Authorization: Basic \(Data(credentials.utf8).base64EncodedString())") }
        lines += ["User-Agent: Hookswitch"] + fields.map { "\($0.name): \($0.value)" } + ["Content-Length: \(length)"]
        lines += (keeps ? [] : ["Connection: close"]) + ["", ""]
        return lines.joined(separator: "\r\n")
    }

    private var credentials: String? {
        let user = address.user(percentEncoded: false), password = address.password(percentEncoded: false)
        return user == nil && password == nil ? nil : "\(user ?? ""):\(password ?? "")"
    }

    private func connect() throws(Failure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(address.port ?? (address.scheme == "https" ? 443 : 80)), &hints, &found) == 0, let found else {
            throw Failure(description: "\(name): its host is unknown", cause: .unreachable)
        }
        defer { freeaddrinfo(found) }
        for candidate in sequence(first: found, next: { $0.pointee.ai_next }) {
            let socket = socket(candidate.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { continue }
            limit(socket)
            if Glibc.connect(socket, candidate.pointee.ai_addr, candidate.pointee.ai_addrlen) == 0 { return socket }
            close(socket)
        }
        throw Failure(description: "\(name) cannot be reached", cause: .unreachable)
    }

    /// Limits the time of connecting, of each write and of each read.
    private func limit(_ socket: Int32) {
        var time = timeval(tv_sec: Int(timeout), tv_usec: Int((timeout - timeout.rounded(.down)) * 1e6))
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] { setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) }
    }
}

/// A connection that waits for the next request to the same peer. Not for two threads at a time.
final class KeptConnection {
    /// Unused for longer, it is not used again.
    private static let longestIdle = Duration.seconds(30)
    private var wire: BlockingWire?
    private var origin = ""
    private var used = Instant.zero

    fileprivate func take(to origin: String) -> BlockingWire? {
        let taken = wire.take()
        guard origin == self.origin, MonotonicClock.now - used < Self.longestIdle else { return nil }
        guard let taken, taken.isUp else { return nil }
        return taken
    }

    fileprivate func keep(_ wire: consuming BlockingWire, to origin: String) {
        (self.origin, used) = (origin, MonotonicClock.now)
        self.wire = consume wire
    }
}

/// A connected socket that is waited for, with or without TLS. Owns the socket.
private struct BlockingWire: ~Copyable {
    typealias Failure = HTTPPost.Failure

    private let socket: Int32
    /// In failures.
    private let name: String
    private var session: TLSSession?
    /// Said together with the end of the handshake.
    private var early: [UInt8] = []

    init(_ socket: Int32, to name: String) { (self.socket, self.name) = (socket, name) }

    deinit { close(socket) }

    /// The handshake.
    mutating func secure(_ session: consuming TLSSession) throws(Failure) {
        var session = session
        _ = session.start()
        try put(session.takeOutput())
        while !session.isEstablished {
            guard let bytes = try get() else { throw Failure(description: "\(name) does not answer") }
            let outputs = session.receive(bytes)
            try put(session.takeOutput())
            early += try received(outputs)
        }
        self.session = consume session
    }

    mutating func write(_ bytes: [UInt8]) throws(Failure) {
        guard var session = session.take() else { return try put(bytes) }
        _ = session.send(bytes)
        let sealed = session.takeOutput()
        self.session = consume session
        try put(sealed)
    }

    /// Reads the next bytes; nil at the end.
    mutating func read() throws(Failure) -> [UInt8]? {
        guard var session = session.take() else { return try get() }
        var bytes = early
        early = []
        while bytes.isEmpty {
            guard let sealed = try get() else { return nil }
            bytes = try received(session.receive(sealed))
        }
        self.session = consume session
        return bytes
    }

    private func received(_ outputs: [TLSSession.Output]) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        for output in outputs {
            switch output {
            case .established: break
            case .received(let piece): bytes += piece
            case .peerHalfClosed: if bytes.isEmpty { throw Failure(description: "\(name) does not answer") }
            case .failed(let error): throw Failure(description: "\(name): \(error)")
            }
        }
        return bytes
    }

    private func put(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(description: "\(name) does not listen", cause: Self.cause) }
            rest = rest.dropFirst(count)
        }
    }

    /// Why a system call failed.
    private static var cause: Failure.Cause { errno == EAGAIN ? .timeout : .unanswered }

    /// Whether the peer has not ended it.
    var isUp: Bool {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count > 0 || count < 0 && errno == EAGAIN
    }

    /// nil at the end of the connection.
    private func get() throws(Failure) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = recv(socket, &piece, piece.count, 0)
        guard count >= 0 else { throw Failure(description: "\(name) does not answer", cause: Self.cause) }
        return count == 0 ? nil : Array(piece[..<count])
    }
}
