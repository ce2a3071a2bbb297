import CConsolePages
import HTTP
import Runtime

/// A file of the web console, as it stands in the program.
struct ConsolePage: Sendable {
    /// Its name in the folder `pages`.
    let name: String
    let content: [UInt8]
    /// A strong entity tag (RFC 9110 §8.8.3).
    let tag: String

    private init(_ page: console_page) {
        name = String(cString: page.name)
        content = Array(UnsafeBufferPointer(start: page.bytes, count: Int(page.size)))
        let digest = OpenSSLDigest.lowercaseHexadecimal(OpenSSLDigest.sha256(content))
        tag = "\"\(String(decoding: digest.prefix(16), as: UTF8.self))\""
    }

    /// By name.
    static let all: [ConsolePage] = (0...).lazy.map { console_page_at($0) }.prefix { $0 != nil }.compactMap { $0.map { .init($0.pointee) } }

    /// The whole of it, or 304 where the browser has it already.
    ///
    /// - Parameter sources: what else than its own server the page may connect to, each behind a blank.
    func reply(to request: IncomingRequest, connectingTo sources: String = "") -> HTTPReply {
        var fields = Self.fields
        (fields[.eTag], fields[.contentSecurityPolicy]) = (tag, Self.policy(connectingTo: sources))
        if let tags = request.head.headerFields[.ifNoneMatch], tags.contains(tag) { return HTTPReply(.notModified, fields: fields) }
        return HTTPReply(.ok, body: content, type: type, fields: fields)
    }

    private var type: String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    /// The page runs scripts of its own alone, asks its own server alone, and stands in no other page.
    private static func policy(connectingTo sources: String) -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
            + "connect-src 'self'\(sources); base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    private static let fields: HTTPFields = [.cacheControl: "no-cache", .xContentTypeOptions: "nosniff"]
}

/// The paths of the web console: the page at `/`, the telephone at `/phone`, and their parts.
enum ConsoleRoutes {
    static let folder = "console"
    private static let pages = ["index.html": "/", "phone.html": "/phone"]

    static func add(to routes: inout HTTPRoutes, _ phone: PhoneServer) {
        for page in ConsolePage.all {
            routes.on(.get, pages[page.name] ?? "/\(folder)/\(page.name)") { ask, responder in
                let sources = page.name == "phone.html" ? phone.sources(onHostOf: ask.request) : ""
                responder.reply(page.reply(to: ask.request, connectingTo: sources), at: ask.now)
            }
        }
        routes.on(.get, "/\(folder)/phone.json") { ask, responder in responder.reply(JSONBody.reply(.ok, phone), at: ask.now) }
    }

    /// Files without a secret, which whoever reaches the server may have: the page must be there before its login.
    static func isPage(_ request: IncomingRequest) -> Bool {
        let isRead = request.head.method == .get || request.head.method == .head
        let segments = request.target.segments
        return isRead && (segments.isEmpty || segments.first == folder || segments == ["phone"])
    }
}
