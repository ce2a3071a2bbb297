import CallKit
import Foundation
import LiveCommunicationKit
import Primitives
import Testing

@Suite struct LifecycleTests {
    private let rig = Rig()
    private let call = UUID()

    @Test func `the first delegate hears that the manager has begun, once`() {
        #expect(rig.delegate.take() == ["begin"])
        rig.manager.delegate = rig.delegate
        #expect(rig.delegate.take() == [])
    }

    @Test func `an incoming conversation is joined, then has audio, and the other side ends it`() async throws {
        _ = rig.delegate.take()
        try await rig.ring(call, .init(members: [.bob]))
        let conversation = try #require(rig.conversation(call)), snapshot = try #require(rig.system.call(call))
        #expect(conversation.state == .idle)
        #expect(snapshot.handle == CXHandle(type: .phoneNumber, value: "2001") && snapshot.localizedCallerName == "Bob")
        try await rig.manager.perform([JoinConversationAction(conversationUUID: call)])
        #expect(rig.delegate.take() == ["changed joining", "perform JoinConversationAction", "changed joined", "activate"])
        #expect(conversation.state == .joined)
        rig.manager.reportConversationEvent(.conversationEnded(Date(), .remoteEnded), for: conversation)
        #expect(rig.delegate.take() == ["changed left", "deactivate"])
        #expect(conversation.state == .left && rig.manager.conversations.isEmpty && rig.system.calls == [])
    }

    @Test func `what the telephone's user asks for comes as the same actions`() async throws {
        try await rig.ring(call)
        _ = rig.delegate.take()
        try await rig.controller.request(CXTransaction(action: CXAnswerCallAction(call: call)))
        try await rig.controller.request(CXTransaction(action: CXEndCallAction(call: call)))
        #expect(
            rig.delegate.take() == [
                "changed joining", "perform JoinConversationAction", "changed joined", "activate", "changed leaving",
                "perform EndConversationAction", "changed left", "deactivate",
            ])
    }

    @Test func `an outgoing conversation connects when it is reported, and has audio only then`() async throws {
        _ = rig.delegate.take()
        let start = StartConversationAction(conversationUUID: call, handles: [.bob], isVideo: false)
        try await rig.manager.perform([start])
        #expect(rig.delegate.take() == ["changed joining", "perform StartConversationAction"])
        #expect(start.state == .complete && rig.delegate.performed.first === start)
        let conversation = try #require(rig.conversation(call))
        #expect(conversation.state == .joining && rig.system.call(call)?.handle?.value == "2001")
        rig.manager.reportConversationEvent(.conversationStartedConnecting(Date()), for: conversation)
        rig.manager.reportConversationEvent(.conversationConnected(Date()), for: conversation)
        #expect(rig.delegate.take() == ["changed joined", "activate"])
        try await rig.manager.perform([EndConversationAction(conversationUUID: call)])
        #expect(rig.delegate.take() == ["changed leaving", "perform EndConversationAction", "changed left", "deactivate"])
    }

    @Test func `a start that fails leaves no conversation`() async throws {
        _ = rig.delegate.take()
        rig.delegate.act = { $0.fail() }
        let start = StartConversationAction(conversationUUID: call, handles: [.bob], isVideo: false)
        try await rig.manager.perform([start])
        #expect(rig.delegate.take() == ["changed joining", "perform StartConversationAction", "changed left"])
        #expect(start.state == .failed(reason: "the app has failed it") && rig.manager.conversations.isEmpty)
    }

    @Test func `a conversation that was turned away never was, and the refusal of a second leaves the first`() async throws {
        rig.system.filter = { _, _ in .filteredByDoNotDisturb }
        await #expect(throws: CXErrorCodeIncomingCallError(.filteredByDoNotDisturb)) { try await rig.ring(call) }
        #expect(rig.manager.conversations.isEmpty)
        rig.system.filter = nil
        try await rig.ring(call)
        await #expect(throws: CXErrorCodeIncomingCallError(.callUUIDAlreadyExists)) { try await rig.ring(call) }
        #expect(rig.manager.conversations.map(\.uuid) == [call])
    }

    @Test func `a refused action can be asked for again`() async throws {
        let join = JoinConversationAction(conversationUUID: call)
        #expect(await rig.refusal(join) == .unknownCallUUID)
        #expect(join.state == .idle && rig.manager.pendingActions.isEmpty)
        let start = StartConversationAction(conversationUUID: call, handles: [.bob], isVideo: false)
        #expect(await rig.refusal(start, join) == .invalidAction)
        #expect(rig.manager.conversations.isEmpty)
        try await rig.ring(call)
        #expect(await rig.refusal(join) == nil)
        #expect(join.state == .complete)
    }

    @Test func `an action is pending until it is complete, and then nothing changes it`() async throws {
        try await rig.ring(call)
        rig.delegate.act = { _ in }
        let join = JoinConversationAction(conversationUUID: call), conversation = try #require(rig.conversation(call))
        join.fulfill()
        #expect(join.state == .idle, "nobody has asked for it")
        try await rig.manager.perform([join])
        #expect(join.state == .running && conversation.state == .joining)
        #expect(rig.manager.pendingActions.map(\.uuid) == [join.uuid])
        #expect(rig.manager.pendingConversationActions(of: JoinConversationAction.self, for: conversation).first === join)
        #expect(rig.manager.pendingConversationActions(of: EndConversationAction.self, for: conversation).isEmpty)
        join.fulfill(dateConnected: Date())
        join.fail()
        #expect(join.state == .complete && rig.manager.pendingActions.isEmpty && conversation.state == .joined)
    }

    @Test func `a join that is not performed in time has failed, and its conversation with it`() async throws {
        try await rig.ring(call)
        rig.delegate.act = { _ in }
        let join = JoinConversationAction(conversationUUID: call)
        try await rig.manager.perform([join])
        _ = rig.delegate.take()
        rig.system.advance(to: rig.host.now + .seconds(61))
        #expect(rig.delegate.take().first == "timed out JoinConversationAction")
        join.fulfill()
        #expect(join.state == .failed(reason: "the time was over, or the conversation has ended"))
    }

    @Test func `an end that the app fails leaves the conversation as it was`() async throws {
        try await rig.connect(call)
        let conversation = try #require(rig.conversation(call))
        rig.delegate.act = { _ in }
        try await rig.manager.perform([EndConversationAction(conversationUUID: call)])
        #expect(conversation.state == .leaving)
        rig.delegate.performed.last?.fail()
        #expect(conversation.state == .joined && rig.manager.conversations.count == 1)
    }

    @Test(arguments: [
        (Conversation.EndedReason.failed, CXCallEndedReason.failed), (.remoteEnded, .remoteEnded), (.unanswered, .unanswered),
        (.joinedElsewhere, .answeredElsewhere), (.declinedElsewhere, .declinedElsewhere),
    ])
    func `a reason is the telephone's of the same meaning`(reason: Conversation.EndedReason, expected: CXCallEndedReason) async throws {
        let journal = Ends()
        rig.system.journal = journal
        try await rig.ring(call)
        rig.manager.reportConversationEvent(.conversationEnded(Date(), reason), for: try #require(rig.conversation(call)))
        #expect(journal.ends == [.reported(expected)])
    }

    @Test func `a manager that is invalid has no conversations`() async throws {
        try await rig.connect(call)
        rig.manager.invalidate()
        #expect(rig.delegate.take() == ["reset", "changed left", "deactivate"])
        #expect(rig.manager.conversations.isEmpty)
        await #expect(throws: CXErrorCodeIncomingCallError(.unknown)) { try await rig.ring(UUID()) }
    }
}

private final class Ends: CallSystemJournal {
    private(set) var ends: [CallEnd] = []
    func callSystem(_ system: CallSystem, did event: CallSystemEvent, at now: Instant) {
        if case .callEnded(_, let end) = event { ends.append(end) }
    }
}
