import CallKit
import Foundation
import LiveCommunicationKit
import Testing

/// Actions of a conversation that is up.
@Suite struct ActionTests {
    private let rig = Rig()
    private let call = UUID(), other = UUID()

    @Test func `a pause is a hold, and ends`() async throws {
        try await rig.connect(call)
        try await rig.manager.perform([PauseConversationAction(conversationUUID: call, isPaused: true)])
        #expect(rig.system.call(call)?.isOnHold == true && rig.conversation(call)?.state == .paused)
        try await rig.manager.perform([PauseConversationAction(conversationUUID: call, isPaused: false)])
        #expect(rig.system.call(call)?.isOnHold == false && rig.conversation(call)?.state == .joined)
        #expect((rig.delegate.performed.last as? PauseConversationAction)?.isPaused == false)
    }

    @Test func `joining another pauses the first, as the system asks`() async throws {
        try await rig.connect(call)
        try await rig.ring(other)
        try await rig.manager.perform([JoinConversationAction(conversationUUID: other)])
        let pause = try #require(rig.delegate.performed.compactMap { $0 as? PauseConversationAction }.first)
        #expect(pause.conversationUUID == call && pause.isPaused && rig.conversation(call)?.state == .paused)
        #expect(rig.conversation(other)?.state == .joined)
    }

    @Test func `muting is told on, and taken back`() async throws {
        try await rig.connect(call)
        for isMuted in [true, false] {
            try await rig.manager.perform([MuteConversationAction(conversationUUID: call, isMuted: isMuted)])
            #expect(rig.system.call(call)?.isMuted == isMuted)
            #expect((rig.delegate.performed.last as? MuteConversationAction)?.isMuted == isMuted)
        }
    }

    @Test func `merged conversations are one group until one is taken out`() async throws {
        try await rig.connect(call)
        try await rig.connect(other)
        try await rig.manager.perform([MergeConversationAction(conversationUUID: other, conversationUUIDToMergeWith: call)])
        #expect(rig.system.call(call)?.group == rig.system.call(other)?.group)
        #expect((rig.delegate.performed.last as? MergeConversationAction)?.conversationUUIDToMergeWith == call)
        try await rig.controller.request(CXTransaction(action: CXSetGroupCallAction(call: other, callUUIDToGroupWith: nil)))
        #expect(rig.delegate.performed.last is UnmergeConversationAction)
        #expect(rig.system.call(call)?.group != rig.system.call(other)?.group)
    }

    @Test(arguments: [
        (PlayToneAction.Tone.single, CXPlayDTMFCallAction.ActionType.singleTone), (.softPause, .softPause), (.hardPause, .hardPause),
    ])
    func `tones have digits and an occasion`(tone: PlayToneAction.Tone, type: CXPlayDTMFCallAction.ActionType) async throws {
        try await rig.connect(call)
        try await rig.controller.request(CXTransaction(action: CXPlayDTMFCallAction(call: call, digits: "12#", type: type)))
        let action = try #require(rig.delegate.performed.last as? PlayToneAction)
        #expect(action.digits == "12#" && action.tone == tone)
        #expect(PlayToneAction(conversationUUID: call, digits: "1", tone: tone).tone == tone)
    }

    @Test func `what a conversation cannot do is refused`() async throws {
        try await rig.ring(call, .init(capabilities: [.unmerging]))
        try await rig.manager.perform([JoinConversationAction(conversationUUID: call)])
        #expect(await rig.refusal(PauseConversationAction(conversationUUID: call, isPaused: true)) == .invalidAction)
        #expect(await rig.refusal(PlayToneAction(conversationUUID: call, digits: "1", tone: .single)) == .invalidAction)
        let conversation = try #require(rig.conversation(call))
        rig.manager.reportConversationEvent(.conversationUpdated(.init(capabilities: [.pausing, .playingTones])), for: conversation)
        #expect(await rig.refusal(PauseConversationAction(conversationUUID: call, isPaused: true)) == nil)
        #expect(await rig.refusal(PlayToneAction(conversationUUID: call, digits: "1", tone: .single)) == nil)
    }

    @Test func `a translation names its languages and its engine`() async throws {
        try await rig.connect(call)
        rig.delegate.act = { ($0 as? SetTranslatingAction)?.fulfill(using: .custom) }
        let action = SetTranslatingAction(
            conversationID: call, isTranslating: true, localLanguage: .init(identifier: "en"), remoteLanguage: .init(identifier: "fr"))
        try await rig.manager.perform([action])
        #expect(rig.system.call(call)?.translation == .custom && action.state == .complete)
        rig.delegate.act = { $0.fulfill() }
        let end = CXSetTranslatingCallAction(call: call, isTranslating: false, localLanguage: "en", remoteLanguage: "fr")
        try await rig.controller.request(CXTransaction(action: end))
        let told = try #require(rig.delegate.performed.last as? SetTranslatingAction)
        #expect(!told.isTranslating && told.localLanguage.languageCode == "en" && told.remoteLanguage.languageCode == "fr")
    }

    @Test func `of several members the active one is shown, and never the local one`() async throws {
        let me = Handle(type: .phoneNumber, value: "1001"), carol = Handle(type: .emailAddress, value: "carol@example.test")
        try await rig.ring(call, .init(localMember: me, members: [me, .bob, carol], activeRemoteMembers: [carol]))
        #expect(rig.system.call(call)?.handle == CXHandle(type: .emailAddress, value: "carol@example.test"))
        #expect(rig.conversation(call)?.localMember == me && rig.system.call(call)?.localizedCallerName == nil)
    }
}
