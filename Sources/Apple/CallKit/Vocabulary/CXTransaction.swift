import Foundation

/// Actions that are requested together: accepted or refused as one, performed in their order.
open class CXTransaction: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    public let uuid: UUID
    public private(set) var actions: [CXAction]

    public override init() {
        (uuid, actions) = (IdentifierSource.next(), [])
        super.init()
    }

    public init(actions: [CXAction]) {
        (uuid, self.actions) = (IdentifierSource.next(), actions)
        super.init()
    }

    public convenience init(action: CXAction) { self.init(actions: [action]) }

    init(uuid: UUID, actions: [CXAction]) {
        (self.uuid, self.actions) = (uuid, actions)
        super.init()
    }

    public required init?(coder: NSCoder) {
        let classes: [AnyClass] = [
            NSArray.self, CXAction.self, CXCallAction.self, CXStartCallAction.self, CXAnswerCallAction.self, CXEndCallAction.self,
            CXSetHeldCallAction.self, CXSetMutedCallAction.self, CXSetGroupCallAction.self, CXPlayDTMFCallAction.self,
            CXSetTranslatingCallAction.self,
        ]
        guard let uuid = coder.decodeUUID(forKey: "UUID"),
            let actions = coder.decodeObject(of: classes, forKey: "actions") as? [CXAction]
        else { return nil }
        (self.uuid, self.actions) = (uuid, actions)
        super.init()
    }

    public static var supportsSecureCoding: Bool { true }

    open func encode(with coder: NSCoder) {
        coder.encode(uuid, forKey: "UUID")
        coder.encode(actions as NSArray, forKey: "actions")
    }

    /// A new transaction with its own identity, of copies of the actions.
    open func copy(with zone: NSZone? = nil) -> Any {
        CXTransaction(actions: actions.compactMap { $0.copy() as? CXAction })
    }

    open override var description: String {
        describe([Detail("uuid", uuid), Detail("isComplete", isComplete), Detail("actions", actions)])
    }

    /// All actions are complete; true when there are none.
    open var isComplete: Bool { actions.allSatisfy(\.isComplete) }

    /// Appends an action. Has no effect on a request already made with this transaction.
    open func addAction(_ action: CXAction) { actions.append(action) }
}
