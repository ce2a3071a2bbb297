import Foundation
import Primitives

/// Windows of time that come again each week, as somebody's clock on the wall shows them.
public struct WeeklySchedule: Sendable, Equatable {
    /// From a minute of each of some days to a minute of that day, or of the next where it is not later than the first.
    public struct Window: Sendable, Equatable {
        /// On which it begins.
        public var days: Set<Weekday>
        /// Minutes since midnight, 0 to 1440; 1440 is the midnight that ends the day.
        public var from: Int, to: Int

        public init(days: Set<Weekday>, from: Int, to: Int) { (self.days, self.from, self.to) = (days, from, to) }
    }

    /// Numbered as the Gregorian calendar of Foundation does.
    public enum Weekday: Int, Sendable, CaseIterable {
        case sunday = 1, monday, tuesday, wednesday, thursday, friday, saturday

        /// The first three letters of the English name.
        public var short: String { String("\(self)".prefix(3)) }
    }

    /// A stretch of time in which the schedule says the same.
    public struct Stretch: Sendable, Equatable {
        /// A window is open.
        public var isInside: Bool
        /// When that changes.
        public var until: Date
    }

    /// They may overlap.
    public var windows: [Window] = []
    /// The zone of the times of day.
    public var timeZone = TimeZone.current

    public init() {}

    /// The stretch that a moment lies in. Looks a week ahead at most; reads the calendar, so keep the answer until it ends.
    public func stretch(at date: Date) -> Stretch {
        let intervals = intervals(around: date)
        guard var end = intervals.filter({ $0.contains(date) }).map(\.upperBound).max() else {
            let next = intervals.map(\.lowerBound).filter { $0 > date }.min()
            return Stretch(isInside: false, until: next ?? date.addingTimeInterval(7 * 86_400))
        }
        // Windows that touch are one.
        while let later = intervals.filter({ $0.lowerBound <= end && $0.upperBound > end }).map(\.upperBound).max() { end = later }
        return Stretch(isInside: true, until: end)
    }

    private func intervals(around date: Date) -> [Range<Date>] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let today = calendar.startOfDay(for: date)
        return (-1...8).flatMap { offset -> [Range<Date>] in
            guard let day = calendar.date(byAdding: .day, value: offset, to: today) else { return [] }
            let weekday = Weekday(rawValue: calendar.component(.weekday, from: day))
            return windows.filter { $0.days.contains(weekday ?? .sunday) }.compactMap { interval($0, day, calendar) }
        }
    }

    private func interval(_ window: Window, _ day: Date, _ calendar: Calendar) -> Range<Date>? {
        let endDay = window.to > window.from ? day : calendar.date(byAdding: .day, value: 1, to: day)
        guard let endDay, let start = moment(window.from, of: day, calendar), let end = moment(window.to, of: endDay, calendar), start < end
        else { return nil }
        return start..<end
    }

    /// On a day whose clock skips the minute, the next that there is.
    private func moment(_ minute: Int, of day: Date, _ calendar: Calendar) -> Date? {
        if minute >= 1_440 { return calendar.date(byAdding: .day, value: 1, to: day) }
        return calendar.date(bySettingHour: minute / 60, minute: minute % 60, second: 0, of: day)
    }
}
