import CallKit
import Foundation
import Media
import Primitives
import Runtime
import SIP
import UserAgent

/// A trunk as somebody outside sees it at a moment.
public struct TrunkSummary: Sendable {
    /// A server of it.
    public struct Server: Sendable {
        /// Its name for requests and certificates, and the address that was found for it.
        public var name: Text, address: SocketAddress
        public var transport: Transport
        /// It did not answer, or answered 503, and is asked last until it may be asked again.
        public var isDown: Bool

        public init(name: Text, address: SocketAddress, transport: Transport, isDown: Bool) {
            (self.name, self.address, self.transport, self.isDown) = (name, address, transport, isDown)
        }
    }

    /// Our registration there.
    public enum Registration: String, Sendable, CaseIterable {
        /// None is wanted.
        case none
        case registered, unregistered
    }

    /// The number and the name of its line.
    public var line: Text, name: Text?
    public var registration: Registration
    /// The status of the last answer to our REGISTER; nil until there is one.
    public var registrationStatus: Int?
    /// In the order of the configuration; empty while none is found.
    public var servers: [Server]
    /// Its servers are asked whether they live (OPTIONS).
    public var isWatched: Bool
    /// This gateway registers it and checks its servers.
    public var isHeld: Bool
    /// The gateway that does, where several share a store; nil: none has been heard of.
    public var node: Text?
    /// Calls that are up over it.
    public var calls: Int
    /// Conversations that its line may have at a time.
    public var maximumCalls: Int

    public init(
        line: Text, name: Text?, registration: Registration, registrationStatus: Int?, servers: [Server], isWatched: Bool,
        isHeld: Bool = true,
        node: Text? = nil, calls: Int, maximumCalls: Int
    ) {
        (self.line, self.name, self.registration, self.registrationStatus) = (line, name, registration, registrationStatus)
        (self.servers, self.isWatched, self.calls, self.maximumCalls) = (servers, isWatched, calls, maximumCalls)
        (self.isHeld, self.node) = (isHeld, node)
    }
}

/// A call directory as somebody outside sees it at a moment.
public struct DirectorySummary: Sendable {
    public var name: String
    /// Entries in force.
    public var blocked: Int, identified: Int
    /// The last load that succeeded.
    public var loaded: Date?
    /// Why the last load failed; nil: it did not.
    public var failure: String?

    public init(name: String, blocked: Int, identified: Int, loaded: Date?, failure: String?) {
        (self.name, self.blocked, self.identified, self.loaded, self.failure) = (name, blocked, identified, loaded, failure)
    }
}

// Any thread. Each returns at once; `then` is called on the signalling lane, and never once the server has stopped.
extension GatewayServer {
    /// The trunks, in the order of their lines.
    public func trunkSummaries(then: @escaping @Sendable ([TrunkSummary]) -> Void) {
        lane.post { host, now in then(host.endpoint.trunkSummaries(at: now)) }
    }

    /// The queues, in the order of their lines.
    public func queueSummaries(then: @escaping @Sendable ([QueueSummary]) -> Void) {
        lane.post { host, now in then(host.endpoint.queueSummaries(at: now)) }
    }

    /// The mailboxes, in the order of their lines.
    public func mailboxSummaries(then: @escaping @Sendable ([MailboxSummary]) -> Void) {
        lane.post { host, now in then(host.endpoint.mailboxSummaries(at: now)) }
    }

    /// Marks a message as heard, or as new. False when there is none of this name.
    public func setHeard(_ isHeard: Bool, message id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.setHeard(isHeard, message: id, ofLine: number, at: now)) }
    }

    /// Removes a message with its file. False when there is none of this name.
    public func removeMessage(_ id: UUID, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.removeMessage(id, ofLine: number, at: now)) }
    }

    /// The media of those calls that are up, until now.
    public func mediaStatistics(of calls: [UUID], then: @escaping @Sendable ([UUID: MediaStatistics]) -> Void) {
        lane.post { host, now in then(host.endpoint.mediaStatistics(of: calls, at: now)) }
    }

    /// False when there is no such line, or no registration of it with this Contact.
    public func unregister(_ contact: Text, ofLine number: Text, then: @escaping @Sendable (Bool) -> Void) {
        lane.post { host, now in then(host.endpoint.unregister(contact, ofLine: number, at: now)) }
    }
}

// Any thread, and none of it on the signalling lane.
extension GatewayServer {
    /// The call directories, by name.
    public var directorySummaries: [DirectorySummary] {
        directories.identifiers.compactMap { name in
            directories.record(of: name).map { record in
                DirectorySummary(
                    name: name, blocked: record.data?.blockedCount ?? 0, identified: record.data?.identifiedCount ?? 0,
                    loaded: record.loaded, failure: record.failure?.message)
            }
        }
    }

    /// Loads a directory anew, in the background; what is in force stays until it is loaded. False when there is none of this name.
    public func reloadDirectory(_ name: String) -> Bool {
        guard directories.record(of: name) != nil else { return false }
        directories.loadAgain(name) { [notice] in notice(.directory($0)) }
        return true
    }
}
