import Foundation

/// Put a call on hold, or take it back.
open class CXSetHeldCallAction: CXCallAction, @unchecked Sendable {
    /// Whether the call is to be held; false resumes it.
    open var isOnHold: Bool

    /// A wish for the provider of that call. A hold is refused where the call does not support it; a resume never is.
    public init(call callUUID: UUID, onHold: Bool) {
        isOnHold = onHold
        super.init(call: callUUID)
    }

    init(call callUUID: UUID, onHold: Bool, uuid: UUID) {
        isOnHold = onHold
        super.init(call: callUUID, uuid: uuid)
    }

    init(copying other: CXSetHeldCallAction) {
        isOnHold = other.isOnHold
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        isOnHold = coder.decodeBool(forKey: "onHold")
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(isOnHold, forKey: "onHold")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXSetHeldCallAction(copying: self) }
    override var details: [Detail] { super.details + [Detail("isOnHold", isOnHold)] }
}

/// Mute a call's outgoing audio, or take that back.
open class CXSetMutedCallAction: CXCallAction, @unchecked Sendable {
    /// Whether the microphone is to be muted. What the other party says stays audible.
    open var isMuted: Bool

    /// A wish for the provider of that call.
    public init(call callUUID: UUID, muted: Bool) {
        isMuted = muted
        super.init(call: callUUID)
    }

    init(copying other: CXSetMutedCallAction) {
        isMuted = other.isMuted
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        isMuted = coder.decodeBool(forKey: "muted")
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(isMuted, forKey: "muted")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXSetMutedCallAction(copying: self) }
    override var details: [Detail] { super.details + [Detail("isMuted", isMuted)] }
}

/// Join the group of another call, leaving the present group if necessary; nil leaves any group.
open class CXSetGroupCallAction: CXCallAction, @unchecked Sendable {
    /// A call of the group to join; nil: the call is to be a group of its own.
    open var callUUIDToGroupWith: UUID?

    /// A wish for the provider of both calls. It is refused where the group would become larger than the provider’s limit.
    public init(call callUUID: UUID, callUUIDToGroupWith: UUID?) {
        self.callUUIDToGroupWith = callUUIDToGroupWith
        super.init(call: callUUID)
    }

    init(copying other: CXSetGroupCallAction) {
        callUUIDToGroupWith = other.callUUIDToGroupWith
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        let key = "callUUIDToGroupWith"
        callUUIDToGroupWith = coder.containsValue(forKey: key) ? coder.decodeUUID(forKey: key) : nil
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        if let callUUIDToGroupWith { coder.encode(callUUIDToGroupWith, forKey: "callUUIDToGroupWith") }
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXSetGroupCallAction(copying: self) }
    override var details: [Detail] { super.details + [Detail("callUUIDToGroupWith", callUUIDToGroupWith?.uuidString ?? "nil")] }
}

/// Play telephone tones into a call.
open class CXPlayDTMFCallAction: CXCallAction, @unchecked Sendable {
    /// The occasion of the tones.
    public enum ActionType: Int, Sendable {
        /// The user tapped a digit on the keypad.
        case singleTone = 1
        /// Digits after a soft pause (`,`) in the dialled string.
        case softPause = 2
        /// Digits after a hard pause (`;`) in the dialled string.
        case hardPause = 3
    }

    /// The keys in their order: 0–9, `*`, `#` and A–D.
    open var digits: String
    /// The occasion.
    open var type: ActionType

    /// A wish for the provider of that call. It is refused where the call does not support DTMF.
    public init(call callUUID: UUID, digits: String, type: ActionType) {
        (self.digits, self.type) = (digits, type)
        super.init(call: callUUID)
    }

    init(copying other: CXPlayDTMFCallAction) {
        (digits, type) = (other.digits, other.type)
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing or unknown. It is not complete, and gets a new time
    /// limit.
    public required init?(coder: NSCoder) {
        guard let digits = coder.decodeObject(of: NSString.self, forKey: "digits"),
            let type = ActionType(rawValue: coder.decodeInteger(forKey: "type"))
        else { return nil }
        (self.digits, self.type) = (digits as String, type)
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(digits as NSString, forKey: "digits")
        coder.encode(type.rawValue, forKey: "type")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXPlayDTMFCallAction(copying: self) }
    override var details: [Detail] { super.details + [Detail("digits", digits), Detail("type", type)] }
}
