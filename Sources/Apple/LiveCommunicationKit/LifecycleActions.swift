import CallKit
import Foundation

/// Call somebody. Fulfilled when the invitation has been sent.
public final class StartConversationAction: ConversationAction, @unchecked Sendable {
    /// The parties to call. A telephone call has one other side: the first is called.
    public let handles: [Handle]
    /// Whether there is to be video. Here there is sound alone.
    public let isVideo: Bool
    private let start: CXStartCallAction
    /// Written before the telephone knows that it is fulfilled, and read after.
    private(set) var dateStarted: Date?

    public init(conversationUUID: UUID, handles: [Handle], isVideo: Bool) {
        let handle = handles.first?.cxHandle ?? CXHandle(type: .generic, value: "")
        start = CXStartCallAction(call: conversationUUID, handle: handle)
        start.isVideo = isVideo
        (self.handles, self.isVideo) = (handles, isVideo)
        super.init(start)
    }

    init(_ action: CXStartCallAction) {
        (start, handles, isVideo) = (action, [Handle(action.handle)], action.isVideo)
        super.init(action)
    }

    /// The invitation left at `dateStarted`.
    public func fulfill(dateStarted: Date) {
        complete(.complete) {
            self.dateStarted = dateStarted
            start.fulfill(withDateStarted: dateStarted)
        }
    }
}

/// Answer a conversation that rings. Fulfilled when both sides can hear each other.
public final class JoinConversationAction: ConversationAction, @unchecked Sendable {
    private let answer: CXAnswerCallAction
    /// Written before the telephone knows that it is fulfilled, and read after.
    private(set) var dateConnected: Date?

    public convenience init(conversationUUID: UUID) { self.init(CXAnswerCallAction(call: conversationUUID)) }

    init(_ action: CXAnswerCallAction) {
        answer = action
        super.init(action)
    }

    /// The two sides were connected at `dateConnected`.
    public func fulfill(dateConnected: Date) {
        complete(.complete) {
            self.dateConnected = dateConnected
            answer.fulfill(withDateConnected: dateConnected)
        }
    }
}

/// End a conversation, or decline one that rings.
public final class EndConversationAction: ConversationAction, @unchecked Sendable {
    private let end: CXEndCallAction
    /// Written before the telephone knows that it is fulfilled, and read after.
    private(set) var dateEnded: Date?

    public convenience init(conversationUUID: UUID) { self.init(CXEndCallAction(call: conversationUUID)) }

    init(_ action: CXEndCallAction) {
        end = action
        super.init(action)
    }

    /// It was over at `dateEnded`.
    public func fulfill(dateEnded: Date) {
        complete(.complete) {
            self.dateEnded = dateEnded
            end.fulfill(withDateEnded: dateEnded)
        }
    }
}
