/// A change of a row of the database, as far as its cost goes.
enum RowChange: UInt8 {
    /// A binding: others are told.
    case registration
    /// A binding that has run out: the gateway that it registered at takes it away, and tells the others.
    case expiry
    /// A dialog, written or taken away: nobody is told.
    case dialog
    /// A call of the recents that goes on: nobody is told.
    case ongoing
    /// A call of the recents that is over: others are told.
    case recent

    var isTold: Bool { self == .registration || self == .expiry || self == .recent }
    var isRecent: Bool { self == .ongoing || self == .recent }
}

/// A number of changes that are written in one transaction.
struct ChangeBatch: Equatable {
    var rows = 0
    /// Rows that others are told of.
    var told = 0
    /// Rows of recents, and those among them whose lines are trimmed: their calls are over.
    var recents = 0, trims = 0
    /// Rows of bindings.
    var bindings = 0

    /// Rows of dialogs.
    var dialogs: Int { rows - recents - bindings }
}

/// The changes of a gateway that wait for the database: a row has one place, and a row too many is lost. A value, as `StoreQueue` in the
/// gateway.
struct ChangeQueue {
    /// Rows that may wait.
    static let limit = 50_000

    private(set) var lost = 0, added = 0, written = 0
    private var changes: [(change: RowChange, time: Float)] = []
    private var first = 0
    /// The mark of the row at `first`.
    private var firstMark = 0

    var count: Int { changes.count - first }
    /// When the oldest row that waits came, in seconds; nil where none waits.
    var oldest: Double? { first < changes.count ? Double(changes[first].time) : nil }

    /// Puts a row at the end.
    /// - Returns: its mark; nil where it is lost.
    @discardableResult
    mutating func add(_ change: RowChange, at time: Double) -> Int? {
        added += 1
        guard count < Self.limit else {
            lost += 1
            return nil
        }
        changes.append((change, Float(time)))
        return firstMark + count - 1
    }

    /// Puts a later change of a row in the place of one that still waits.
    /// - Returns: false where it waits no longer.
    mutating func replace(_ mark: Int, by change: RowChange) -> Bool {
        guard mark >= firstMark else { return false }
        changes[first + mark - firstMark].change = change
        return true
    }

    /// Takes the oldest rows away: they are written.
    mutating func next(_ limit: Int) -> ChangeBatch {
        var batch = ChangeBatch()
        for (change, _) in changes[first...].prefix(limit) {
            batch.rows += 1
            if change == .registration || change == .expiry { batch.bindings += 1 }
            if change.isTold { batch.told += 1 }
            if change.isRecent { batch.recents += 1 }
            if change == .recent { batch.trims += 1 }
        }
        first += batch.rows
        firstMark += batch.rows
        written += batch.rows
        if first == changes.count || first > Self.limit {
            changes.removeFirst(first)
            first = 0
        }
        return batch
    }
}
