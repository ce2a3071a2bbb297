import Foundation

/// Place a call. Fulfilled when the invitation has been sent to the remote party.
open class CXStartCallAction: CXCallAction, @unchecked Sendable {
    /// The address to call.
    open var handle: CXHandle
    /// The identifier of the called person in the user’s contacts; nil: unknown.
    open var contactIdentifier: String?
    /// Whether the call is to have video. Here it has sound alone.
    open var isVideo = false

    /// A wish for a new call. It is refused where a call of that UUID exists, or where the provider has as many groups as it may have.
    public init(call callUUID: UUID, handle: CXHandle) {
        self.handle = handle
        super.init(call: callUUID)
    }

    init(copying other: CXStartCallAction) {
        (handle, contactIdentifier, isVideo) = (other.handle, other.contactIdentifier, other.isVideo)
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        guard let handle = coder.decodeObject(of: CXHandle.self, forKey: "handle") else { return nil }
        self.handle = handle
        contactIdentifier = coder.decodeObject(of: NSString.self, forKey: "contactIdentifier").map { $0 as String }
        isVideo = coder.decodeBool(forKey: "isVideo")
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(handle, forKey: "handle")
        coder.encode(contactIdentifier.map { $0 as NSString }, forKey: "contactIdentifier")
        coder.encode(isVideo, forKey: "isVideo")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXStartCallAction(copying: self) }
    override var details: [Detail] {
        super.details + [Detail("handle", handle)] + (contactIdentifier.map { [Detail("contactIdentifier", $0)] } ?? []) + [
            Detail("isVideo", isVideo)
        ]
    }
    override class var limit: TimeInterval { 600 }

    /// The invitation left at `dateStarted`.
    open func fulfill(withDateStarted dateStarted: Date) { complete(fulfilled: true, date: dateStarted) }
}

/// Answer an incoming call. Fulfilled when both parties can start communicating.
open class CXAnswerCallAction: CXCallAction, @unchecked Sendable {
    open override func copy(with zone: NSZone? = nil) -> Any { CXAnswerCallAction(copying: self) }
    override class var limit: TimeInterval { 60 }

    /// The call was connected at `dateConnected`.
    open func fulfill(withDateConnected dateConnected: Date) { complete(fulfilled: true, date: dateConnected) }
}

/// End a call, or decline one that rings.
open class CXEndCallAction: CXCallAction, @unchecked Sendable {
    open override func copy(with zone: NSZone? = nil) -> Any { CXEndCallAction(copying: self) }

    /// The call was over at `dateEnded`.
    open func fulfill(withDateEnded dateEnded: Date) { complete(fulfilled: true, date: dateEnded) }
}
