import Foundation
import Testing

@testable import Gateway

@Suite struct WeeklyScheduleTests {
    static let rome = TimeZone(identifier: "Europe/Rome")!

    private func schedule(_ windows: [WeeklySchedule.Window]) -> WeeklySchedule {
        var schedule = WeeklySchedule()
        (schedule.windows, schedule.timeZone) = (windows, Self.rome)
        return schedule
    }

    /// A date in Rome.
    private func date(_ text: String) -> Date {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        (formatter.timeZone, formatter.dateFormat) = (Self.rome, "yyyy-MM-dd HH:mm")
        return formatter.date(from: text)!
    }

    private static let weekdays: Set<WeeklySchedule.Weekday> = [.monday, .tuesday, .wednesday, .thursday, .friday]

    // 2026-11-20 is a Friday.
    @Test(arguments: [
        ("2026-11-20 12:59", false, "2026-11-20 13:00"), ("2026-11-20 13:00", true, "2026-11-20 14:30"),
        ("2026-11-20 14:29", true, "2026-11-20 14:30"),
        ("2026-11-20 14:30", false, "2026-11-23 13:00"), ("2026-11-21 13:30", false, "2026-11-23 13:00"),
    ])
    func `a window counts on its days, from its first minute to before its last`(at: String, isInside: Bool, until: String) {
        let schedule = schedule([.init(days: Self.weekdays, from: 13 * 60, to: 14 * 60 + 30)])
        #expect(schedule.stretch(at: date(at)) == .init(isInside: isInside, until: date(until)))
    }

    @Test(arguments: [
        ("2026-11-20 23:00", true, "2026-11-21 07:00"), ("2026-11-21 06:59", true, "2026-11-21 07:00"),
        ("2026-11-21 23:00", false, "2026-11-23 22:00"),
        ("2026-11-23 03:00", false, "2026-11-23 22:00"),
    ])
    func `a window over midnight belongs to the day on which it begins`(at: String, isInside: Bool, until: String) {
        let schedule = schedule([.init(days: Self.weekdays, from: 22 * 60, to: 7 * 60)])
        #expect(schedule.stretch(at: date(at)) == .init(isInside: isInside, until: date(until)))
    }

    @Test func `windows that touch end where the last of them ends`() {
        let schedule = schedule([.init(days: [.friday], from: 22 * 60, to: 1_440), .init(days: [.saturday], from: 0, to: 9 * 60)])
        #expect(schedule.stretch(at: date("2026-11-20 22:30")) == .init(isInside: true, until: date("2026-11-21 09:00")))
    }

    @Test func `the clock on the wall counts, not the hours that passed`() {
        // The night to 2026-10-25 has an hour more in Rome, that to 2026-03-29 one less.
        let nights = schedule([.init(days: Set(WeeklySchedule.Weekday.allCases), from: 22 * 60, to: 7 * 60)])
        for (evening, morning, hours) in [("2026-10-24 22:00", "2026-10-25 07:00", 10.0), ("2026-03-28 22:00", "2026-03-29 07:00", 8.0)] {
            let stretch = nights.stretch(at: date(evening))
            #expect(stretch.until == date(morning))
            #expect(stretch.until.timeIntervalSince(date(evening)) == hours * 3_600)
        }
    }

    @Test func `a schedule that is always on still says an end`() {
        let always = schedule([.init(days: Set(WeeklySchedule.Weekday.allCases), from: 0, to: 1_440)])
        let stretch = always.stretch(at: date("2026-11-20 12:00"))
        #expect(stretch.isInside && stretch.until > date("2026-11-26 00:00"))
    }

    @Test func `a schedule that never ends has no end to tell`() {
        var configuration = DoNotDisturb()
        configuration.schedule = schedule([.init(days: Set(WeeklySchedule.Weekday.allCases), from: 0, to: 1_440)])
        var keeper = DoNotDisturbKeeper(configuration, state: nil)
        #expect(keeper.answer(at: date("2026-11-20 12:00")) == .on)
    }

    @Test func `turned off inside a window, it stays off until that window ends`() {
        var configuration = DoNotDisturb()
        configuration.schedule = schedule([.init(days: Self.weekdays, from: 22 * 60, to: 7 * 60)])
        var keeper = DoNotDisturbKeeper(configuration, state: nil)
        #expect(keeper.answer(at: date("2026-11-19 21:00")) == .off)
        #expect(keeper.answer(at: date("2026-11-19 23:00")) == .scheduled(until: date("2026-11-20 07:00")))
        keeper.set(false, at: date("2026-11-19 23:30"))
        #expect(keeper.answer(at: date("2026-11-20 06:59")) == .off)
        #expect(keeper.answer(at: date("2026-11-20 22:00")) == .scheduled(until: date("2026-11-21 07:00")))
        keeper.set(true, at: date("2026-11-21 12:00"))
        #expect(keeper.answer(at: date("2026-11-22 12:00")) == .on)
    }
}
