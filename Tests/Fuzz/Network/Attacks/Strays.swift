import Primitives
import SIP

/// Deals with what comes back to requests that nobody meant: ends calls, acknowledges refusals, and answers the server's requests.
struct Strays {
    let server: SocketAddress
    /// The nonce of the last challenge.
    private(set) var nonce = "0"

    init(server: SocketAddress) { self.server = server }

    /// Takes all that has come to a socket.
    /// - Throws: `Broken` for what is no SIP at all.
    mutating func drain(_ socket: DatagramSocket) throws {
        while let datagram = socket.receive() {
            if datagram.source == server { try take(datagram.bytes, socket) }
        }
    }

    private mutating func take(_ bytes: [UInt8], _ socket: DatagramSocket) throws {
        guard let message = try? Message(parsing: bytes) else { return try Self.judge(bytes) }
        guard let status = message.status else { return answer(message, socket) }
        if status == 401, let challenge = message.headers[.wwwAuthenticate] { note(challenge) }
        guard message.method == .invite, status >= 200 else { return }
        if status >= 300 { return socket.send(Reply.acknowledgement(ofRefusal: message), to: server) }
        for bytes in Reply.hangUp(message, from: socket.local) { socket.send(bytes, to: server) }
    }

    private func answer(_ request: Message, _ socket: DatagramSocket) {
        guard request.method != .ack else { return }
        socket.send(Reply.response(to: request, request.method == .invite ? 486 : 200, from: socket.local), to: server)
    }

    private mutating func note(_ challenge: Text) {
        let parts = "\(challenge)".split(separator: "\"")
        if let place = parts.firstIndex(where: { $0.hasSuffix("nonce=") }), place + 1 < parts.count { nonce = String(parts[place + 1]) }
    }

    /// An answer to what cannot be read may be so itself, but it looks like SIP. STUN and the CRLF of a ping are none.
    static func judge(_ bytes: [UInt8]) throws {
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        if line.isEmpty || line.starts(with: "SIP/2.0 ".utf8) || bytes[0] < 4 { return }
        throw Broken("the server sent what is no SIP message:\n\(InputLog.hexadecimal(bytes))")
    }
}
