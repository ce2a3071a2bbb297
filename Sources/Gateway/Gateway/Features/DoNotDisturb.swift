import Foundation
import Primitives

/// Do Not Disturb of a line, as it is configured.
public struct DoNotDisturb: Sendable, Equatable {
    /// On from the start, until somebody turns it off.
    public var isOn = false
    /// Callers who are let through.
    public var vips: [NumberPattern] = []
    /// When it is on by itself.
    public var schedule = WeeklySchedule()

    public init() {}
}

/// The Do Not Disturb of a line as a user set it while the gateway ran; survives a restart where there is a store.
public struct DoNotDisturbState: Sendable, Equatable {
    /// As the user set it, whatever the schedule says.
    public var isOn: Bool
    /// Turned off inside a window of the schedule: that window counts no more.
    public var pausedUntil: Date?

    public init(isOn: Bool, pausedUntil: Date? = nil) { (self.isOn, self.pausedUntil) = (isOn, pausedUntil) }
}

/// Do Not Disturb at work: asked for each call, and reads the calendar only when the schedule changes its mind.
struct DoNotDisturbKeeper {
    private(set) var configuration: DoNotDisturb
    private(set) var state: DoNotDisturbState
    private var stretch: (from: Date, known: WeeklySchedule.Stretch)?

    init(_ configuration: DoNotDisturb, state: DoNotDisturbState?) {
        self.configuration = configuration
        self.state = state ?? DoNotDisturbState(isOn: configuration.isOn)
    }

    /// Takes a new configuration. The setting of a user stays as it is.
    mutating func adopt(_ new: DoNotDisturb) {
        if state == DoNotDisturbState(isOn: configuration.isOn) { state.isOn = new.isOn }
        (configuration, stretch) = (new, nil)
    }

    /// Takes the setting of a user that was made elsewhere.
    mutating func adopt(_ new: DoNotDisturbState) { state = new }

    enum Answer: Equatable {
        case off
        /// Until somebody turns it off.
        case on
        /// Until the end of the schedule's window.
        case scheduled(until: Date)
    }

    mutating func answer(at date: Date) -> Answer {
        if state.isOn { return .on }
        guard let end = windowEnd(at: date), date >= state.pausedUntil ?? .distantPast else { return .off }
        // Windows that follow upon one another all week have no end that could be told.
        return end.timeIntervalSince(date) < 7 * 86_400 ? .scheduled(until: end) : .on
    }

    mutating func set(_ isOn: Bool, at date: Date) {
        state = DoNotDisturbState(isOn: isOn, pausedUntil: isOn ? nil : windowEnd(at: date))
    }

    private mutating func windowEnd(at date: Date) -> Date? {
        guard !configuration.schedule.windows.isEmpty else { return nil }
        if let stretch, date >= stretch.from, date < stretch.known.until { return stretch.known.isInside ? stretch.known.until : nil }
        let found = configuration.schedule.stretch(at: date)
        stretch = (date, found)
        return found.isInside ? found.until : nil
    }
}
