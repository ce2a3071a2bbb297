import Primitives

/// Decides after each step of a search whether it goes on. A value.
struct KneeSearch {
    enum Decision: Equatable { case end, again(Int) }

    /// A step that failed while the tool was late itself is run so often at most.
    static let mostAttempts = 3
    /// Fewer calls say nothing of a step.
    private static let fewestCalls = 5

    private let level: ServiceLevel
    private var isOver = false

    init(_ level: ServiceLevel) { self.level = level }

    /// - Returns: nil while the search goes on, and once it has ended.
    mutating func decide(_ state: LoadLedger.State) -> Decision? {
        guard !isOver, let step = first(state) else { return nil }
        let isFailed = state.steps[step].map(level.isBroken(by:)) ?? false
        if isFailed, state.isToolLate(in: step), state.attempts[step] ?? 1 < Self.mostAttempts { return .again(step) }
        isOver = true
        return .end
    }

    /// The first step of those that are over that has not passed, where enough is known of it.
    private func first(_ state: LoadLedger.State) -> Int? {
        let open = state.steps.filter { $0.value.tried >= Self.fewestCalls && level.state(of: $0.value) != .passed }.keys.min()
        return [open, state.firstNotOffered].compactMap(\.self).min()
    }
}
