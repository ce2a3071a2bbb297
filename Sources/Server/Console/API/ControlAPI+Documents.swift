import Gateway
import HTTP

// The interface says what it is.
extension ControlAPI {
    func addDocuments(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/openapi.json") { [version] ask, responder in
            responder.reply(JSONBody.reply(.ok, OpenAPIDocument.json(version: version)), at: ask.now)
        }
        routes.on(.get, "/v1/asyncapi.json") { [version] ask, responder in
            responder.reply(JSONBody.reply(.ok, AsyncAPIDocument.json(version: version)), at: ask.now)
        }
    }
}
