import CallKit
import Foundation
import LiveCommunicationKit
import Observation
import Primitives
import Synchronization
import Testing

@Suite struct HistoryTests {
    private typealias Recent = ConversationHistoryManager.RecentConversation

    private func history(_ rig: Rig, _ predicate: Predicate<Recent> = .true) async throws -> [Recent] {
        try await ConversationHistoryManager.of(rig.system).recentConversations(matching: predicate)
    }

    @Test func `a conversation that was joined is in the history with its time, its length and those of the other side`() async throws {
        let rig = Rig(), call = UUID(), own = Handle(type: .phoneNumber, value: "1001")
        try await rig.ring(call, .init(localMember: own, members: [.bob, own]))
        let start = rig.host.date(at: rig.host.now)
        rig.system.advance(to: rig.host.now + .seconds(4))
        try await rig.manager.perform([JoinConversationAction(conversationUUID: call)])
        #expect(try await history(rig) == [], "it is not over")
        rig.system.advance(to: rig.host.now + .seconds(30))
        try await rig.manager.perform([EndConversationAction(conversationUUID: call)])
        let entry = try #require(try await history(rig).first)
        #expect(entry.id == call && entry.handles == [.bob] && entry.date == start && abs(entry.duration - 30) < 0.001)
        #expect(entry.status == .connected && entry.direction == .incoming && entry.isRead)
        #expect(try JSONDecoder().decode(Recent.self, from: JSONEncoder().encode(entry)) == entry)
        let shared = CallSystem.$current.withValue(rig.system) { ConversationHistoryManager.sharedInstance }
        #expect(shared === ConversationHistoryManager.of(rig.system))
        #expect(try await history(Rig()) == [], "each telephone has its own")
    }

    @Test func `the dates that the app gives are those of the entry`() async throws {
        let rig = Rig(), call = UUID(), day = Date(timeIntervalSince1970: 1_000_000)
        rig.delegate.act = { action in
            switch action {
            case let start as StartConversationAction: start.fulfill(dateStarted: day)
            case let end as EndConversationAction: end.fulfill(dateEnded: day + 50)
            default: action.fulfill()
            }
        }
        try await rig.manager.perform([StartConversationAction(conversationUUID: call, handles: [.bob], isVideo: false)])
        let conversation = try #require(rig.conversation(call))
        rig.manager.reportConversationEvent(.conversationConnected(day + 10), for: conversation)
        try await rig.manager.perform([EndConversationAction(conversationUUID: call)])
        let entry = try #require(try await history(rig).first)
        #expect(entry.date == day && entry.duration == 40 && entry.direction == .outgoing && entry.status == .connected)
    }

    private typealias Status = ConversationHistoryManager.RecentConversation.Status
    private static let outcomes: [(isOutgoing: Bool, reason: Conversation.EndedReason?, status: Status)] =
        [
            (false, .joinedElsewhere, .answeredElsewhere), (false, .declinedElsewhere, .missed), (false, .unanswered, .missed),
            (false, nil, .missed), (true, nil, .cancelled), (true, .unanswered, .unknown), (true, .failed, .unknown),
        ]

    @Test(arguments: outcomes)
    func `a conversation that nobody joined has its outcome`(
        isOutgoing: Bool, reason: Conversation.EndedReason?, status: ConversationHistoryManager.RecentConversation.Status
    ) async throws {
        let rig = Rig(), call = UUID()
        if isOutgoing {
            try await rig.manager.perform([StartConversationAction(conversationUUID: call, handles: [.bob], isVideo: false)])
        } else {
            try await rig.ring(call, .init(members: [.bob]))
        }
        let conversation = try #require(rig.conversation(call))
        if let reason {
            rig.manager.reportConversationEvent(.conversationEnded(Date(), reason), for: conversation)
        } else {
            try await rig.manager.perform([EndConversationAction(conversationUUID: call)])
        }
        let entry = try #require(try await history(rig).first)
        #expect(entry.status == status && entry.duration == 0 && entry.isRead == (status != .missed) && entry.handles == [.bob])
    }

    @Test(.timeLimit(.minutes(1)))
    func `missed conversations are found by a predicate and marked as read, and each change is told`() async throws {
        let rig = Rig(), manager = ConversationHistoryManager.of(rig.system)
        var told = NotificationCenter.default.messages(of: manager, for: ConversationHistoryManager.ConversationHistoryDidUpdate.self)
            .makeAsyncIterator()
        for caller in ["1", "2", "3"] {
            let call = UUID()
            try await rig.ring(call, .init(members: [Handle(type: .phoneNumber, value: caller)]))
            let conversation = try #require(rig.conversation(call))
            rig.manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
        }
        for _ in 1...3 { #expect(try await told.next() != nil) }
        let unread = try await history(rig, #Predicate { !$0.isRead })
        #expect(unread.flatMap(\.handles).map(\.value) == ["3", "2", "1"])
        try await manager.markConversationAsRead(unread[1])
        #expect(try await told.next() != nil)
        #expect(try await history(rig, #Predicate { !$0.isRead }).flatMap(\.handles).map(\.value) == ["3", "1"])
        try await manager.markConversationsAsRead(unread)
        #expect(try await told.next() != nil)
        #expect(try await history(rig, #Predicate { $0.isRead }).count == 3)
    }

    @Test func `a manager that wants no recents leaves none, and neither does a conversation that was refused`() async throws {
        let silent = Rig(includesRecents: false), strict = Rig()
        for rig in [silent, strict] {
            let call = UUID()
            if rig === strict { rig.system.filter = { _, _ in .filteredByBlockList } }
            try? await rig.ring(call, .init(members: [.bob]))
            if let conversation = rig.conversation(call) {
                rig.manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
            }
            #expect(try await history(rig) == [] && rig.manager.conversations.isEmpty)
        }
    }

    @Test func `the history forgets the oldest of more than two hundred`() async throws {
        let rig = Rig()
        for number in 1...201 {
            let call = UUID()
            try await rig.ring(call, .init(members: [Handle(type: .generic, value: "\(number)")]))
            let conversation = try #require(rig.conversation(call))
            rig.manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
        }
        let entries = try await history(rig)
        #expect(entries.count == 200 && entries.first?.handles.first?.value == "201" && entries.last?.handles.first?.value == "2")
    }

    // MARK: Observation

    @Test func `the conversations of a manager and the state of each are observed`() async throws {
        let rig = Rig(), call = UUID(), changes = Mutex<[String]>([])
        func watch(_ name: String, _ read: () -> Void) {
            withObservationTracking(read) { changes.withLock { $0.append(name) } }
        }
        func take() -> [String] {
            changes.withLock { changes in
                defer { changes = [] }
                return changes
            }
        }
        watch("conversations") { _ = rig.manager.conversations }
        try await rig.ring(call)
        #expect(take() == ["conversations"])
        let conversation = try #require(rig.conversation(call))
        watch("state") { _ = conversation.state }
        watch("member") { _ = conversation.localMember }
        rig.manager.reportConversationEvent(.conversationUpdated(.init(localMember: .bob)), for: conversation)
        #expect(take() == ["member"])
        try await rig.manager.perform([JoinConversationAction(conversationUUID: call)])
        #expect(take() == ["state"])
        watch("state") { _ = conversation.state }
        watch("conversations") { _ = rig.manager.conversations }
        rig.manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
        #expect(take().sorted() == ["conversations", "state"] && conversation.state == .left)
    }

    // MARK: Cellular conversations

    @Test func `no cellular service is there, and a cellular conversation is refused`() async throws {
        let manager = TelephonyConversationManager.sharedInstance
        #expect(manager.cellularServices == [])
        await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallProvider)) {
            try await manager.startCellularConversation(StartCellularConversationAction(.bob))
        }
    }
}
