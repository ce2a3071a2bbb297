import Foundation
import Glibc
import HTTP
import Primitives
import Runtime

/// One POST over a connection of its own (RFC 9112), in the clear or over TLS. Blocks; not for a lane.
struct HTTPPost {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let address: URL
    private let trust: TLSContexts?
    private let timeout: TimeInterval
    /// In failures.
    private let name: String

    /// - Parameters:
    ///   - address: with what it has of a user and a password.
    ///   - trust: whose certificates an `https` address may show; nil only for `http`.
    ///   - timeout: of connecting, each write and each read, in seconds.
    ///   - name: of the peer, for failures.
    init(_ address: URL, trusting trust: TLSContexts? = nil, timeout: TimeInterval, to name: String = "the push service") {
        (self.address, self.trust, self.timeout, self.name) = (address, trust, timeout, name)
    }

    /// The longest content of an answer that is read, in bytes.
    private static let longestAnswer = 65_536

    /// The status of the answer; its content is not read.
    func send(_ body: Data) throws(Failure) -> Int { try exchange(body) { _ in false }.status }

    /// The whole answer.
    func ask(_ body: Data) throws(Failure) -> (status: Int, content: Data) { try exchange(body) { $0 <= Self.longestAnswer } }

    /// - Parameter readsOn: whether so much content is wanted.
    private func exchange(_ body: Data, _ readsOn: (Int) -> Bool) throws(Failure) -> (status: Int, content: Data) {
        var wire = BlockingWire(try connect(), to: name)
        if let trust, address.scheme == "https" { try wire.secure(trust.connect(to: host, naming: .web)) }
        try wire.write(Array(head(length: body.count).utf8) + body)
        return try answer(from: &wire, readsOn)
    }

    private func answer(from wire: inout BlockingWire, _ readsOn: (Int) -> Bool) throws(Failure) -> (status: Int, content: Data) {
        var reader = HTTPResponseReader(to: .post), status = 0, content = Data()
        // One that sends a byte now and then must not hold us for ever.
        let end = MonotonicClock.now + .milliseconds(Int64(2_000 * timeout))
        while MonotonicClock.now < end {
            while let output = reader.next() {
                switch output {
                case .head(let head):
                    status = head.status.code
                    if !readsOn(0) { return (status, content) }
                case .content(let bytes):
                    content += bytes
                    guard readsOn(content.count) else { throw Failure(description: "\(name) answers at too great a length") }
                case .end: return (status, content)
                case .broken: throw Failure(description: "\(name) does not speak HTTP")
                }
            }
            guard let bytes = try wire.read() else {
                switch reader.finish() {
                case .end: return (status, content)
                default: throw Failure(description: status == 0 ? "\(name) does not answer" : "\(name) broke its answer off")
                }
            }
            reader.receive(bytes)
        }
        throw Failure(description: "\(name) takes too long to answer")
    }

    private var host: String { (address.host(percentEncoded: false) ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }

    /// The request without its body of so many bytes. What the address has of a user and a password is said as RFC 7617 wants it.
    func head(length: Int) -> String {
        let path = address.path(percentEncoded: true), query = address.query(percentEncoded: true).map { "?" + $0 } ?? ""
        let name = host.contains(":") ? "[\(host)]" : address.host(percentEncoded: true) ?? ""
        var lines = ["POST \(path.isEmpty ? "/" : path)\(query) HTTP/1.1", "Host: \(name)\(address.port.map { ":\($0)" } ?? "")"]
        if let credentials { lines.append("Authorization: Basic \(Data(credentials.utf8).base64EncodedString())") }
        lines += ["User-Agent: Hookswitch", "Content-Type: application/json", "Content-Length: \(length)", "Connection: close", "", ""]
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
            throw Failure(description: "\(name): its host is unknown")
        }
        defer { freeaddrinfo(found) }
        for candidate in sequence(first: found, next: { $0.pointee.ai_next }) {
            let socket = socket(candidate.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { continue }
            limit(socket)
            if Glibc.connect(socket, candidate.pointee.ai_addr, candidate.pointee.ai_addrlen) == 0 { return socket }
            close(socket)
        }
        throw Failure(description: "\(name) cannot be reached")
    }

    /// Limits the time of connecting, of each write and of each read.
    private func limit(_ socket: Int32) {
        var time = timeval(tv_sec: Int(timeout), tv_usec: Int((timeout - timeout.rounded(.down)) * 1e6))
        for option in [SO_SNDTIMEO, SO_RCVTIMEO] { setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) }
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
            guard count > 0 else { throw Failure(description: "\(name) does not listen") }
            rest = rest.dropFirst(count)
        }
    }

    /// nil at the end of the connection.
    private func get() throws(Failure) -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket, &piece, piece.count, 0)
        guard count >= 0 else { throw Failure(description: "\(name) does not answer") }
        return count == 0 ? nil : Array(piece[..<count])
    }
}
