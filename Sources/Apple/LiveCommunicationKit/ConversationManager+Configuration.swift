import CallKit
import Foundation

extension ConversationManager {
    /// The settings by which a manager's conversations are presented and limited.
    public struct Configuration: Sendable {
        /// The name of a sound file of the app; nil: the system's ringtone. Nothing here plays it.
        public var ringtoneName: String?
        /// A picture as PNG; nil: none. Nothing here draws it.
        public var iconTemplateImageData: Data?
        /// The most groups at a time; a conversation that is merged with none is a group of its own.
        public var maximumConversationGroups: Int
        /// The most conversations that are merged.
        public var maximumConversationsPerConversationGroup: Int
        public var includesConversationInRecents: Bool
        public var supportsVideo: Bool
        /// The kinds of addresses that the app can call back.
        public var supportedHandleTypes: Set<Handle.Kind>
        /// Whether conversations can be translated. False unless it is set; where not, a `SetTranslatingAction` is refused.
        public var supportsAudioTranslation = false

        public init(
            ringtoneName: String?, iconTemplateImageData: Data?, maximumConversationGroups: Int,
            maximumConversationsPerConversationGroup: Int, includesConversationInRecents: Bool, supportsVideo: Bool,
            supportedHandleTypes: Set<Handle.Kind>
        ) {
            (self.ringtoneName, self.iconTemplateImageData) = (ringtoneName, iconTemplateImageData)
            self.maximumConversationGroups = maximumConversationGroups
            self.maximumConversationsPerConversationGroup = maximumConversationsPerConversationGroup
            self.includesConversationInRecents = includesConversationInRecents
            (self.supportsVideo, self.supportedHandleTypes) = (supportsVideo, supportedHandleTypes)
        }

        public init(
            ringtoneName: String?, iconTemplateImageData: Data?, maximumConversationGroups: Int,
            maximumConversationsPerConversationGroup: Int, includesConversationInRecents: Bool, supportsVideo: Bool,
            supportedHandleTypes: Set<Handle.Kind>, supportsAudioTranslation: Bool
        ) {
            self.init(
                ringtoneName: ringtoneName, iconTemplateImageData: iconTemplateImageData,
                maximumConversationGroups: maximumConversationGroups,
                maximumConversationsPerConversationGroup: maximumConversationsPerConversationGroup,
                includesConversationInRecents: includesConversationInRecents, supportsVideo: supportsVideo,
                supportedHandleTypes: supportedHandleTypes)
            self.supportsAudioTranslation = supportsAudioTranslation
        }

        var cxConfiguration: CXProviderConfiguration {
            let configuration = CXProviderConfiguration()
            configuration.ringtoneSound = ringtoneName
            configuration.iconTemplateImageData = iconTemplateImageData
            configuration.maximumCallGroups = maximumConversationGroups
            configuration.maximumCallsPerCallGroup = maximumConversationsPerConversationGroup
            configuration.includesCallsInRecents = includesConversationInRecents
            configuration.supportsVideo = supportsVideo
            configuration.supportedHandleTypes = Set(supportedHandleTypes.map(\.cxType))
            configuration.supportsAudioTranslation = supportsAudioTranslation
            return configuration
        }
    }
}
