import CallKit
import Foundation
import Testing

/// What a log of an app says of CallKit's objects.
@Suite struct DescriptionTests {
    private static let call = UUID(uuidString: "00000000-0000-4000-8000-00000000000A")!
    private static let other = UUID(uuidString: "00000000-0000-4000-8000-00000000000B")!
    private static let handle = CXHandle(type: .phoneNumber, value: "+3901")

    private static let actions: [(CXCallAction, String)] = [
        (CXCallAction(call: call), "CXCallAction "), (CXAnswerCallAction(call: call), "CXAnswerCallAction "),
        (CXEndCallAction(call: call), "CXEndCallAction "),
        (
            CXStartCallAction(call: call, handle: handle),
            "CXStartCallAction handle=<CXHandle type=phoneNumber, value=+3901>, isVideo=false, "
        ),
        (CXSetHeldCallAction(call: call, onHold: true), "CXSetHeldCallAction isOnHold=true, "),
        (CXSetMutedCallAction(call: call, muted: false), "CXSetMutedCallAction isMuted=false, "),
        (CXSetGroupCallAction(call: call, callUUIDToGroupWith: other), "CXSetGroupCallAction callUUIDToGroupWith=\(other), "),
        (CXSetGroupCallAction(call: call, callUUIDToGroupWith: nil), "CXSetGroupCallAction callUUIDToGroupWith=nil, "),
        (CXPlayDTMFCallAction(call: call, digits: "12#", type: .hardPause), "CXPlayDTMFCallAction digits=12#, type=hardPause, "),
        (
            CXSetTranslatingCallAction(call: call, isTranslating: true, localLanguage: "de", remoteLanguage: "ko"),
            "CXSetTranslatingCallAction isTranslating=true, localLanguage=de, remoteLanguage=ko, "
        ),
    ]

    @Test func `an action says its class, itself, its call, what is to be done and whether it is`() {
        for (action, words) in Self.actions {
            let parts = words.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            #expect(action.description == "<\(parts[0]) uuid=\(action.uuid), callUUID=\(Self.call), \(parts[1])isComplete=false>")
        }
        let plain = CXAction()
        #expect("\(plain)" == "<CXAction uuid=\(plain.uuid), isComplete=false>" && plain.debugDescription == plain.description)
        let start = CXStartCallAction(call: Self.call, handle: Self.handle)
        start.contactIdentifier = "mary"
        #expect(start.description.contains(", contactIdentifier=mary, isVideo=false"))
    }

    @Test func `an app's own action has its own name`() {
        final class Wave: CXAction, @unchecked Sendable {}
        #expect(Wave().description.hasPrefix("<Wave uuid="))
    }

    @Test func `a transaction has its actions in it, complete ones too`() {
        let rig = Rig()
        rig.ring("A")
        let answer = CXAnswerCallAction(call: .call("A")), transaction = CXTransaction(action: answer)
        #expect(transaction.description == "<CXTransaction uuid=\(transaction.uuid), isComplete=false, actions=[\(answer)]>")
        rig.controller.request(transaction) { _ in }
        #expect(
            transaction.description.contains("isComplete=true, actions=[<CXAnswerCallAction uuid=\(answer.uuid), ")
                && "\(answer)".hasSuffix("isComplete=true>"))
        let call = rig.controller.callObserver.calls[0]
        #expect(call.description == "<CXCall uuid=\(UUID.call("A")), isOutgoing=false, isOnHold=false, hasConnected=true, hasEnded=false>")
    }

    @Test func `an update says what was set, and nothing else`() {
        let update = CXCallUpdate()
        (update.remoteHandle, update.localizedCallerName, update.hasVideo) = (Self.handle, nil, false)
        #expect(
            update.description
                == "<CXCallUpdate remoteHandle=<CXHandle type=phoneNumber, value=+3901>, localizedCallerName=nil, hasVideo=false>")
        (update.supportsHolding, update.supportsGrouping, update.supportsUngrouping, update.supportsDTMF) = (true, false, true, false)
        #expect(
            update.description.contains(
                "supportsHolding=true, supportsGrouping=false, supportsUngrouping=true, supportsDTMF=false, hasVideo"))
        #expect(CXCallUpdate().description == "<CXCallUpdate>")
    }
}
