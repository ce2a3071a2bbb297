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

    // The clock goes from 02:00 to 03:00 on 2026-03-29, and shows 02:00 to 03:00 twice on 2026-10-25.
    @Test(arguments: [("2026-03-29", 60), ("2026-10-25", 31 * 60)] as [(String, Double)])
    func `a minute that the clock skips is the next that there is, and of two that it shows the first counts`(day: String, seconds: Double)
    {
        let schedule = schedule([.init(days: [.sunday], from: 2 * 60 + 30, to: 5 * 60)])
        let before = date(day + " 01:59"), stretch = schedule.stretch(at: before)
        #expect(!stretch.isInside && stretch.until.timeIntervalSince(before) == seconds)
        #expect(schedule.stretch(at: stretch.until) == .init(isInside: true, until: date(day + " 05:00")))
    }

    @Test func `a window that ends at the minute at which it begins lasts a day`() {
        let schedule = schedule([.init(days: [.friday], from: 8 * 60, to: 8 * 60)])
        #expect(schedule.stretch(at: date("2026-11-20 08:00")) == .init(isInside: true, until: date("2026-11-21 08:00")))
        #expect(schedule.stretch(at: date("2026-11-20 07:59")) == .init(isInside: false, until: date("2026-11-20 08:00")))
    }

    @Test(arguments: [[], [.init(days: [], from: 0, to: 1_440)]] as [[WeeklySchedule.Window]])
    func `without a window, or a day of it, nothing is inside for a week`(windows: [WeeklySchedule.Window]) {
        let now = date("2026-11-20 12:00")
        #expect(schedule(windows).stretch(at: now) == .init(isInside: false, until: now.addingTimeInterval(7 * 86_400)))
    }

    @Test func `windows that overlap are one, in whatever order they are written`() {
        let schedule = schedule([
            .init(days: [.friday], from: 720, to: 780), .init(days: [.friday], from: 600, to: 730),
            .init(days: [.friday], from: 660, to: 700),
        ])
        #expect(schedule.stretch(at: date("2026-11-20 10:30")) == .init(isInside: true, until: date("2026-11-20 13:00")))
    }

    @Test func `days are numbered and named as calendars do`() {
        #expect(WeeklySchedule.Weekday.allCases.map(\.short) == ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
        #expect(WeeklySchedule.Weekday.sunday.rawValue == 1 && WeeklySchedule.Weekday.saturday.rawValue == 7)
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
