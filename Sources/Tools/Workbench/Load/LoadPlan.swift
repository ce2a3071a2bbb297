import Glibc
import Primitives
import RTP
import SIP
import UserAgent

/// The task of a call.
public enum CallKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// Talks, and hangs up.
    case plain
    /// Holds the other side for a third of its time.
    case hold
    /// Presses keys.
    case dtmf
    /// Offers again what is agreed.
    case reinvite
    /// Gives up while it rings.
    case cancel
    /// Is refused as busy; where the tool plays the other end.
    case busy
}

/// The number of calls of each kind in a hundred; the rest is plain.
public struct CallMix: Hashable, Sendable {
    /// 0 to 100 each, 100 in all at most.
    public var percent: [CallKind: Double]

    /// - Parameter percent: kinds that are missing do not come.
    public init(_ percent: [CallKind: Double] = [:]) { self.percent = percent }

    func draw(using random: inout SeededRandom) -> CallKind {
        var left = Double.random(in: 0..<100, using: &random)
        for kind in CallKind.allCases {
            left -= percent[kind] ?? 0
            if left < 0 { return kind }
        }
        return .plain
    }
}

/// The duration of a call from its answer on.
public enum HoldTime: Hashable, Sendable {
    /// Always so long.
    case fixed(Duration)
    /// Exponential, as people talk; of this mean.
    case exponential(Duration)

    func draw(using random: inout SeededRandom) -> Duration {
        switch self {
        case .fixed(let time): time
        case .exponential(let mean): .seconds(fraction: max(0.2, -mean.inSeconds * log(1 - Double.random(in: 0..<1, using: &random))))
        }
    }

    /// The average duration.
    public var mean: Duration {
        switch self {
        case .fixed(let time), .exponential(let time): time
        }
    }
}

/// The choice of the calls whose sound is decoded and judged.
public enum Listening: Hashable, Sendable {
    /// Every call, while no more than so many are listened to at a time.
    case upTo(Int)
    /// A share of all, 0–1, spread evenly.
    case share(Double)
}

/// A line that the tool registers and plays.
public struct LoadAccount: Hashable, Sendable {
    /// The user part of its address of record.
    public var user: Text
    /// For challenges; nil gives up at the first one.
    public var credentials: Credentials?

    /// - Parameter user: of the address of record.
    public init(user: Text, credentials: Credentials? = nil) { (self.user, self.credentials) = (user, credentials) }
}

/// Calls to be made, and to be taken: from a single one to a load.
public struct LoadPlan: Sendable {
    /// The callee; nil with accounts, whose first half then calls the second.
    public var target: URI?
    /// Registered before the first call.
    public var accounts: [LoadAccount] = []
    /// The tool plays the other end as well, and misses it where no INVITE comes.
    public var playsBothEnds = false
    /// When calls begin.
    public var arrivals = ArrivalPlan(rate: 1)
    /// The time for which a step goes on before it counts; nil: a fifth of the step, three seconds at most.
    public var settling: Duration?
    /// No more are begun after so many, or so long.
    public var calls: Int?
    /// No more are begun after so long.
    public var duration: Duration?
    /// At most so many at a time; those that would be more are not begun, and counted. `expectedConcurrency` tells how many a plan needs.
    public var concurrent = 100
    /// The duration of calls from their answer on.
    public var hold = HoldTime.fixed(.seconds(10))
    /// The kinds of the calls.
    public var mix = CallMix()
    /// The choice of the calls whose sound is decoded and judged.
    public var listening = Listening.upTo(64)
    /// The sound that the callers expect. Where the tool plays both ends this is the other end's sound, or nothing.
    public var expects = ExpectedSound.sound
    /// A caller cancels what was not answered for so long.
    public var timeout = Duration.seconds(32)
    /// WebSockets that are opened a second, one for each account; nil: all accounts share what leads to the server.
    public var connectionRate: Double?
    /// The time that registrars have until all accounts are registered; nil: as long as their transactions last.
    public var registrationTimeout: Duration?
    /// The time for which the tool's own callees ring.
    public var answersAfter = Duration.zero
    /// Keys that a call of the kind `dtmf` presses.
    public var keys: [DTMFDigit] = []
    /// The steps of a scenario: they replace what the mix makes of a call.
    public var steps: [CallStep]?
    /// The script of every caller, in place of what `hold`, `mix` and `steps` make of it.
    public var script: CallScript?
    /// The policy for incoming calls that the run did not begin; nil refuses them with 480.
    public var answering: AnswerPolicy?
    /// Whether calls carry a header by which their other end is known.
    public var marksCalls = true
    /// Whether everything that happens to every end is told (`LoadClient.Event.leg`).
    public var tellsLegs = false
    /// The same one makes the same calls.
    public var seed: UInt64 = 1
    /// The part of a greater load that this plan is; nil: it is a whole one.
    public internal(set) var share: LoadShare?
    /// When all is registered, the first call waits until the run is told to go.
    public var waitsForStart = false

    /// One call a second, of ten seconds each.
    public init() {}
}

extension LoadPlan {
    /// The time that a call may take to be answered before it counts as too slow for `expectedConcurrency`.
    private static let ringing = Duration.seconds(2)

    /// So many calls are up at a time, at most, when every one of the plan is begun and is answered within two seconds: rate times length,
    /// and five standard deviations (Erlang) and twenty calls more for those whose time is not up. 1–20,000.
    public var expectedConcurrency: Int {
        let fastest = arrivals.steps.map(\.rate).max() ?? 0, mean = fastest * (length + answersAfter + Self.ringing).inSeconds
        return max(1, Int(min(mean + 5 * mean.squareRoot() + 20, Double(calls ?? .max), arrivalsInAll, 20_000).rounded(.up)))
    }

    /// The average duration of a call.
    private var length: Duration {
        guard let steps else { return hold.mean }
        return steps.reduce(.zero) { sum, step in if case .wait(let time) = step { sum + time } else { sum + .seconds(1) } }
    }

    /// Infinite where only a number of calls ends it.
    private var arrivalsInAll: Double {
        if let duration { return (arrivals.steps.map(\.rate).max() ?? 0) * duration.inSeconds + 1 }
        return arrivals.steps.reduce(1) { $0 + $1.rate * ($1.time?.inSeconds ?? .infinity) }
    }
}
