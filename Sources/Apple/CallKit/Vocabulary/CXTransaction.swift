import Foundation

/// Actions that are requested together: accepted or refused as one, performed in their order.
open class CXTransaction: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The identity of the transaction. A copy has another one.
    public let uuid: UUID
    /// In the order in which they are performed.
    public private(set) var actions: [CXAction]

    public override init() {
        (uuid, actions) = (IdentifierSource.next(), [])
        super.init()
    }

    /// A transaction of these actions. Without any it is refused when it is requested.
    public init(actions: [CXAction]) {
        (uuid, self.actions) = (IdentifierSource.next(), actions)
        super.init()
    }

    /// A transaction of one action.
    public convenience init(action: CXAction) { self.init(actions: [action]) }

    init(uuid: UUID, actions: [CXAction]) {
        (self.uuid, self.actions) = (uuid, actions)
        super.init()
    }

    /// Decodes one that `encode(with:)` has written; nil where something is missing or of another class.
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

    /// True.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the identity and the actions.
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
