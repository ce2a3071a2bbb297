import Foundation

/// Something that the user wants an app to go on with. On Apple systems part of Foundation.
open class NSUserActivity: NSObject, @unchecked Sendable {
    public let activityType: String
    open var title: String?
    open var userInfo: [AnyHashable: Any]?
    open var webpageURL: URL?
    /// The intent behind it.
    open private(set) var interaction: INInteraction?

    // The app's wishes alone: there is no other device, and nothing that searches or suggests.
    open var isEligibleForHandoff = true
    open var isEligibleForSearch = false
    open var isEligibleForPrediction = false

    public init(activityType: String) {
        self.activityType = activityType
        super.init()
    }

    /// For hosts and tests: an activity as the recents make it; on Apple systems only the system makes these.
    public init(hookswitch interaction: INInteraction) {
        activityType = "\(type(of: interaction.intent))"
        super.init()
        self.interaction = interaction
    }

    open func addUserInfoEntries(from otherDictionary: [AnyHashable: Any]) {
        userInfo = (userInfo ?? [:]).merging(otherDictionary) { $1 }
    }

    /// Has no effect: nobody is there whom the activity could be offered to. The two others have none either.
    open func becomeCurrent() {}
    open func resignCurrent() {}
    open func invalidate() {}
}
