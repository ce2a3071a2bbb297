import HTTP
import Primitives
import Runtime

/// One connection of an HTTP server: what it asks, and how far the answer is.
final class HTTPConnection {
    enum State {
        /// For a request, or the rest of one. Next: `handling`.
        case waiting
        /// A request waits for its answer. Next: `waiting`, `streaming`, `upgraded`, `finishing`.
        case handling
        /// The answer comes in pieces. Next: `finishing`.
        case streaming
        /// It is a WebSocket. Next: `finishing`.
        case upgraded
        /// The last byte is on its way. Nothing follows.
        case finishing
    }

    /// Facts of the request that is being answered.
    struct Exchange {
        /// nil: it was no request.
        var method: HTTPRequest.Method?
        var keepsAlive: Bool
        var isOld: Bool
        /// The client takes gzip.
        var takesGzip: Bool

        var isRead: Bool { method == .get || method == .head }
    }

    /// Bytes of answers that may wait for the client.
    static let mostUnsent = 64 << 20

    let id: UInt64
    let source: SocketAddress
    let isLocal: Bool
    /// TLS.
    let isSecure: Bool
    var wire: (any StreamConnection)?
    var reader: HTTPRequestReader
    var state = State.waiting
    /// By when it must have asked; nil while that is not its turn.
    var due: Instant?
    private(set) var exchange = Exchange(method: nil, keepsAlive: false, isOld: false, takesGzip: false)
    /// The client sends nothing more.
    var isHalfClosed = false
    /// Its requests are being worked off.
    var isServing = false
    /// The WebSocket that it has become.
    var socket: HTTPWebSocket?
    /// The file that is being sent, and when its next piece is due.
    var file: HTTPFile?, nextPiece: Instant?
    /// Told when the client of a stream or of a WebSocket goes.
    var ended: (() -> Void)?

    init(_ id: UInt64, from source: SocketAddress, isLocal: Bool, isSecure: Bool, _ limits: HTTPRequestReader.Limits) {
        (self.id, self.source, self.isLocal, self.isSecure) = (id, source, isLocal, isSecure)
        reader = HTTPRequestReader(limits: limits)
    }

    /// Nobody waits for anything of it.
    var isExpendable: Bool { state == .waiting || state == .finishing }

    var deadline: Instant? {
        [due ?? (state == .upgraded ? socket?.deadline : nil), wire?.deadline, nextPiece].compactMap(\.self).min()
    }

    /// - Parameter request: nil: it was none.
    func begin(_ request: IncomingRequest?) {
        exchange = Exchange(
            method: request?.head.method, keepsAlive: request?.keepsAlive ?? false, isOld: request?.isOld ?? false,
            takesGzip: AcceptedCodings.takesGzip(request?.head.headerFields[.acceptEncoding]))
        (state, due) = (.handling, nil)
    }

    /// It is over.
    func leave() {
        let told = ended
        ended = nil
        told?()
    }
}
