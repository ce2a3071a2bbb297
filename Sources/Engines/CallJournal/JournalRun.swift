import Primitives

/// One run of the program that writes a journal: from `gateway.started` to `gateway.stopped`, or to where it was killed.
///
/// Sequence numbers begin again with each run, and so may the monotonic clock: an event is named by its run and its number, and times of
/// two runs have no place on one axis.
public struct JournalRun: Hashable, Sendable {
    /// Counts from 1 in what was read.
    public let number: Int
    /// `run` of its `gateway.started`; nil where that is missing, and in journals of before.
    public let identifier: Text?
    /// `version` of its `gateway.started`.
    public let version: Text?

    /// - Parameter start: of its `gateway.started`.
    init(number: Int, start: JournalEvent.Details = [:]) {
        (self.number, identifier, version) = (number, start.text(.run), start.text(.version))
    }

    /// The first eight characters of its identifier, else its number.
    public var label: String { identifier.map { String($0.description.prefix(Self.labelLength)) } ?? "\(number)" }

    private static let labelLength = 8

    /// `run.seq`
    public func position(_ sequence: UInt64) -> String { "\(label).\(sequence)" }
}

/// Tells the runs of a journal apart as its events come.
public struct JournalRuns: Sendable {
    /// The run of the last event.
    public private(set) var current = JournalRun(number: 1)
    private var last: UInt64?

    public init() {}

    /// True where another run begins with this event: with `gateway.started`, or where that is missing and the numbers go back.
    @discardableResult
    public mutating func note(_ event: borrowing JournalEvent) -> Bool {
        let isFirst = last == nil, begins = event.kind == .gatewayStarted || last.map { event.sequence <= $0 } ?? false
        last = event.sequence
        guard begins else { return false }
        current = JournalRun(number: isFirst ? 1 : current.number + 1, start: event.kind == .gatewayStarted ? event.details : [:])
        return !isFirst
    }
}
