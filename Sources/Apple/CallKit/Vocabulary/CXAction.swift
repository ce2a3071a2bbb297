import Foundation
import Primitives

/// One thing that the system asks the app to do. Abstract: apps use the subclasses of `CXCallAction`.
///
/// An action is completed once, by `fulfill`, `fail` or its deadline; whatever comes later changes nothing. Completing an action that no
/// system holds (never requested, refused, already complete) has no effect. Completing is safe from any thread (in the system of one of the
/// gateway's lines: on the signalling lane alone); the settable properties are the requester's until the action is requested.
open class CXAction: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The action's own identity, not the call's. Kept by copies.
    public let uuid: UUID
    let created: Date
    private let custody: Locked<Custody>

    public override init() {
        (uuid, created) = (IdentifierSource.next(), Date())
        custody = Locked(Custody())
        super.init()
    }

    init(uuid: UUID) {
        (self.uuid, created) = (uuid, Date())
        custody = Locked(Custody())
        super.init()
    }

    init(copying other: CXAction) {
        (uuid, created) = (other.uuid, other.created)
        custody = Locked(Custody(isComplete: other.isComplete))
        super.init()
    }

    /// Decodes one that `encode(with:)` has written; nil where its UUID is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        guard let uuid = coder.decodeUUID(forKey: "UUID") else { return nil }
        (self.uuid, created) = (uuid, Date())
        custody = Locked(Custody())
        super.init()
    }

    /// True.
    public static var supportsSecureCoding: Bool { true }
    /// Encodes the identity. Whether the action is complete is not encoded.
    open func encode(with coder: NSCoder) { coder.encode(uuid, forKey: "UUID") }
    /// A copy with the same identity, complete if this one is. Only the one that was requested can be completed.
    open func copy(with zone: NSZone? = nil) -> Any { CXAction(copying: self) }

    /// Whether the system regards the action as done: fulfilled, failed, timed out, or void because its call has ended.
    open var isComplete: Bool { custody.withLock { $0.isComplete } }

    /// When the system fails the action by itself: 600 s after its creation for a start, 60 s for an answer, 5 s for the rest.
    open var timeoutDate: Date { custody.withLock { $0.timeoutDate } ?? created.addingTimeInterval(Self.limit) }

    /// The app has done it.
    open func fulfill() { complete(fulfilled: true, date: nil) }

    /// The app could not do it.
    open func fail() { complete(fulfilled: false, date: nil) }

    /// Class, identity, call, what is to be done, and whether it is complete.
    open override var description: String { describe(details + [Detail("isComplete", isComplete)]) }

    /// The details in the description, but for completion.
    var details: [Detail] { [Detail("uuid", uuid)] }

    /// Seconds from creation to the deadline.
    class var limit: TimeInterval { 5 }

    final func complete(fulfilled: Bool, date: Date?, engine: CXTranslationEngine = .default) {
        let completion = ActionCompletion(isFulfilled: fulfilled, date: date, engine: engine)
        custody.withLock { $0.isComplete ? nil : $0.holder }?.complete(uuid, completion)
    }
}

// MARK: - Who holds it

extension CXAction {
    struct Custody {
        weak var holder: CallSystem?
        var isComplete = false
        var timeoutDate: Date?
    }

    /// Takes the action for `system`. False when it is complete or another request has it.
    final func claim(for system: CallSystem) -> Bool {
        custody.withLock {
            guard !$0.isComplete, $0.holder == nil else { return false }
            $0.holder = system
            return true
        }
    }

    /// The request was refused: the action is free to be used again.
    final func release() { custody.withLock { $0.holder = nil } }

    final func hold(until timeoutDate: Date) { custody.withLock { $0.timeoutDate = timeoutDate } }

    final func markComplete() {
        custody.withLock {
            $0.isComplete = true
            $0.holder = nil
        }
    }
}

/// An action on one call. Abstract.
open class CXCallAction: CXAction, @unchecked Sendable {
    /// The call that is acted on.
    public let callUUID: UUID

    /// Not complete, with a new identity. The time limit begins now.
    public init(call callUUID: UUID) {
        self.callUUID = callUUID
        super.init()
    }

    init(call callUUID: UUID, uuid: UUID) {
        self.callUUID = callUUID
        super.init(uuid: uuid)
    }

    init(copying other: CXCallAction) {
        callUUID = other.callUUID
        super.init(copying: other)
    }

    /// Decodes one that `encode(with:)` has written; nil where a value is missing. It is not complete, and gets a new time limit.
    public required init?(coder: NSCoder) {
        guard let callUUID = coder.decodeUUID(forKey: "callUUID") else { return nil }
        self.callUUID = callUUID
        super.init(coder: coder)
    }

    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(callUUID, forKey: "callUUID")
    }

    open override func copy(with zone: NSZone? = nil) -> Any { CXCallAction(copying: self) }
    override var details: [Detail] { super.details + [Detail("callUUID", callUUID)] }
}

extension NSCoder {
    func encode(_ uuid: UUID, forKey key: String) { encode(uuid as NSUUID, forKey: key) }

    func decodeUUID(forKey key: String) -> UUID? {
        decodeObject(of: NSUUID.self, forKey: key).map { $0 as UUID }
    }
}
