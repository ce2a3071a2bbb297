import Gateway
import HTTP
import Primitives

/// A service of a line, as the interface lists it: a trunk, a queue, a mailbox.
protocol LineService: Sendable {
    /// The number of its line.
    var line: Text { get }
    var name: Text? { get }
}

extension TrunkSummary: LineService {}
extension QueueSummary: LineService {}
extension MailboxSummary: LineService {}

/// Lists of services.
struct LineServiceRoutes {
    unowned let api: ControlAPI

    /// `GET /v1/{plural}` has all services of a kind, `GET /v1/{plural}/{name}` one, by the number of its line or by its name. Services of
    /// lines that the token does not cover are not there.
    ///
    /// - Parameters:
    ///   - plural: nil: the kind with an s.
    ///   - read: asks the gateway for all of them, and does not wait.
    ///   - list: the answer with all.
    ///   - one: the answer with one.
    func add<Service: LineService>(
        _ kind: String, plural: String? = nil, to routes: inout HTTPRoutes,
        read: @escaping (any GatewayControl, @escaping @Sendable ([Service]) -> Void) -> Void,
        list: @escaping @Sendable ([Service]) -> HTTPReply, one: @escaping @Sendable (Service) -> HTTPReply
    ) {
        let path = "/v1/" + (plural ?? kind + "s")
        routes.on(.get, path) { ask, responder in replyLater(ask, responder, read, list) }
        routes.on(.get, path + "/{\(kind)}") { ask, responder in
            let name = Text(ask.parameters[kind] ?? "")
            replyLater(ask, responder, read) { services in
                services.first { $0.line == name || $0.name == name }.map(one) ?? Problem.notFound("there is no \(kind) \(name)").reply
            }
        }
    }

    private func replyLater<Service: LineService>(
        _ ask: HTTPAsk, _ responder: HTTPResponder, _ read: (any GatewayControl, @escaping @Sendable ([Service]) -> Void) -> Void,
        _ reply: @escaping @Sendable ([Service]) -> HTTPReply
    ) {
        api.answer(ask, responder) { () throws(Problem) in
            let later = api.park(responder), grant = ask.grant
            read(try api.running()) { services in
                later { responder, now in responder.reply(reply(services.filter { grant.covers($0.line) }), at: now) }
            }
            return nil
        }
    }
}
