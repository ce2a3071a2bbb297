import HTTP

/// The routes of a server: a table of methods and paths.
struct HTTPRoutes {
    /// One of them.
    struct Route {
        let method: HTTPRequest.Method
        /// `/v1/calls/{id}/answer`: what stands in braces matches one segment, and is named.
        let pattern: String
        fileprivate let segments: [String]
        fileprivate let handle: (HTTPAsk, HTTPResponder) -> Void
    }

    enum Match {
        case found(Route, parameters: [String: String])
        /// The path is there with these methods only.
        case otherMethods([HTTPRequest.Method])
        case none
    }

    private(set) var all: [Route] = []
    /// By the number of segments: a request looks at those only that can match.
    private var bySize: [Int: [Int]] = [:]

    init() {}

    /// - Parameter handle: called on the server's lane; it uses the responder once, there, at once or later.
    mutating func on(_ method: HTTPRequest.Method, _ pattern: String, _ handle: @escaping (HTTPAsk, HTTPResponder) -> Void) {
        let segments = pattern.split(separator: "/").map(String.init)
        bySize[segments.count, default: []].append(all.count)
        all.append(Route(method: method, pattern: pattern, segments: segments, handle: handle))
    }

    /// Replaces the work of each route.
    mutating func widen(_ widened: (Route) -> (HTTPAsk, HTTPResponder) -> Void) {
        for index in all.indices {
            let route = all[index]
            all[index] = Route(method: route.method, pattern: route.pattern, segments: route.segments, handle: widened(route))
        }
    }

    /// A GET route answers a HEAD, too.
    func match(_ request: IncomingRequest) -> Match {
        let path = request.target.segments, method = request.head.method == .head ? .get : request.head.method
        var others: [HTTPRequest.Method] = []
        for route in (bySize[path.count] ?? []).lazy.map({ all[$0] }) {
            guard let parameters = Self.parameters(of: route, path) else { continue }
            if route.method == method { return .found(route, parameters: parameters) }
            others.append(route.method)
        }
        return others.isEmpty ? .none : .otherMethods(others)
    }

    private static func parameters(of route: Route, _ path: [String]) -> [String: String]? {
        var parameters: [String: String] = [:]
        for (pattern, segment) in zip(route.segments, path) {
            if pattern.hasPrefix("{") {
                guard !segment.isEmpty else { return nil }
                parameters[String(pattern.dropFirst().dropLast())] = segment
            } else if pattern != segment {
                return nil
            }
        }
        return parameters
    }
}

extension HTTPRoutes.Route {
    func run(_ ask: HTTPAsk, _ responder: HTTPResponder) { handle(ask, responder) }
}
