import Foundation
import HTTP

/// One of the gateways that a control interface answers for.
struct NodeBody: Encodable {
    var node: String
    /// Whether it has answered.
    var isUp: Bool
    /// Its own position.
    var position: String?
    /// The reason why its part is missing, in a few words.
    var error: String?
    /// In `/v1/server` alone, as that has them.
    var version: String?, run: String?, started: String?
    var calls: Int?, readers: Int?, isRunning: Bool?
}

/// The answers of several gateways to one read, as one: their lists with the name of the gateway in each entry, a position in the events of
/// all, and a list of the gateways, with why one is missing.
struct MergedReply {
    private let list: String?
    private var members: [String: Any]
    private var entries: [[String: Any]] = []
    private var nodes: [[String: Any]] = []
    private var position = MergedPosition()

    /// - Parameters:
    ///   - list: the member of the answers that is a list; nil: there is none, and each gateway's whole answer goes into the list of them.
    ///   - own: this gateway's, whose other members stay.
    init(_ list: String?, _ own: HTTPReply, of node: String) {
        (self.list, members) = (list, Self.members(of: own) ?? [:])
        take(members, of: node)
    }

    mutating func add(_ reply: Result<HTTPReply, NodeDesk.Failure>, of node: String) {
        switch reply {
        case .failure(let failure): nodes.append(["node": node, "isUp": false, "error": failure.words])
        case .success(let reply):
            guard reply.status == .ok, let members = Self.members(of: reply) else {
                return nodes.append(["node": node, "isUp": true, "error": "answers \(reply.status.code)"])
            }
            take(members, of: node)
        }
    }

    private mutating func take(_ members: [String: Any], of node: String) {
        var shown = list == nil ? members.filter { Self.ofServer.contains($0.key) } : [:]
        (shown["node"], shown["isUp"], shown["position"]) = (node, true, members["position"])
        nodes.append(shown)
        if let text = members["position"] as? String, let own = EventPosition(text) { position[node] = own }
        guard let list, let found = members[list] as? [[String: Any]] else { return }
        entries += found.map { $0.merging(["node": node]) { $1 } }
    }

    private static let ofServer: Set = ["version", "run", "started", "calls", "readers", "isRunning"]

    private static func members(of reply: HTTPReply) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(reply.body))) as? [String: Any]
    }

    var reply: HTTPReply {
        var body = members
        if let list {
            // The newest recordings first, and the oldest calls; what has no time stays by gateway.
            let sorted = entries.sorted { ($0["began"] as? String ?? "") < ($1["began"] as? String ?? "") }
            body[list] = list == "recordings" ? sorted.reversed() : sorted
        }
        body["nodes"] = nodes.sorted { ($0["node"] as? String ?? "") < ($1["node"] as? String ?? "") }
        if body["position"] != nil { body["position"] = position.description }
        let bytes = (try? JSONSerialization.data(withJSONObject: body, options: [.sortedKeys, .withoutEscapingSlashes])) ?? Data()
        return HTTPReply(.ok, body: Array(bytes), type: "application/json", fields: [.cacheControl: "no-store"])
    }
}
