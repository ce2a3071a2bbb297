import Foundation

/// The settings by which a provider's calls are presented and limited.
open class CXProviderConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// The name of the app that is shown with a call. nil: none was given.
    public private(set) var localizedName: String?
    /// The name of a sound file of the app that rings for its calls; nil: the system’s ringtone. Here it is told to the screen of a
    /// sample app, and nothing plays it.
    open var ringtoneSound: String?
    /// A picture as PNG, of which the alpha channel alone counts; nil: none. Nothing here draws it.
    open var iconTemplateImageData: Data?
    /// The most call groups at a time; a call that is in no group of several is a group of its own.
    open var maximumCallGroups = 2
    /// The most calls in one group.
    open var maximumCallsPerCallGroup = 5
    /// Whether calls are listed in the recents. True unless it is set.
    open var includesCallsInRecents = true
    /// Whether calls may have video. Here a call has sound alone, and this is only told on.
    open var supportsVideo = false
    /// The kinds of addresses that the app can call back. Empty at first: then no entry of the recents can be called.
    open var supportedHandleTypes: Set<CXHandle.HandleType> = []
    /// Whether calls can be translated. Where not, a `CXSetTranslatingCallAction` is refused.
    open var supportsAudioTranslation = false

    public override init() { super.init() }

    /// With this name, and all else as it is without one.
    public convenience init(localizedName: String) {
        self.init()
        self.localizedName = localizedName
    }

    /// A configuration of its own, with the same values. A provider takes one when it is given a configuration.
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
