import CallKit
import Foundation
import Testing

/// Names, numbers and defaults of api.md.
@Suite struct VocabularyTests {
    @Test func `raw values are Apple's`() {
        #expect(
            [CXCallEndedReason.failed, .remoteEnded, .unanswered, .answeredElsewhere, .declinedElsewhere].map(\.rawValue) == [
                1, 2, 3, 4, 5,
            ])
        #expect([CXHandle.HandleType.generic, .phoneNumber, .emailAddress].map(\.rawValue) == [1, 2, 3])
        #expect([CXPlayDTMFCallAction.ActionType.singleTone, .softPause, .hardPause].map(\.rawValue) == [1, 2, 3])
        #expect([CXCallDirectoryManager.EnabledStatus.unknown, .disabled, .enabled].map(\.rawValue) == [0, 1, 2])
        #expect([CXTranslationEngine.default, .custom].map(\.rawValue) == [0, 1])
        #expect(CXCallDirectoryPhoneNumberMax == 9_223_372_036_854_775_806)
    }

    @Test func `error domains and codes are Apple's`() {
        func check<E: CallKitError>(_ type: E.Type, _ domain: String, _ codes: [E.Code]) {
            #expect(E.errorDomain == domain)
            #expect(codes.map(\.rawValue) == Array(0..<codes.count))
            for code in codes {
                let bridged = E(code, userInfo: [:]) as NSError
                #expect(bridged.domain == domain)
                #expect(bridged.code == code.rawValue)
            }
        }
        check(CXError.self, "com.apple.CallKit.error", [.unknownError, .unentitled, .invalidArgument, .missingVoIPBackgroundMode])
        check(
            CXErrorCodeIncomingCallError.self, "com.apple.CallKit.error.incomingcall",
            [
                .unknown, .unentitled, .callUUIDAlreadyExists, .filteredByDoNotDisturb, .filteredByBlockList,
                .filteredDuringRestrictedSharingMode, .callIsProtected, .filteredBySensitiveParticipants,
            ])
        check(
            CXErrorCodeRequestTransactionError.self, "com.apple.CallKit.error.requesttransaction",
            [
                .unknown, .unentitled, .unknownCallProvider, .emptyTransaction, .unknownCallUUID, .callUUIDAlreadyExists,
                .invalidAction, .maximumCallGroupsReached, .callIsProtected,
            ])
        check(
            CXErrorCodeCallDirectoryManagerError.self, "com.apple.CallKit.error.calldirectorymanager",
            [
                .unknown, .noExtensionFound, .loadingInterrupted, .entriesOutOfOrder, .duplicateEntries,
                .maximumEntriesExceeded, .extensionDisabled, .currentlyLoading, .unexpectedIncrementalRemoval,
            ])
        check(
            CXErrorCodeNotificationServiceExtensionError.self, "com.apple.CallKit.error.notificationserviceextension",
            [.unknown, .invalidClientProcess, .missingNotificationFilteringEntitlement])
    }

    @Test(arguments: [true, false])
    func `an error is caught by its code, as a struct and as an NSError`(asStruct: Bool) {
        let code = CXErrorCodeIncomingCallError.filteredByDoNotDisturb
        let error: any Error =
            asStruct
            ? CXErrorCodeIncomingCallError(code) : NSError(domain: CXErrorDomainIncomingCall, code: code.rawValue, userInfo: nil)
        var caught = ""
        do { throw error } catch CXErrorCodeRequestTransactionError.emptyTransaction {
            caught = "wrong domain"
        } catch CXErrorCodeIncomingCallError.filteredByBlockList {
            caught = "wrong code"
        } catch CXErrorCodeIncomingCallError.filteredByDoNotDisturb {
            caught = "right"
        } catch {
            caught = "nothing"
        }
        #expect(caught == "right")
        #expect(CXErrorCodeIncomingCallError(code) == CXErrorCodeIncomingCallError(code, userInfo: ["a": 1]))
    }

    @Test func `a configuration has Apple's defaults, and its provider keeps a copy`() {
        let configuration = CXProviderConfiguration()
        #expect(configuration.maximumCallGroups == 2)
        #expect(configuration.maximumCallsPerCallGroup == 5)
        #expect(configuration.includesCallsInRecents)
        #expect(!configuration.supportsVideo)
        #expect(configuration.supportedHandleTypes == [])
        #expect(configuration.ringtoneSound == nil)
        #expect(configuration.iconTemplateImageData == nil)
        #expect(configuration.localizedName == nil)
        #expect(!configuration.supportsAudioTranslation)
        #expect(CXProviderConfiguration(localizedName: "Hotline").localizedName == "Hotline")

        let rig = Rig()
        rig.provider.configuration = configuration
        configuration.supportsVideo = true
        #expect(rig.provider.configuration.supportsVideo == false)
        let other = rig.provider.configuration
        other.maximumCallGroups = 1
        #expect(rig.provider.configuration.maximumCallGroups == 2)
        rig.provider.configuration = other
        #expect(rig.provider.configuration.maximumCallGroups == 1)
    }

    @Test func `a new action's deadline runs from its creation`() {
        for (action, seconds) in [
            (CXAction.start("A"), 600.0), (.answer("A"), 60), (.end("A"), 5), (.hold("A"), 5), (.mute("A"), 5), (.leave("A"), 5),
            (.tones("A"), 5), (Self.translation, 5), (CXAction(), 5),
        ] {
            let left = action.timeoutDate.timeIntervalSinceNow
            #expect(left <= seconds && left > seconds - 1)
        }
    }

    @Test func `handles are equal by type and value`() {
        let same = CXHandle(type: .phoneNumber, value: "2001")
        #expect(same == .bob)
        #expect(same.hash == CXHandle.bob.hash)
        #expect(same.isEqual(to: .bob))
        #expect(CXHandle(type: .generic, value: "2001") != .bob)
        #expect(CXHandle(type: .phoneNumber, value: "2002") != .bob)
        #expect(Set([same, .bob]).count == 1)
    }

    @Test func `an update tells what was set from what was not`() {
        let update = CXCallUpdate()
        #expect(
            !update.supportsHolding && !update.supportsGrouping && !update.supportsUngrouping && !update.supportsDTMF && !update.hasVideo)
        #expect(update.remoteHandle == nil && update.localizedCallerName == nil)
        let rig = Rig()
        rig.ring("A", update: update)
        #expect(rig.refusal(.hold("A"), .tones("A")) == nil)
        update.supportsHolding = false
        let copy = update.copy() as? CXCallUpdate
        rig.provider.reportCall(with: .call("A"), updated: copy!)
        #expect(rig.refusal(.hold("A")) == 6)
        #expect(rig.refusal(.tones("A")) == nil)
    }

    @Test func `an empty transaction is complete, and actions can be added`() {
        let transaction = CXTransaction()
        #expect(transaction.isComplete)
        transaction.addAction(.end("A"))
        #expect(!transaction.isComplete)
        #expect(transaction.actions.map(text) == ["end A"])
        #expect(CXTransaction(action: .end("A")).actions.count == 1)
        #expect(CXTransaction(actions: [.end("A"), .end("B")]).actions.count == 2)
    }

    private static var translation: CXAction {
        CXSetTranslatingCallAction(call: .call("A"), isTranslating: true, localLanguage: "it", remoteLanguage: "tr")
    }

    private static func samples() -> [CXAction] {
        let start = CXStartCallAction(call: .call("A"), handle: .bob)
        (start.contactIdentifier, start.isVideo) = ("contact", true)
        return [
            CXAction(), CXCallAction(call: .call("A")), start, .answer("A"), .end("A"), .hold("A"), .resume("A"), .mute("A"),
            .join("A", "B"), .leave("A"), CXPlayDTMFCallAction(call: .call("A"), digits: "12#", type: .hardPause), translation,
        ]
    }

    private func description(_ action: CXAction) -> [String] {
        var lines = ["\(type(of: action))", action.uuid.uuidString]
        if let action = action as? CXCallAction { lines.append(action.callUUID.uuidString) }
        switch action {
        case let action as CXStartCallAction:
            lines += ["\(action.handle.type)", action.handle.value, "\(action.contactIdentifier ?? "")", "\(action.isVideo)"]
        case let action as CXSetHeldCallAction: lines.append("\(action.isOnHold)")
        case let action as CXSetMutedCallAction: lines.append("\(action.isMuted)")
        case let action as CXSetGroupCallAction: lines.append("\(action.callUUIDToGroupWith?.uuidString ?? "none")")
        case let action as CXSetTranslatingCallAction:
            lines += ["\(action.isTranslating)", action.localLanguage, action.remoteLanguage]
        case let action as CXPlayDTMFCallAction: lines += [action.digits, "\(action.type)"]
        default: break
        }
        return lines
    }

    @Test func `a copied action has its class, its identity and all it says`() {
        for action in Self.samples() {
            let copy = action.copy() as? CXAction
            #expect(copy !== action)
            #expect(copy.map(description) == description(action))
        }
        let transaction = CXTransaction(actions: Self.samples())
        let copy = transaction.copy() as? CXTransaction
        #expect(copy?.uuid != transaction.uuid)
        #expect(copy?.actions.map(\.uuid) == transaction.actions.map(\.uuid))
    }

    @Test func `actions, transactions and handles survive secure archiving`() throws {
        for action in Self.samples() {
            let data = try NSKeyedArchiver.archivedData(withRootObject: action, requiringSecureCoding: true)
            let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: type(of: action), from: data)
            #expect(back.map(description) == description(action))
        }
        let transaction = CXTransaction(actions: Self.samples())
        let data = try NSKeyedArchiver.archivedData(withRootObject: transaction, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CXTransaction.self, from: data)
        #expect(back?.uuid == transaction.uuid)
        #expect(back?.actions.map(description) == transaction.actions.map(description))
        let handle = try NSKeyedArchiver.archivedData(withRootObject: CXHandle.bob, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CXHandle.self, from: handle) == .bob)
    }

    @Test func `identities do not repeat`() {
        let uuids = (0..<10_000).map { _ in CXAction().uuid }
        #expect(Set(uuids).count == uuids.count)
        #expect(uuids.allSatisfy { $0.uuid.6 >> 4 == 8 && $0.uuid.8 >> 6 == 2 })
    }

    @Test func `an audio session remembers what the app asked for`() throws {
        let session = AVAudioSession()
        try session.setCategory(.playAndRecord, mode: .voiceChat, options: [.allowBluetooth])
        try session.setActive(true)
        #expect(session.category == .playAndRecord)
        #expect(session.mode == .voiceChat)
        #expect(session.categoryOptions == .allowBluetooth)
        #expect(session.wishes.isActive)
        try session.setMode(.default)
        try session.setCategory(.playback)
        #expect(session.wishes.mode == .default)
        #expect(session.wishes.category == .playback)
        #expect(AVAudioSession.sharedInstance() === AVAudioSession.sharedInstance())
    }

    /// Class, and the keys of its archive.
    static let archiveKeys: [(String, Set<String>)] = [
        ("CXAction", ["UUID"]), ("CXCallAction", ["UUID", "callUUID"]),
        ("CXStartCallAction", ["UUID", "callUUID", "handle", "contactIdentifier", "isVideo"]),
        ("CXAnswerCallAction", ["UUID", "callUUID"]), ("CXEndCallAction", ["UUID", "callUUID"]),
        ("CXSetHeldCallAction", ["UUID", "callUUID", "onHold"]), ("CXSetMutedCallAction", ["UUID", "callUUID", "muted"]),
        ("CXSetGroupCallAction", ["UUID", "callUUID", "callUUIDToGroupWith"]),
        ("CXPlayDTMFCallAction", ["UUID", "callUUID", "digits", "type"]),
        ("CXSetTranslatingCallAction", ["UUID", "callUUID", "isTranslating", "localLanguage", "remoteLanguage"]),
    ]

    @Test func `actions are archived under Apple's keys`() throws {
        let keys = Dictionary(uniqueKeysWithValues: Self.archiveKeys)
        var seen: Set<String> = []
        for action in Self.samples() where (action as? CXSetGroupCallAction).map({ $0.callUUIDToGroupWith != nil }) ?? true {
            let data = try NSKeyedArchiver.archivedData(withRootObject: action, requiringSecureCoding: true)
            let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
            let object = (list?["$objects"] as? [Any])?[1] as? [String: Any]
            #expect(object.map { Set($0.keys).subtracting(["$class"]) } == keys["\(type(of: action))"], "\(type(of: action))")
            seen.insert("\(type(of: action))")
        }
        #expect(seen == Set(keys.keys))
    }

    @Test func `a copied configuration has every setting, and is its own`() {
        let one = CXProviderConfiguration(localizedName: "Hotline")
        (one.ringtoneSound, one.iconTemplateImageData) = ("ring.wav", Data([1]))
        (one.maximumCallGroups, one.maximumCallsPerCallGroup) = (3, 4)
        (one.includesCallsInRecents, one.supportsVideo, one.supportsAudioTranslation) = (false, true, true)
        one.supportedHandleTypes = [.generic, .emailAddress]
        let copy = one.copy() as! CXProviderConfiguration
        #expect(copy !== one)
        #expect(copy.localizedName == "Hotline" && copy.ringtoneSound == "ring.wav" && copy.iconTemplateImageData == Data([1]))
        #expect(copy.maximumCallGroups == 3 && copy.maximumCallsPerCallGroup == 4)
        #expect(!copy.includesCallsInRecents && copy.supportsVideo && copy.supportsAudioTranslation)
        #expect(copy.supportedHandleTypes == [.generic, .emailAddress])
        one.supportsVideo = false
        #expect(copy.supportsVideo)
    }

    @Test func `pending actions are found by class and call, complete ones of a pending transaction too`() {
        let rig = Rig(groups: 3)
        rig.connect("A")
        rig.connect("B")
        rig.delegate.act = { if $0 is CXSetMutedCallAction { $0.fulfill() } }
        rig.request(.mute("A"), .tones("A"), .tones("B"))
        #expect(rig.provider.pendingTransactions.map { $0.actions.map(text) } == [["mute A", "tones A", "tones B"]])
        func found(_ type: AnyClass, _ call: Character) -> [String] {
            rig.provider.pendingCallActions(of: type, withCall: .call(call)).map(text)
        }
        #expect(found(CXPlayDTMFCallAction.self, "A") == ["tones A"])
        #expect(found(CXSetMutedCallAction.self, "A") == ["mute A"])
        #expect(found(CXCallAction.self, "A") == ["mute A", "tones A"])
        #expect(found(CXEndCallAction.self, "A") == [])
        rig.provider.pendingCallActions(of: CXPlayDTMFCallAction.self, withCall: .call("A")).forEach { $0.fulfill() }
        rig.provider.pendingCallActions(of: CXPlayDTMFCallAction.self, withCall: .call("B")).forEach { $0.fulfill() }
        #expect(rig.provider.pendingTransactions.isEmpty)
    }

    @Test func `an error is its struct, its code and its bridged NSError`() throws {
        let error: any Error = CXErrorCodeRequestTransactionError(.unknownCallUUID)
        let struct_ = try #require(error as? CXErrorCodeRequestTransactionError)
        #expect(struct_.code == .unknownCallUUID && struct_.errorCode == 4 && struct_.userInfo.isEmpty)
        let optional: (any Error)? = error
        #expect((optional as NSError?)?.code == 4)
        #expect((error as NSError).userInfo.isEmpty)
        #expect(error.localizedDescription.contains("com.apple.CallKit.error.requesttransaction error 4"))
        let plain: any Error = NSError(domain: CXErrorDomainRequestTransaction, code: 4, userInfo: nil)
        #expect(CXErrorCodeRequestTransactionError.unknownCallUUID ~= plain)
        #expect(!(CXErrorCodeRequestTransactionError.emptyTransaction ~= plain))
        #expect(!(CXErrorCodeIncomingCallError.filteredByBlockList ~= plain))
    }
}
