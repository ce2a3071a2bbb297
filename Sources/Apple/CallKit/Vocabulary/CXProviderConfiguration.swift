import Foundation

/// How a provider's calls are presented and limited.
open class CXProviderConfiguration: NSObject, NSCopying, @unchecked Sendable {
    public private(set) var localizedName: String?
    open var ringtoneSound: String?
    open var iconTemplateImageData: Data?
    /// The most call groups at a time; a call that is in no group of several is a group of its own.
    open var maximumCallGroups = 2
    /// The most calls in one group.
    open var maximumCallsPerCallGroup = 5
    open var includesCallsInRecents = true
    open var supportsVideo = false
    open var supportedHandleTypes: Set<CXHandle.HandleType> = []
    open var supportsAudioTranslation = false

    public override init() { super.init() }

    public convenience init(localizedName: String) {
        self.init()
        self.localizedName = localizedName
    }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CXProviderConfiguration()
        copy.localizedName = localizedName
        copy.ringtoneSound = ringtoneSound
        copy.iconTemplateImageData = iconTemplateImageData
        copy.maximumCallGroups = maximumCallGroups
        copy.maximumCallsPerCallGroup = maximumCallsPerCallGroup
        copy.includesCallsInRecents = includesCallsInRecents
        copy.supportsVideo = supportsVideo
        copy.supportedHandleTypes = supportedHandleTypes
        copy.supportsAudioTranslation = supportsAudioTranslation
        return copy
    }

    var snapshot: CXProviderConfiguration { copy() as? CXProviderConfiguration ?? self }
}
