import Foundation

extension NotificationCenter {
    /// Has the selector performed on the observer, which is held weakly, on the thread of each post.
    public func addObserver(_ observer: Any, selector: Selector, name: Notification.Name?, object: Any?) {
        let observation = Observation(center: self, observer: observer as AnyObject, name: name, object: object.map { $0 as AnyObject })
        let token = addObserver(forName: name, object: object, queue: nil) { @Sendable notification in
            guard let observer = observation.observer else { return Observations.shared.remove { $0 === observation } }
            selector.hookswitchPerform(on: observer, [notification])
        }
        observation.token = token
        Observations.shared.add(observation)
    }

    /// Ends what was added for a target and a selector; a token is removed as ever.
    public func removeObserver(_ observer: AnyObject) { removeObserver(observer, name: nil, object: nil) }

    public func removeObserver(_ observer: AnyObject, name: Notification.Name?, object: AnyObject?) {
        let identity = ObjectIdentifier(observer), other = object.map(ObjectIdentifier.init)
        Observations.shared.remove { each in
            each.center === self && each.identity == identity && (name == nil || each.name == name)
                && (other == nil || each.object == other)
        }
        removeObserver(observer as Any, name: name, object: object as Any?)
    }
}

/// One observer with its selector.
private final class Observation: @unchecked Sendable {
    let center: NotificationCenter
    weak var observer: AnyObject?
    /// The observer's also while it goes, when nothing refers to it any more.
    let identity: ObjectIdentifier
    let name: Notification.Name?
    let object: ObjectIdentifier?
    var token: (any NSObjectProtocol)?

    init(center: NotificationCenter, observer: AnyObject, name: Notification.Name?, object: AnyObject?) {
        (self.center, self.observer, identity, self.name) = (center, observer, ObjectIdentifier(observer), name)
        self.object = object.map(ObjectIdentifier.init)
    }
}

private final class Observations: @unchecked Sendable {
    static let shared = Observations()
    private let lock = NSLock()
    private var all: [Observation] = []

    func add(_ observation: Observation) {
        remove { $0.observer == nil }
        lock.withLock { all.append(observation) }
    }

    func remove(where isOver: (Observation) -> Bool) {
        let over = lock.withLock {
            let over = all.filter(isOver)
            all.removeAll { each in over.contains { $0 === each } }
            return over
        }
        for observation in over {
            if let token = observation.token { observation.center.removeObserver(token as Any, name: nil, object: nil) }
        }
    }
}
