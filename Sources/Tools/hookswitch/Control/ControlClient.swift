import Foundation
import HTTP
import Runtime

/// Asks a gateway that runs, over its control interface. Blocks: for commands.
struct ControlClient {
    /// The place of the interface.
    enum Place: Equatable {
        case socket(path: String)
        case server(host: String, port: UInt16)
    }

    struct Answer {
        var status: Int
        var content: Data
    }

    let place: Place
    /// Shown to a server over TCP; nil: none.
    var token: String?

    /// - Parameter body: JSON; nil: none.
    /// - Throws: `cannotRun` where nobody answers.
    func ask(_ method: HTTPRequest.Method, _ path: String, _ body: (some Encodable)?) throws -> Answer {
        var connection = try Connection(place), answer = Answer(status: 0, content: Data())
        try connection.send(method, path, token, try body.map { try JSONEncoder().encode($0) })
        var reader = HTTPResponseReader(to: method)
        try connection.read(&reader) { output in
            switch output {
            case .head(let head): answer.status = head.status.code
            case .content(let bytes): answer.content += bytes
            case .end, .broken: break
            }
            return true
        }
        return answer
    }

    /// Hands over the content of an answer as it comes, until it ends or `take` says that this is enough.
    /// - Returns: the answer, where it is not a good one.
    func stream(_ path: String, take: ([UInt8]) throws -> Bool) throws -> Answer? {
        var connection = try Connection(place), answer = Answer(status: 0, content: Data())
        try connection.send(.get, path, token, nil)
        var reader = HTTPResponseReader(to: .get)
        try connection.read(&reader) { output in
            switch output {
            case .head(let head): answer.status = head.status.code
            case .content(let bytes):
                guard answer.status == 200 else {
                    answer.content += bytes
                    return true
                }
                return try take(bytes)
            case .end, .broken: break
            }
            return true
        }
        return answer.status == 200 ? nil : answer
    }
}

extension ControlClient {
    private struct Connection: ~Copyable {
        private let socket: FileDescriptorOwner
        private let place: Place

        init(_ place: Place) throws {
            self.place = place
            switch place {
            case .socket(let path):
                do throws(SocketError) { socket = try FileDescriptorOwner.local(connecting: path) } catch {
                    throw Failure.cannotRun(
                        "\(error.description): does the gateway run? (--data names its data folder, --socket the socket)")
                }
            case .server(let host, let port): socket = try Self.connect(host, port)
            }
        }

        private static func connect(_ host: String, _ port: UInt16) throws -> FileDescriptorOwner {
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var found: UnsafeMutablePointer<addrinfo>?
            guard getaddrinfo(host, String(port), &hints, &found) == 0, let found else {
                throw Failure.cannotRun("--server: the name \(host) is unknown")
            }
            defer { freeaddrinfo(found) }
            for candidate in sequence(first: found, next: { $0.pointee.ai_next }) {
                let raw = Foundation.socket(candidate.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
                guard raw >= 0 else { continue }
                let owner = FileDescriptorOwner(raw)
                if Foundation.connect(raw, candidate.pointee.ai_addr, candidate.pointee.ai_addrlen) == 0 { return owner }
            }
            throw Failure.cannotRun("--server: nobody listens at \(host):\(port) (\(String(cString: strerror(errno))))")
        }

        mutating func send(_ method: HTTPRequest.Method, _ path: String, _ token: String?, _ body: Data?) throws {
            let host =
                switch place {
                case .socket: "localhost"
                case .server(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
                }
            var head = "\(method.rawValue) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
            if let token { head += "Authorization: Bearer \(token)\r\n" }
            if let body { head += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
            var rest = (Array((head + "\r\n").utf8) + (body ?? Data()))[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                guard count > 0 else { throw Failure.cannotRun("the gateway has hung up") }
                rest = rest.dropFirst(count)
            }
        }

        /// Until the answer is over, or `take` returns false.
        mutating func read(_ reader: inout HTTPResponseReader, _ take: (HTTPResponseReader.Output) throws -> Bool) throws {
            var piece = [UInt8](repeating: 0, count: 65_536)
            while true {
                while let output = reader.next() {
                    if output == .end { return }
                    guard output != .broken else { throw Failure.cannotRun("what answers there does not speak HTTP") }
                    guard try take(output) else { return }
                }
                let count = recv(socket.raw, &piece, piece.count, 0)
                if count < 0, errno == EINTR { continue }
                if count > 0 {
                    reader.receive(Array(piece[..<count]))
                } else {
                    guard reader.finish() == .end else { throw Failure.cannotRun("the gateway has hung up") }
                    return
                }
            }
        }
    }
}
