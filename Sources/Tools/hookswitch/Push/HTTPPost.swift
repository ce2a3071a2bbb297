import Foundation
import Glibc
import Runtime

/// One POST over a connection of its own (RFC 9112), in the clear or over TLS. Blocks; not for a lane.
struct HTTPPost {
    struct Failure: Error, CustomStringConvertible { let description: String }

    private let address: URL
    private let trust: TLSContexts?
    private let timeout: TimeInterval

    init(_ address: URL, trusting trust: TLSContexts? = nil, timeout: TimeInterval) {
        (self.address, self.trust, self.timeout) = (address, trust, timeout)
    }

    /// The status of the answer; its body is not read.
    func send(_ body: Data) throws(Failure) -> Int {
        var wire = BlockingWire(try connect())
        if let trust, address.scheme == "https" { try wire.secure(trust.connect(to: host, naming: .web)) }
        try wire.write(Array(head(length: body.count).utf8) + body)
        return try status(from: &wire)
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
            throw Failure(description: "the push service's name is unknown")
        }
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

    /// `HTTP/1.1 200 OK`: twelve bytes are enough.
    private func status(from wire: inout BlockingWire) throws(Failure) -> Int {
        var answer: [UInt8] = []
        while answer.count < 12 { answer += try wire.read() }
        guard answer.starts(with: Array("HTTP/1.".utf8)), let status = Int(String(decoding: answer[9..<12], as: UTF8.self)) else {
            throw Failure(description: "the push service does not speak HTTP")
        }
        return status
    }
}

/// A connected socket that is waited for, with or without TLS. Owns the socket.
private struct BlockingWire: ~Copyable {
    typealias Failure = HTTPPost.Failure

    private let socket: Int32
    private var session: TLSSession?
    /// Said together with the end of the handshake.
    private var early: [UInt8] = []

    init(_ socket: Int32) { self.socket = socket }

    deinit { close(socket) }

    /// The handshake.
    mutating func secure(_ session: consuming TLSSession) throws(Failure) {
        var session = session
        _ = session.start()
        try put(session.takeOutput())
        while !session.isEstablished {
            let outputs = session.receive(try get())
            try put(session.takeOutput())
            early += try Self.received(outputs)
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

    /// What comes next; never empty.
    mutating func read() throws(Failure) -> [UInt8] {
        guard var session = session.take() else { return try get() }
        var received = early
        early = []
        while received.isEmpty { received = try Self.received(session.receive(try get())) }
        self.session = consume session
        return received
    }

    private static func received(_ outputs: [TLSSession.Output]) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        for output in outputs {
            switch output {
            case .established: break
            case .received(let piece): bytes += piece
            case .peerHalfClosed: if bytes.isEmpty { throw Failure(description: "the push service does not answer") }
            case .failed(let error): throw Failure(description: "the push service: \(error)")
            }
        }
        return bytes
    }

    private func put(_ bytes: [UInt8]) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { throw Failure(description: "the push service does not listen") }
            rest = rest.dropFirst(count)
        }
    }

    private func get() throws(Failure) -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { throw Failure(description: "the push service does not answer") }
        return Array(piece[..<count])
    }
}
