/// A thing that happens at a time.
struct HappeningEvent {
    enum Kind {
        /// A call begins; `call` is the one that it repeats, or -1.
        case call
        /// The call is answered.
        case answer
        /// The call ends.
        case end
        /// A device registers; at this gateway, by its line.
        case register
        /// A binding runs out, at every gateway.
        case expiry
        /// A gateway lets a call go whose far ends are silent.
        case mediaTimeout
    }

    /// Seconds since the beginning.
    var time: Double
    var kind: Kind
    /// The gateway that the line belongs to.
    var home: Int
    var call = -1
}

/// The events to come, by steps of one length. A value.
struct Agenda {
    private let step: Double
    private var steps: [[HappeningEvent]]

    init(step: Double, span: Double) {
        self.step = step
        steps = [[HappeningEvent]](repeating: [], count: Int((span / step).rounded(.up)) + 1)
    }

    /// Puts an event down; one after the end is none.
    mutating func add(_ event: HappeningEvent) {
        let index = Int(event.time / step)
        if index < steps.count { steps[index].append(event) }
    }

    /// Takes the events of a step out, with those that come by chance, in the order of their times.
    mutating func take(_ index: Int, and others: [HappeningEvent]) -> [HappeningEvent] {
        guard index < steps.count else { return others }
        let events = steps[index] + others
        steps[index] = []
        return events.sorted { $0.time < $1.time }
    }
}
