import CallKit
import Foundation

/// Hold a conversation, or take it back.
public final class PauseConversationAction: ConversationAction, @unchecked Sendable {
    /// False takes it back.
    public let isPaused: Bool

    public convenience init(conversationUUID: UUID, isPaused: Bool) {
        self.init(CXSetHeldCallAction(call: conversationUUID, onHold: isPaused))
    }

    init(_ action: CXSetHeldCallAction) {
        isPaused = action.isOnHold
        super.init(action)
    }
}

/// Mute the microphone in a conversation, or take that back.
public final class MuteConversationAction: ConversationAction, @unchecked Sendable {
    /// Whether the microphone is to be muted. The other side stays audible.
    public let isMuted: Bool

    public convenience init(conversationUUID: UUID, isMuted: Bool) {
        self.init(CXSetMutedCallAction(call: conversationUUID, muted: isMuted))
    }

    init(_ action: CXSetMutedCallAction) {
        isMuted = action.isMuted
        super.init(action)
    }
}

/// Make one of two conversations.
public final class MergeConversationAction: ConversationAction, @unchecked Sendable {
    /// The other one.
    public let conversationUUIDToMergeWith: UUID

    public convenience init(conversationUUID: UUID, conversationUUIDToMergeWith: UUID) {
        let action = CXSetGroupCallAction(call: conversationUUID, callUUIDToGroupWith: conversationUUIDToMergeWith)
        self.init(action, with: conversationUUIDToMergeWith)
    }

    init(_ action: CXSetGroupCallAction, with other: UUID) {
        conversationUUIDToMergeWith = other
        super.init(action)
    }
}

/// Take a conversation out of those that it was merged with.
public final class UnmergeConversationAction: ConversationAction, @unchecked Sendable {
    public convenience init(conversationUUID: UUID) {
        self.init(CXSetGroupCallAction(call: conversationUUID, callUUIDToGroupWith: nil))
    }

    init(_ action: CXSetGroupCallAction) { super.init(action) }
}

/// Play telephone tones into a conversation.
public final class PlayToneAction: ConversationAction, @unchecked Sendable {
    /// Occasions of tones.
    public enum Tone: Int, Hashable, Codable, Sendable {
        /// The user tapped a digit on the keypad.
        case single
        /// Digits after a soft pause (`,`) in the dialled string.
        case softPause
        /// Digits after a hard pause (`;`) in the dialled string.
        case hardPause
    }

    /// The keys in their order: 0–9, `*`, `#` and A–D.
    public let digits: String
    /// The occasion.
    public let tone: Tone

    public convenience init(conversationUUID: UUID, digits: String, tone: Tone) {
        self.init(CXPlayDTMFCallAction(call: conversationUUID, digits: digits, type: tone.cxType))
    }

    init(_ action: CXPlayDTMFCallAction) {
        (digits, tone) = (action.digits, Tone(action.type))
        super.init(action)
    }
}

extension PlayToneAction.Tone {
    init(_ type: CXPlayDTMFCallAction.ActionType) {
        switch type {
        case .singleTone: self = .single
        case .softPause: self = .softPause
        case .hardPause: self = .hardPause
        }
    }

    var cxType: CXPlayDTMFCallAction.ActionType {
        switch self {
        case .single: .singleTone
        case .softPause: .softPause
        case .hardPause: .hardPause
        }
    }
}

/// Begin or end the translation of a conversation.
public final class SetTranslatingAction: ConversationAction, @unchecked Sendable {
    /// Engines that translate.
    public enum TranslationEngine: Hashable, Sendable {
        /// The system's own.
        case `default`
        /// The app's.
        case custom
    }

    /// False ends it.
    public let isTranslating: Bool
    public let localLanguage: Locale.Language
    public let remoteLanguage: Locale.Language
    private let translation: CXSetTranslatingCallAction

    public convenience init(
        conversationID: UUID, isTranslating: Bool, localLanguage: Locale.Language, remoteLanguage: Locale.Language
    ) {
        self.init(
            CXSetTranslatingCallAction(
                call: conversationID, isTranslating: isTranslating, localLanguage: localLanguage.maximalIdentifier,
                remoteLanguage: remoteLanguage.maximalIdentifier))
    }

    init(_ action: CXSetTranslatingCallAction) {
        (translation, isTranslating) = (action, action.isTranslating)
        localLanguage = Locale.Language(identifier: action.localLanguage)
        remoteLanguage = Locale.Language(identifier: action.remoteLanguage)
        super.init(action)
    }

    /// Done, by this engine. Plain `fulfill()` means the system's.
    public func fulfill(using engine: TranslationEngine) {
        complete(.complete) { translation.fulfill(using: engine == .custom ? .custom : .default) }
    }
}
