/// The entries of an extension in one load, as a value.
///
/// Full, unless `isIncremental` was read before the first entry and was true: then everything is relative to the load
/// before, removals apply to that, and additions come on top.
struct CallDirectoryRequest {
    typealias Failure = CallDirectoryBuilder.Failure
    typealias Number = CXCallDirectoryPhoneNumber

    /// The numbers to take away from one of the two lists.
    private struct Removals {
        var isEverything = false
        var numbers: [Number] = []
    }

    /// The entries that the last load left; nil before the first.
    private let base: CallDirectoryData?
    private var additions: CallDirectoryBuilder
    private var unblocked = Removals()
    private var unidentified = Removals()
    private var hasBegun = false
    private var isRelative = false

    init(base: CallDirectoryData?, limits: CallDirectoryLimits) {
        self.base = base
        additions = CallDirectoryBuilder(limits: limits)
    }

    /// Reading this is the extension's promise to go by it.
    mutating func readIncremental() -> Bool {
        if !hasBegun { isRelative = base != nil }
        return isRelative
    }

    mutating func block(_ number: Number) throws(Failure) {
        hasBegun = true
        try additions.block(number)
    }

    mutating func identify(_ number: Number, label: String) throws(Failure) {
        hasBegun = true
        try additions.identify(number, label: label)
    }

    mutating func unblock(_ number: Number) throws(Failure) {
        try remove(number, of: \.blocked, from: \.unblocked)
    }

    mutating func unidentify(_ number: Number) throws(Failure) {
        try remove(number, of: \.identified, from: \.unidentified)
    }

    mutating func unblockAll() throws(Failure) { try removeAll(\.unblocked) }
    mutating func unidentifyAll() throws(Failure) { try removeAll(\.unidentified) }

    private mutating func remove(
        _ number: Number, of list: KeyPath<CallDirectoryData, PackedNumbers>, from removals: WritableKeyPath<Self, Removals>
    ) throws(Failure) {
        hasBegun = true
        // More removals than numbers: some are there twice, and the list stays bounded.
        guard isRelative, let base, !self[keyPath: removals].isEverything, base[keyPath: list].contains(number),
            self[keyPath: removals].numbers.count < base[keyPath: list].count
        else { throw Failure(.unexpectedIncrementalRemoval) }
        self[keyPath: removals].numbers.append(number)
    }

    private mutating func removeAll(_ removals: WritableKeyPath<Self, Removals>) throws(Failure) {
        hasBegun = true
        guard isRelative else { throw Failure(.unexpectedIncrementalRemoval) }
        self[keyPath: removals] = Removals(isEverything: true)
    }

    /// The directory as it is after this load.
    func finish() throws(Failure) -> CallDirectoryData {
        guard isRelative, let base else { return additions.build() }
        let additions = additions.build()
        var merged = CallDirectoryBuilder(limits: self.additions.limits)
        try mergeBlocked(base, additions, into: &merged)
        try mergeIdentified(base, additions, into: &merged)
        return merged.build()
    }

    private func mergeBlocked(
        _ base: CallDirectoryData, _ additions: CallDirectoryData, into merged: inout CallDirectoryBuilder
    ) throws(Failure) {
        var kept = try Remainder(of: base.blocked, unblocked)
        var added = PackedNumbers.Cursor()
        var (old, new) = (kept.next(), added.next(in: additions.blocked))
        while old != nil || new != nil {
            if let number = old, number <= new ?? .max {
                try merged.block(number)
                old = kept.next()
            } else if let number = new {
                try merged.block(number)
                new = added.next(in: additions.blocked)
            }
        }
    }

    /// Merges the identified numbers. For one number the labels that were there come first.
    private func mergeIdentified(
        _ base: CallDirectoryData, _ additions: CallDirectoryData, into merged: inout CallDirectoryBuilder
    ) throws(Failure) {
        var kept = try Remainder(of: base.identified, unidentified)
        var added = PackedNumbers.Cursor()
        var (old, new) = (kept.next(), added.next(in: additions.identified))
        while old != nil || new != nil {
            if let number = old, number <= new ?? .max {
                try merged.identify(number, utf8: base.labels.utf8(at: base.places[kept.index - 1]))
                old = kept.next()
            } else if let number = new {
                try merged.identify(number, utf8: additions.labels.utf8(at: additions.places[added.index - 1]))
                new = added.next(in: additions.identified)
            }
        }
    }

    /// The numbers of a list that stay.
    private struct Remainder {
        private let numbers: PackedNumbers
        private let removed: [Number]
        private var cursor = PackedNumbers.Cursor()
        private var passed = 0

        init(of numbers: PackedNumbers, _ removals: Removals) throws(Failure) {
            self.numbers = removals.isEverything ? PackedNumbers() : numbers
            removed = removals.numbers.sorted()
            for (number, following) in zip(removed, removed.dropFirst()) where number == following {
                throw Failure(.unexpectedIncrementalRemoval)
            }
        }

        /// The place after the number that `next` gave last.
        var index: Int { cursor.index }

        mutating func next() -> Number? {
            while let number = cursor.next(in: numbers) {
                while passed < removed.count, removed[passed] < number { passed += 1 }
                if passed == removed.count || removed[passed] != number { return number }
            }
            return nil
        }
    }
}
