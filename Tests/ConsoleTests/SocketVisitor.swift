import Foundation
import HTTP
import Primitives
import Runtime
import Testing

extension TLSSettings {
    /// The certificate that the tests' server shows, and the authority that its clients believe.
    static let corpus: TLSSettings = {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates")
        var settings = TLSSettings()
        settings.identities = [.init(certificate: folder.path + "/server.pem", key: folder.path + "/leaf.key")]
        settings.serverAuthorities = folder.path + "/ca.pem"
        return settings
    }()
}

/// A blocking client that opens a WebSocket, in the clear or over TLS.
final class SocketVisitor {
    private let visitor: Visitor
    private var tls: TLSSession?
    private let session = WebSocketSession(client: .init(), random: SystemRandomNumberGenerator())
    private var events: [WebSocketSession.Event] = []
    /// Decrypted, and not looked at yet.
    private var bytes: [UInt8] = []
    /// The status, the fields and, where it is no WebSocket, the content of the answer.
    private(set) var status = 0, answer = ""

    /// - Parameters:
    ///   - fields: further ones, each with its end of line.
    ///   - room: bytes that the kernel may take for us; nil: as many as it likes.
    init(to address: SocketAddress, _ path: String, _ fields: String = "", over contexts: TLSContexts? = nil, room: Int32? = nil) throws {
        visitor = try Visitor(to: address, room: room)
        if let contexts {
            tls = contexts.connect(to: "127.0.0.1", naming: .web)
            _ = tls?.start()
            while tls?.isEstablished == false {
                flush()
                let more = try #require(visitor.read())
                _ = tls?.receive(more)
            }
        }
        let key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        let opening = WebSocketOpening(key: key, subprotocols: ["hookswitch.events.v1"])
        let asked = opening.fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
        write(Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(asked)\(fields)\r\n".utf8))
        try readHead(opening)
    }

    private func readHead(_ opening: WebSocketOpening) throws {
        let end = Array("\r\n\r\n".utf8)
        while !bytes.contains(end) { try #require(readMore()) }
        let split = try #require(bytes.firstRange(of: end)).upperBound
        var reader = HTTPResponseReader(to: .get)
        reader.receive(Array(bytes[..<split]))
        guard case .head(let head) = reader.next() else { return }
        status = head.status.code
        answer = String(decoding: bytes, as: UTF8.self)
        guard status == 101 else { return }
        try #require(opening.isAccepted(head) { Data(OpenSSLDigest.hash(.sha1, $0)).base64EncodedString() })
        events = session.receive(Array(bytes[split...]))
        bytes = []
    }

    /// False at the end, and where nothing came.
    private func readMore() -> Bool {
        guard let more = visitor.read() else { return false }
        guard tls != nil else {
            bytes += more
            return true
        }
        for case .received(let plain) in tls?.receive(more) ?? [] { bytes += plain }
        return true
    }

    /// The next event; nil at the end, and where nothing came.
    func next() -> WebSocketSession.Event? {
        while events.isEmpty {
            guard readMore() else { return nil }
            events = session.receive(bytes)
            bytes = []
            write(session.takeOutput())
        }
        return events.removeFirst()
    }

    /// The next message, as text.
    func text() -> String? {
        while let event = next() { if case .text(let text) = event { return String(decoding: text, as: UTF8.self) } }
        return nil
    }

    func send(_ text: String) {
        session.send(text: Array(text.utf8))
        write(session.takeOutput())
    }

    func close() {
        session.close(.normal)
        write(session.takeOutput())
    }

    /// Bytes that need be no frame.
    func write(_ bytes: [UInt8]) {
        if tls == nil { return visitor.write(bytes) }
        _ = tls?.send(bytes)
        flush()
    }

    private func flush() { if let output = tls?.takeOutput() { visitor.write(output) } }
}
