import CallKit
import Foundation
import Gateway
import HTTP
import Primitives
import UserAgent

/// A trunk as `/v1/trunks` shows it.
struct TrunkBody: Encodable {
    struct Server: Encodable {
        var name: String, address: String, transport: String
        var isDown: Bool
    }

    /// The number of its line.
    var line: String, name: String?
    /// `up`, `down` where no server answers or a wanted registration is missing, `unresolved` where no server was found.
    var state: String
    var registration: TrunkSummary.Registration
    var registrationStatus: Int?
    var isWatched: Bool, isHeld: Bool, node: String?
    var servers: [Server]
    var calls: Int, maximumCalls: Int

    init(_ trunk: TrunkSummary) {
        (line, name) = (trunk.line.description, trunk.name?.description)
        (calls, maximumCalls) = (trunk.calls, trunk.maximumCalls)
        (registration, registrationStatus, isWatched) = (trunk.registration, trunk.registrationStatus, trunk.isWatched)
        (isHeld, node) = (trunk.isHeld, trunk.node?.description)
        servers = trunk.servers.map {
            Server(
                name: $0.name.description, address: "\($0.address)", transport: $0.transport.text.description.lowercased(),
                isDown: $0.isDown)
        }
        let isReachable = trunk.servers.contains { !$0.isDown } && trunk.registration != .unregistered
        state = trunk.servers.isEmpty ? "unresolved" : isReachable ? "up" : "down"
    }

    static let states = ["up", "down", "unresolved"]
}

extension TrunkSummary.Registration: Encodable {}

/// A call directory as `/v1/directories` shows it.
struct DirectoryBody: Encodable {
    var name: String
    var blocked: Int, identified: Int
    var loaded: String?, failure: String?

    init(_ directory: DirectorySummary) {
        (name, blocked, identified) = (directory.name, directory.blocked, directory.identified)
        loaded = directory.loaded.map { Timestamp(UInt64(max(0, $0.timeIntervalSince1970) * 1e9)).description }
        failure = directory.failure
    }
}

// Trunks and call directories.
struct TrunkRoutes {
    struct Trunks: Encodable { var trunks: [TrunkBody] }
    struct Directories: Encodable { var directories: [DirectoryBody] }

    unowned let api: ControlAPI

    func add(to routes: inout HTTPRoutes) {
        LineServiceRoutes(api: api).add(
            "trunk", to: &routes, read: { $0.trunkSummaries(then: $1) },
            list: { JSONBody.reply(.ok, Trunks(trunks: $0.map(TrunkBody.init))) }, one: { JSONBody.reply(.ok, TrunkBody($0)) })
        routes.on(.get, "/v1/directories") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                JSONBody.reply(.ok, Directories(directories: try api.running().directorySummaries.map(DirectoryBody.init)))
            }
        }
        routes.on(.post, "/v1/directories/{name}/reload") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in
                let name = ask.parameters["name"] ?? ""
                guard try api.running().reloadDirectory(name) else { throw .notFound("there is no call directory \(name)") }
                return HTTPReply(.accepted)
            }
        }
    }
}
