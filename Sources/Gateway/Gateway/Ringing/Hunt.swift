import Primitives

/// A line that rings others: all of them, some later than the others, or one after the other.
public struct RingGroup: Sendable, Equatable {
    /// A number of the ring group.
    public struct Member: Sendable, Equatable {
        /// The number of a line with devices, or of a trunk.
        public var number: Text
        /// The time after the first member at which it begins to ring; not for those that ring in turn.
        public var delay: Duration

        public init(_ number: Text, delay: Duration = .zero) { (self.number, self.delay) = (number, delay) }
    }

    /// In which order members ring.
    public enum Strategy: Sendable, Equatable {
        case all
        /// Each rings for so long, and then the next.
        case inTurn(Duration)
    }

    /// In the order of the configuration.
    public var members: [Member]
    /// In which order they ring.
    public var strategy: Strategy

    public init(_ members: [Member], _ strategy: Strategy = .all) { (self.members, self.strategy) = (members, strategy) }
}

/// The order in which members of a ring group ring: a value that is asked for the next stage when the time of the last is over, or when
/// nobody of it is left.
struct Hunt {
    struct Stage: Equatable {
        var members: [Text]
        /// Those of the stages before stop ringing.
        var endsOthers: Bool
        /// The time until the next stage; nil for the last.
        var next: Duration?
    }

    private var stages: [Stage]

    init(_ group: RingGroup) {
        switch group.strategy {
        case .inTurn(let time): stages = group.members.map { Stage(members: [$0.number], endsOthers: true, next: time) }
        case .all: stages = Self.stages(group.members)
        }
        if !stages.isEmpty { stages[stages.count - 1].next = nil }
    }

    private static func stages(_ members: [RingGroup.Member]) -> [Stage] {
        let delays = Set(members.map(\.delay)).sorted()
        return delays.enumerated().map { index, delay in
            let next = index + 1 < delays.count ? delays[index + 1] - delay : nil
            return Stage(members: members.filter { $0.delay == delay }.map(\.number), endsOthers: false, next: next)
        }
    }

    /// One rings after the other, and there is another.
    var isInTurn: Bool { stages.first?.endsOthers == true }

    /// The stage that begins now; nil when there was the last.
    mutating func next() -> Stage? { stages.isEmpty ? nil : stages.removeFirst() }
}
