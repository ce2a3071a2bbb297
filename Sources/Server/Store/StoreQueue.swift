import Gateway

/// Changes that wait for a database that several gateways share, and what the signalling lane knows of it. A value.
///
/// A later change of a row takes the place of an earlier one that still waits: the queue is as long as there are rows. Of lists (a user's
/// registrations, a line's push bindings) only the differences to what the lane knew are written, so that two gateways do not undo each
/// other's changes.
struct StoreQueue {
    /// Rows that may wait; one more is lost.
    static let limit = 50_000

    /// Rows that could not be written, in this run.
    private(set) var lost = 0
    private var waiting: [StoreChange.Key: StoreChange] = [:]
    /// The oldest first. Keys that `waiting` has no more are passed over.
    private var order: [StoreChange.Key] = []
    private var first = 0
    private var underWay: [StoreChange] = []
    /// Rows of a topic that wait or are being written.
    private var counts: [StoreTopic: Int] = [:]
    /// Topics that were changed here since the reading began whose result is still to be taken.
    private var changedSince: Set<StoreTopic>?
    /// Topics to be read again.
    private(set) var unread: Set<StoreTopic> = []
    private var registrations: [String: [String: SavedRegistration]] = [:]
    private var pushBindings: [String: [String: PushBinding]] = [:]

    /// Rows that are not written yet.
    var count: Int { waiting.count + underWay.count }

    // MARK: Changes of ours

    mutating func add(_ change: LineChange) {
        switch change {
        case .recent(let call): insert(.recent(call))
        case .noRecent(let line, let id, let direction): insert(.noRecent(line: line, id: id, direction))
        case .doNotDisturb(let line, let state): insert(.doNotDisturb(line: line, state))
        case .blocked(let line, let caller, let isBlocked): insert(.blocked(line: line, caller: caller, isBlocked))
        case .message(let message): insert(.message(message))
        case .noMessage(let line, let id): insert(.noMessage(line: line, id: id))
        case .dialog(let dialog): insert(.dialog(dialog))
        case .noDialog(let call): insert(.noDialog(call))
        case .trunk(let line, let state): insert(.trunk(line: line, state))
        case .pushBindings(let line, let bindings): add(bindings, of: line)
        case .registrations(let user, let saved): add(saved, of: user)
        }
    }

    private mutating func add(_ bindings: [PushBinding], of line: String) {
        let known = pushBindings[line] ?? [:], wanted = Self.byName(bindings, \.rowName)
        for (name, binding) in known where wanted[name] == nil { insert(.noPushBinding(line: line, binding)) }
        for (name, binding) in wanted where known[name] != binding { insert(.pushBinding(line: line, binding)) }
        pushBindings[line] = wanted.isEmpty ? nil : wanted
    }

    private mutating func add(_ saved: [SavedRegistration], of user: String) {
        let known = registrations[user] ?? [:]
        var wanted = Self.byName(saved, \.rowName)
        for (name, old) in known where wanted[name] == nil { insert(.noRegistration(old)) }
        for (name, new) in wanted {
            if let old = known[name], old.isSame(as: new) { wanted[name] = old } else { insert(.registration(new)) }
        }
        registrations[user] = wanted.isEmpty ? nil : wanted
    }

    private static func byName<Row>(_ rows: [Row], _ name: (Row) -> String) -> [String: Row] {
        Dictionary(rows.map { (name($0), $0) }) { first, _ in first }
    }

    private mutating func insert(_ change: StoreChange) {
        let key = change.key
        if let topic = key.topic { changedSince?.insert(topic) }
        if waiting[key] == nil {
            guard waiting.count < Self.limit else { return lost += 1 }
            order.append(key)
            if let topic = key.topic { counts[topic, default: 0] += 1 }
        }
        waiting[key] = change
    }

    // MARK: Writing

    /// The next rows to be written; until `written` or `giveBack` they are under way.
    mutating func next(_ limit: Int) -> [StoreChange] {
        while underWay.count < limit, first < order.count {
            if let change = waiting.removeValue(forKey: order[first]) { underWay.append(change) }
            first += 1
        }
        if first == order.count || first > Self.limit {
            order.removeFirst(first)
            first = 0
        }
        return underWay
    }

    /// The rows under way are in the database, or are given up.
    mutating func written(lost isLost: Bool = false) {
        if isLost { lost += underWay.count }
        for change in underWay { release(change.key.topic) }
        underWay = []
    }

    /// The rows under way were not written, and wait again, but for those that have changed since.
    mutating func giveBack() {
        let again = underWay
        underWay = []
        var keys: [StoreChange.Key] = []
        for change in again {
            let key = change.key
            if waiting[key] == nil {
                waiting[key] = change
                keys.append(key)
            } else {
                release(key.topic)
            }
        }
        order = keys + order[first...]
        first = 0
    }

    /// All that waits is given up.
    mutating func abandon() {
        giveBack()
        lost += waiting.count
        (waiting, order, first, counts) = ([:], [], 0, [:])
    }

    private mutating func release(_ topic: StoreTopic?) {
        guard let topic else { return }
        let left = (counts[topic] ?? 1) - 1
        counts[topic] = left > 0 ? left : nil
    }

    // MARK: Changes of others

    /// Another gateway has changed this, or what was read of it was not taken.
    mutating func reread(_ topic: StoreTopic) { unread.insert(topic) }

    /// Takes the next thing to read: it is being read from now on. Nil: nothing is to be read, or an earlier reading is still to be taken.
    mutating func nextReading(_ limit: Int) -> [StoreTopic]? {
        guard changedSince == nil, !unread.isEmpty else { return nil }
        let topics = Array(unread.prefix(limit))
        unread.subtract(topics)
        changedSince = []
        return topics
    }

    /// All is being read from now on. False while what was read before is still to be taken.
    mutating func beginReadingAll() -> Bool {
        guard changedSince == nil else { return false }
        changedSince = []
        unread = []
        return true
    }

    /// The reading is over: it was taken, or is of no use.
    mutating func endReading() { changedSince = nil }

    /// The lane is about to take what was read: not where a change of ours came in between.
    mutating func takes(_ update: KeptUpdate) -> Bool {
        if let topic = update.topic, counts[topic] != nil || changedSince?.contains(topic) == true {
            reread(topic)
            return false
        }
        note(update)
        return true
    }

    private mutating func note(_ update: KeptUpdate) {
        switch update {
        case .registrations(let user, let saved): registrations[user] = saved.isEmpty ? nil : Self.byName(saved, \.rowName)
        case .pushBindings(let line, let bindings): pushBindings[line] = bindings.isEmpty ? nil : Self.byName(bindings, \.rowName)
        default: break
        }
    }

    /// The state that the lane starts with.
    mutating func begin(with kept: KeptState) {
        for (user, saved) in Dictionary(grouping: kept.registrations, by: \.user) { note(.registrations(user: user, saved)) }
        for (line, record) in kept.lines { note(.pushBindings(line: line, record.pushBindings)) }
    }
}
