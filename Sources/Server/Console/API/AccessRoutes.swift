import Foundation
import HTTP
import Primitives

/// The paths by which a browser gets in: tickets, logins, and the rights that it has.
struct AccessRoutes {
    struct Ticket: Encodable {
        var ticket: String, expires: String
    }

    struct LoginForm: Decodable {
        var token: String
    }

    struct Access: Encodable {
        var name: String?
        var scopes: [AccessScope]
        var lines: [String]?
        var expires: String?
    }

    let access: AccessControl

    func add(to routes: inout HTTPRoutes) {
        routes.on(.post, "/v1/tickets") { [access] ask, responder in
            let ends = access.date().addingTimeInterval(TimeInterval(access.tickets.lifetime.wholeMilliseconds / 1_000))
            let ticket = Ticket(ticket: access.issueTicket(ask), expires: Self.text(ends))
            responder.reply(JSONBody.reply(.created, ticket), at: ask.now)
        }
        routes.on(.post, "/v1/login") { [access] ask, responder in responder.reply(Self.logIn(ask, access), at: ask.now) }
        routes.on(.delete, "/v1/login") { [access] ask, responder in
            access.logOut(ask)
            responder.reply(Self.reply(nil, ask, access), at: ask.now)
        }
        routes.on(.get, "/v1/access") { ask, responder in
            let grant = ask.grant,
                body = Access(
                    name: grant.name, scopes: AccessScope.allCases.filter(grant.scopes.contains),
                    lines: grant.lines.map { $0.map(\.description).sorted() }, expires: grant.expires.map(Self.text))
            responder.reply(JSONBody.reply(.ok, body), at: ask.now)
        }
    }

    private static func logIn(_ ask: HTTPAsk, _ access: AccessControl) -> HTTPReply {
        do throws(Problem) {
            let form = try JSONBody.decode(LoginForm.self, ask.request.body, as: "Login")
            return access.logIn(with: form.token, ask).map { reply($0, ask, access) } ?? access.refuse(ask)
        } catch { return error.reply }
    }

    /// Sets the cookie, or takes it back.
    private static func reply(_ secret: String?, _ ask: HTTPAsk, _ access: AccessControl) -> HTTPReply {
        let cookie = LoginCookie.field(secret, lifetime: access.logins.lifetime, isSecure: ask.isSecure)
        return HTTPReply(.noContent, fields: [.setCookie: cookie, .cacheControl: "no-store"])
    }

    private static func text(_ date: Date) -> String {
        Timestamp(UInt64(max(0, date.timeIntervalSince1970) * 1_000) * 1_000_000).description
    }
}
