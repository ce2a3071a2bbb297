import CallKit
import Foundation

/// The door to the cellular network, of which there is none here.
public final class TelephonyConversationManager: Sendable {
    public static let sharedInstance = TelephonyConversationManager()

    private init() {}

    /// The user's accounts with cellular networks: none.
    public var cellularServices: [CellularService] { [] }

    /// Throws `CXErrorCodeRequestTransactionError.unknownCallProvider` of CallKit: nobody can make such a call.
    public func startCellularConversation(_ action: StartCellularConversationAction) async throws {
        throw CXErrorCodeRequestTransactionError(.unknownCallProvider)
    }
}

/// An account with a cellular network.
public struct CellularService: Hashable, Codable, Identifiable, Sendable {
    /// The name that the user sees.
    public let label: String
    public let id: UUID
}

/// The wish to call somebody over a cellular network.
public struct StartCellularConversationAction: Sendable {
    let handles: [Handle]

    /// Calls somebody over one of the user's accounts; nil: over whichever there is.
    public init(_ handle: Handle, cellularService: CellularService? = nil) { handles = [handle] }

    /// Calls those of a conversation that is over.
    public init(_ recentConversation: ConversationHistoryManager.RecentConversation) { handles = recentConversation.handles }
}
