import Foundation
import Primitives

/// A queue: its members, and what callers hear while they wait for one of them.
public struct QueueSettings: Sendable, Equatable {
    /// The members that ring for the caller whose turn it is.
    public enum Strategy: String, Sendable, CaseIterable {
        /// All that are free, at once.
        case all
        /// One after the other, beginning behind the one that rang last.
        case inTurn = "in-turn"
        /// The one whose last call ended first.
        case longestIdle = "longest-idle"
    }

    /// Numbers of lines with devices, and of trunks.
    public var members: [Text]
    /// The members that ring for the caller whose turn it is.
    public var strategy = Strategy.all
    /// The time that members ring for a caller before others do.
    public var ringTime: Duration = .seconds(20)
    /// The time that a member who did not answer is left alone.
    public var pause: Duration = .seconds(5)
    /// Played once, when a caller comes.
    public var greeting: Menu.Prompt?
    /// Played again and again; nil: silence.
    public var music: Menu.Prompt?
    /// Played to the first caller, the second and so on; those behind the last hear none.
    public var positions: [Menu.Prompt] = []
    /// The time between two announcements of the position.
    public var announcementInterval: Duration = .seconds(30)
    /// Callers that wait at a time; one more overflows at once.
    public var length = 100
    /// The longest time that a caller waits; nil: no limit.
    public var wait: Duration?
    /// The consequence of a queue that is full, or of too long a wait: not one that leads to a prompt of a menu.
    public var overflow = Menu.Choice.hangUp

    /// All members ring at once.
    public init(members: [Text]) { self.members = members }

    var prompts: [Menu.Prompt] { positions + [greeting, music].compactMap(\.self) }

    mutating func mapPrompts(_ body: (Menu.Prompt) throws -> Menu.Prompt) rethrows {
        positions = try positions.map(body)
        if let greeting { self.greeting = try body(greeting) }
        if let music { self.music = try body(music) }
    }
}

/// The callers of a queue in their order, and the members that ring for each.
///
/// Without I/O: it is told who comes, goes, and was not answered, and says for whom which members ring now.
struct CallQueue: Sendable {
    /// Members that ring for a caller from now on.
    struct Offer: Equatable {
        let caller: UUID
        let members: [Text]
    }

    struct Caller: Equatable {
        let call: UUID
        let entered: Instant
        /// The members that ring for the caller now.
        var members: [Text] = []
    }

    /// Calls that have left it, by how.
    struct Counts: Equatable {
        var entered: UInt64 = 0, answered: UInt64 = 0, abandoned: UInt64 = 0, overflowed: UInt64 = 0
        /// The time that all who were answered have waited.
        var waited = Duration.zero
    }

    /// In the order in which they came.
    private(set) var callers: [Caller] = []
    private(set) var counts = Counts()
    /// The moment at which a member was last in a call of the queue, or rang last.
    private var lastBusy: [Text: Instant] = [:]
    /// Members that did not answer, and when they may ring again.
    private var paused: [Text: Instant] = [:]
    /// The member that rang last.
    private var last: Text?

    /// - Returns: the position, from 1; nil: it is full.
    mutating func enter(_ call: UUID, limit: Int, at now: Instant) -> Int? {
        counts.entered += 1
        guard callers.count < limit else {
            counts.overflowed += 1
            return nil
        }
        callers.append(Caller(call: call, entered: now))
        return callers.count
    }

    /// The caller is gone, and has not been answered.
    /// - Returns: how long it has waited; nil for one who does not wait.
    mutating func leave(_ call: UUID, isOverflow: Bool, at now: Instant) -> Duration? {
        guard let index = index(of: call) else { return nil }
        if isOverflow { counts.overflowed += 1 } else { counts.abandoned += 1 }
        return now - callers.remove(at: index).entered
    }

    /// A member answered.
    /// - Returns: how long the caller has waited; nil for one who does not wait.
    mutating func answered(_ call: UUID, by member: Text?, at now: Instant) -> Duration? {
        guard let index = index(of: call) else { return nil }
        let caller = callers.remove(at: index), waited = now - caller.entered
        counts.answered += 1
        counts.waited += waited
        if let member { lastBusy[member] = now }
        return waited
    }

    /// None of the members that rang for the caller took the call.
    mutating func unanswered(_ call: UUID, pause: Duration, at now: Instant) {
        guard let index = index(of: call) else { return }
        for member in callers[index].members { paused[member] = now + pause }
        callers[index].members = []
    }

    /// A member's call is over.
    mutating func freed(_ member: Text, at now: Instant) { lastBusy[member] = now }

    /// Lets members ring for those who wait, in their order.
    /// - Parameter isFree: whether the member can take a call.
    mutating func offers(_ settings: QueueSettings, at now: Instant, isFree: (Text) -> Bool) -> [Offer] {
        var offers: [Offer] = []
        paused = paused.filter { $0.value > now }
        for index in callers.indices where callers[index].members.isEmpty {
            let ringing = Set(callers.flatMap(\.members))
            let free = settings.members.filter { !ringing.contains($0) && paused[$0] == nil && isFree($0) }
            guard !free.isEmpty else { break }
            let chosen = choose(among: free, settings)
            callers[index].members = chosen
            last = chosen.last
            offers.append(Offer(caller: callers[index].call, members: chosen))
        }
        return offers
    }

    private func choose(among free: [Text], _ settings: QueueSettings) -> [Text] {
        switch settings.strategy {
        case .all: return free
        case .inTurn:
            let place = last.flatMap(settings.members.firstIndex(of:)).map { $0 + 1 } ?? 0
            let order = settings.members[min(place, settings.members.count)...] + settings.members.prefix(place)
            return order.first(where: free.contains).map { [$0] } ?? []
        case .longestIdle:
            // A member without any call yet comes before all others, in the order of the configuration.
            return free.min { lastBusy[$0] ?? .zero < lastBusy[$1] ?? .zero }.map { [$0] } ?? []
        }
    }

    private func index(of call: UUID) -> Int? { callers.firstIndex { $0.call == call } }
}
