import CallKit
import Foundation

extension Conversation {
    /// The parts of a conversation that the local user may use.
    public struct Capabilities: OptionSet, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let pausing = Capabilities(rawValue: 1 << 0)
        public static let merging = Capabilities(rawValue: 1 << 1)
        public static let unmerging = Capabilities(rawValue: 1 << 2)
        /// Told on, and nothing else: a call here has sound alone.
        public static let video = Capabilities(rawValue: 1 << 3)
        public static let playingTones = Capabilities(rawValue: 1 << 4)
    }

    /// Changes of what is known about a conversation. A property that is nil is left as it is.
    ///
    /// A conversation that was never given capabilities can be paused, merged, unmerged and played tones into.
    public struct Update: Hashable, Codable, Sendable {
        public var localMember: Handle?
        /// Everybody who is invited.
        public var members: Set<Handle>?
        /// Those of the other side who take part now.
        public var activeRemoteMembers: Set<Handle>?
        public var capabilities: Capabilities?

        public init(
            localMember: Handle? = nil, members: Set<Handle>? = nil, activeRemoteMembers: Set<Handle>? = nil,
            capabilities: Capabilities? = nil
        ) {
            (self.localMember, self.members) = (localMember, members)
            (self.activeRemoteMembers, self.capabilities) = (activeRemoteMembers, capabilities)
        }
    }

    /// Happenings that the app reports to the system.
    public enum Event: Hashable, Codable, Sendable {
        case conversationUpdated(Update)
        /// The other side is being called.
        case conversationStartedConnecting(Date)
        /// The other side has answered.
        case conversationConnected(Date)
        case conversationEnded(Date, EndedReason)
    }
}

extension Conversation.Update {
    /// The one party that a telephone call has a place for: somebody active before somebody invited, the least of them by address.
    private var remoteMember: Handle? { others(activeRemoteMembers).first ?? others(members).first }

    /// All of the other side, invited or active, by address.
    var remoteMembers: [Handle] { others((activeRemoteMembers ?? []).union(members ?? [])) }

    private func others(_ members: Set<Handle>?) -> [Handle] {
        (members ?? []).filter { $0 != localMember }.sorted { $0.value < $1.value }
    }

    var cxUpdate: CXCallUpdate {
        let update = CXCallUpdate()
        if let remoteMember {
            update.remoteHandle = remoteMember.cxHandle
            if remoteMember.displayName != remoteMember.value { update.localizedCallerName = remoteMember.displayName }
        }
        guard let capabilities else { return update }
        update.supportsHolding = capabilities.contains(.pausing)
        update.supportsGrouping = capabilities.contains(.merging)
        update.supportsUngrouping = capabilities.contains(.unmerging)
        update.supportsDTMF = capabilities.contains(.playingTones)
        update.hasVideo = capabilities.contains(.video)
        return update
    }
}
