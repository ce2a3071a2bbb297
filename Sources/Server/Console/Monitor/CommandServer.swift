import Foundation
import HTTP
import Primitives
import Runtime

/// A server that takes commands of a program as POSTs of JSON, with one token for all of them.
///
/// Thread-safe, on a lane of its own, on which it answers. It answers for as long as it is kept.
public final class CommandServer: Sendable {
    private let lane: Lane<HTTPServer>
    /// The address at which it listens, with the port that the kernel chose.
    public let address: SocketAddress

    /// - Parameters:
    ///   - address: where it listens.
    ///   - tls: of its sessions; nil: it speaks in the clear.
    ///   - token: what a client has to show; nil lets in programs of this machine alone, and `address` is to be one of loopback.
    ///   - paths: those that there are.
    ///   - answer: to the content of a POST to a path; called on the server's lane.
    public init(
        listening address: SocketAddress, tls: TLSContexts? = nil, token: String?, _ paths: [String],
        answer: @escaping @Sendable (_ path: String, _ content: [UInt8]) -> HTTPReply
    ) throws(SocketError) {
        precondition(token != nil || address.address.isLoopback, "whoever is not of this machine shows a token")
        lane = try Lane(label: "commands") { lane, _ throws(SocketError) in
            let door = CommandDoor(token)
            return try HTTPServer(
                [tls == nil ? .tcp(address) : .tls(address)], tls: tls, routes: Self.routes(paths, answer), limits: Self.limits,
                isCompressing: false, admit: door.decide, on: lane)
        }
        self.address = lane.sync { server, _ in server.addresses[0] } ?? address
    }

    deinit { lane.close() }

    private static func routes(_ paths: [String], _ answer: @escaping (String, [UInt8]) -> HTTPReply) -> HTTPRoutes {
        var routes = HTTPRoutes()
        for path in paths {
            routes.on(.post, path) { ask, responder in
                var reply = answer(path, ask.request.body)
                reply.fields[.cacheControl] = "no-store"
                responder.reply(reply, at: ask.now)
            }
        }
        return routes
    }

    private static var limits: HTTPServer.Limits {
        var limits = HTTPServer.Limits()
        limits.connections = 16
        (limits.request.head, limits.request.body) = (8_192, 65_536)
        return limits
    }
}

/// Lets in whoever shows the token; where there is none, programs of this machine. Lane-confined.
private final class CommandDoor {
    private let digest: String?
    private var wrong = WrongTokens()

    init(_ token: String?) { digest = token.map { AccessToken.digest($0) } }

    func decide(_ ask: HTTPAsk) -> AccessControl.Decision {
        guard let digest else { return LoopbackRule.refusal(ask).map(AccessControl.Decision.refused) ?? .granted(.everything) }
        // Looked at by its digest: how long that takes tells nothing of the token.
        if let field = ask.request.head.headerFields[.authorization], field.lowercased().hasPrefix("bearer "), field.utf8.count < 512,
            AccessToken.digest(field.dropFirst(7).trimmingCharacters(in: .whitespaces)) == digest
        {
            return .granted(.everything)
        }
        guard let wait = wrong.note(ask.source.address, at: ask.now) else {
            return .refused(Problem(.unauthorized, "unauthorized", "this needs the token: Authorization: Bearer …").reply)
        }
        var reply = Problem(.tooManyRequests, "tooManyTokens", "too many wrong tokens from \(ask.source.address)").reply
        reply.fields[.retryAfter] = "\(max(1, wait.wholeMilliseconds / 1_000))"
        return .refused(reply)
    }
}
