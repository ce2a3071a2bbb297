import Audio
import Media
import Primitives

/// The word of a queue to a caller who waits in it.
public enum QueueEvent: Equatable, Sendable {
    /// The queue is full.
    case full
    /// From 1.
    case position(Int)
    /// The members that ring for the caller.
    case offer([Text])
}

/// One caller in a queue: music, announcements of the position, and members that ring.
struct QueueApplication: LineApplication {
    private enum State: Equatable {
        case waiting
        /// Members ring, until then. Next: `.waiting` when none answered.
        case ringing(until: Instant)
        /// The caller has waited too long while members rang, which end now. Next: `.leaving`.
        case expiring
        /// The consequence of an overflow. The call ends when that fails.
        case leaving
    }

    private(set) var source: MediaSource
    private let settings: QueueSettings
    private var state = State.waiting
    /// The greeting or an announcement is played.
    private var isAnnouncing = false
    private var position = 0
    private var expiry: Instant?
    private var nextAnnouncement: Instant?
    /// The queue is looked at again: a member may have registered meanwhile.
    private var nextLook: Instant?

    private static let interval = Duration.seconds(5)

    init(_ settings: QueueSettings) {
        self.settings = settings
        source = Self.music(settings)
        if let greeting = settings.greeting?.sound { (source, isAnnouncing) = (Self.once(greeting), true) }
    }

    var deadline: Instant? {
        switch state {
        case .waiting: [expiry, nextAnnouncement, nextLook].compactMap(\.self).min()
        case .ringing(let end): [end, expiry, nextAnnouncement].compactMap(\.self).min()
        case .expiring, .leaving: nil
        }
    }

    // MARK: Inputs

    mutating func answered(at now: Instant) -> [ApplicationStep] {
        expiry = settings.wait.map { now + $0 }
        nextLook = now + Self.interval
        if !settings.positions.isEmpty { nextAnnouncement = now + settings.announcementInterval }
        return [.enqueue]
    }

    mutating func told(_ event: QueueEvent, at now: Instant) -> [ApplicationStep] {
        switch event {
        case .full: return overflow()
        case .position(let position):
            defer { self.position = position }
            return self.position == 0 && !isAnnouncing ? announce(position) : []
        case .offer(let members):
            guard state == .waiting else { return [.unanswered] }
            state = .ringing(until: now + settings.ringTime)
            return [.call(.group(RingGroup(members.map { .init($0) })))]
        }
    }

    mutating func callFailed(_ cause: EndCause, at now: Instant) -> [ApplicationStep] {
        switch state {
        case .leaving: return [.hangUp(cause)]
        case .expiring: return leave()
        case .waiting, .ringing:
            (state, nextLook) = (.waiting, now + min(settings.pause, Self.interval))
            return [.unanswered]
        }
    }

    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] {
        guard isAnnouncing else { return [] }
        (isAnnouncing, source) = (false, Self.music(settings))
        return [.play]
    }

    mutating func advance(to now: Instant) -> [ApplicationStep] {
        if let expiry, now >= expiry { return expire() }
        if case .ringing(let end) = state, now >= end {
            // `callFailed` follows.
            state = .ringing(until: now + settings.ringTime)
            return [.cancelCall]
        }
        var steps: [ApplicationStep] = []
        if let due = nextAnnouncement, now >= due {
            nextAnnouncement = now + settings.announcementInterval
            steps += announce(position)
        }
        if let due = nextLook, now >= due, state == .waiting {
            nextLook = now + Self.interval
            steps.append(.lookForMembers)
        }
        return steps
    }

    // MARK: Consequences

    private mutating func expire() -> [ApplicationStep] {
        expiry = nil
        guard case .ringing = state else { return leave() }
        state = .expiring
        return [.cancelCall]
    }

    private mutating func leave() -> [ApplicationStep] { [.leaveQueue(cause: "wait")] + overflow() }

    private mutating func overflow() -> [ApplicationStep] {
        (state, nextAnnouncement, isAnnouncing) = (.leaving, nil, false)
        let callee: ApplicationCallee
        switch settings.overflow {
        case .call(let number), .mailbox(let number): callee = .number(number)
        case .trunk(let line, let number): callee = .trunk(line, number: number)
        case .hangUp, .level, .back, .again, .hook: return [.hangUp(EndCause(status: 480, reasons: [.q850(17)]))]
        }
        source = .tone(.ringback)
        return [.play, .call(callee)]
    }

    private mutating func announce(_ position: Int) -> [ApplicationStep] {
        guard settings.positions.indices.contains(position - 1), let sound = settings.positions[position - 1].sound else { return [] }
        (source, isAnnouncing) = (Self.once(sound), true)
        return [.restart]
    }

    // MARK: Sound

    private static func music(_ settings: QueueSettings) -> MediaSource {
        settings.music?.sound.map { .samples($0.samples, sampleRate: $0.sampleRate, loops: true) } ?? .quiet
    }

    private static func once(_ sound: WAV) -> MediaSource { .samples(sound.samples, sampleRate: sound.sampleRate, loops: false) }
}
