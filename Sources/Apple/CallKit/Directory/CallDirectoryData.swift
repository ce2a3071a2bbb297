/// The entries of one call directory, packed: immutable, shared by all telephones that enabled it.
///
/// A lookup is a binary search over a thirty-second of the numbers, then one or two short blocks; it takes no lock.
public struct CallDirectoryData: Sendable {
    let blocked: PackedNumbers
    let identified: PackedNumbers
    /// The place of the label of each identified number.
    let places: [UInt32]
    let labels: LabelArena

    /// Without entries.
    public init() { self = CallDirectoryBuilder(limits: CallDirectoryLimits()).build() }

    init(blocked: PackedNumbers, identified: PackedNumbers, places: [UInt32], labels: LabelArena) {
        (self.blocked, self.identified, self.places, self.labels) = (blocked, identified, places, labels)
    }

    public var blockedCount: Int { blocked.count }
    public var identifiedCount: Int { identified.count }
    /// Bytes in memory, about.
    public var footprint: Int { blocked.footprint + identified.footprint + 4 * places.count + labels.footprint }

    public func isBlocked(_ number: CXCallDirectoryPhoneNumber) -> Bool { blocked.contains(number) }

    /// The label of a number; of several, the one that was added first.
    public func label(of number: CXCallDirectoryPhoneNumber) -> String? {
        identified.firstIndex(of: number).map { labels.label(at: places[$0]) }
    }

    /// The blocked numbers, ascending; for who writes them down.
    public func forEachBlocked(_ body: (CXCallDirectoryPhoneNumber) throws -> Void) rethrows {
        var cursor = PackedNumbers.Cursor()
        while let number = cursor.next(in: blocked) { try body(number) }
    }

    /// The identified numbers with their labels, ascending.
    public func forEachIdentified(_ body: (CXCallDirectoryPhoneNumber, String) throws -> Void) rethrows {
        var cursor = PackedNumbers.Cursor()
        while let number = cursor.next(in: identified) { try body(number, labels.label(at: places[cursor.index - 1])) }
    }
}

/// The limits on what a call directory may hold, and on the time it may take to load.
public struct CallDirectoryLimits: Sendable {
    /// Blocked and identified numbers together.
    public var entries = 20_000_000
    /// Bytes of all different labels together.
    public var labelBytes = 1 << 30
    /// Labels of one number.
    public var labelsPerNumber = 64
    /// A load that is not over by then is interrupted.
    public var loadTime = Duration.seconds(600)

    public init() {}
}

/// Makes a directory's data entry by entry, in ascending order, in memory bounded by what it makes.
public struct CallDirectoryBuilder {
    public typealias Failure = CXErrorCodeCallDirectoryManagerError

    let limits: CallDirectoryLimits
    private var blocked = PackedNumbers()
    private var identified = PackedNumbers()
    private var places: [UInt32] = []
    private var index = LabelIndex()

    public init(limits: CallDirectoryLimits) { self.limits = limits }

    public var count: Int { blocked.count + identified.count }

    /// Adds a blocked number, greater than all before: `entriesOutOfOrder`, `duplicateEntries` or `maximumEntriesExceeded`.
    public mutating func block(_ number: CXCallDirectoryPhoneNumber) throws(Failure) {
        try check(number, after: blocked.last)
        guard number != blocked.last else { throw Failure(.duplicateEntries) }
        blocked.append(number)
    }

    /// Adds a label to a number that is not less than all before. One number may have several different labels.
    public mutating func identify(_ number: CXCallDirectoryPhoneNumber, label: String) throws(Failure) {
        try identify(number, utf8: label.utf8)
    }

    mutating func identify(_ number: CXCallDirectoryPhoneNumber, utf8: some Collection<UInt8>) throws(Failure) {
        try check(number, after: identified.last)
        guard let place = index.intern(utf8, limit: limits.labelBytes) else { throw Failure(.maximumEntriesExceeded) }
        if number == identified.last {
            let run = identified.firstIndex(of: number) ?? identified.count
            guard !places[run...].contains(place) else { throw Failure(.duplicateEntries) }
            guard places.count - run < limits.labelsPerNumber else { throw Failure(.maximumEntriesExceeded) }
        }
        identified.append(number)
        places.append(place)
    }

    private func check(_ number: CXCallDirectoryPhoneNumber, after last: CXCallDirectoryPhoneNumber?) throws(Failure) {
        guard number >= last ?? 0, number <= CXCallDirectoryPhoneNumberMax else { throw Failure(.entriesOutOfOrder) }
        guard count < limits.entries else { throw Failure(.maximumEntriesExceeded) }
    }

    public func build() -> CallDirectoryData {
        CallDirectoryData(blocked: blocked, identified: identified, places: places, labels: index.arena)
    }
}
