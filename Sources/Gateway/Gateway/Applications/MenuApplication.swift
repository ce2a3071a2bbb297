import Audio
import Media
import Primitives
import RTP

/// One caller in a menu: plays prompts, collects digits, and does what was chosen.
struct MenuApplication: LineApplication {
    private enum State: Equatable {
        /// Prompts are played, of which these are still to come. Next: `.collecting` when they are over or a digit interrupts them.
        case prompting(rest: [WAV])
        /// Digits are awaited. Next: any.
        case collecting
        /// A party is called for the caller, or the hook is asked. Next: `.prompting` when nobody was reached.
        case waiting
        case over
    }

    private(set) var source = MediaSource.quiet
    private(set) var deadline: Instant?
    var takesDigits: Bool { true }
    private let menu: Menu
    private var state = State.collecting
    private var level = 0
    private var digits = Text.empty
    /// Attempts at this level that led to nothing.
    private var failures = 0

    init(_ menu: Menu) {
        self.menu = menu
        queue([menu.levels[0].greeting, menu.levels[0].prompt])
    }

    private var current: Menu.Level { menu.levels[level] }

    // MARK: Inputs

    mutating func answered(at now: Instant) -> [ApplicationStep] {
        [entered] + (state == .collecting ? collect(at: now) : [])
    }

    mutating func sourceFinished(at now: Instant) -> [ApplicationStep] {
        guard case .prompting(var rest) = state else { return [] }
        guard !rest.isEmpty else { return collect(at: now) }
        source = Self.source(rest.removeFirst())
        state = .prompting(rest: rest)
        return [.play]
    }

    mutating func heard(_ digit: DTMFDigit, at now: Instant) -> [ApplicationStep] {
        var steps: [ApplicationStep] = []
        switch state {
        case .prompting where current.bargesIn: steps = collect(at: now)
        case .collecting: break
        case .prompting, .waiting, .over: return []
        }
        let before = digits
        digits = digits + Text(String(digit.character))
        var (exact, mayGoOn) = current.choice(digits)
        // A # that no choice has ends what was pressed before it.
        if digit.character == "#", exact == nil, !mayGoOn, !before.isEmpty {
            digits = before
            (exact, mayGoOn) = (current.choice(digits).exact, false)
        }
        if mayGoOn {
            deadline = now + current.digitTimeout
            return steps
        }
        return steps + (exact.map { choose($0) } ?? fail("invalid"))
    }

    mutating func advance(to now: Instant) -> [ApplicationStep] {
        guard state == .collecting, let due = deadline, now >= due else { return [] }
        if digits.isEmpty { return fail("timeout") }
        return current.choice(digits).exact.map { choose($0) } ?? fail("invalid")
    }

    mutating func callFailed(_ cause: EndCause, at now: Instant) -> [ApplicationStep] {
        guard state == .waiting else { return [] }
        failures += 1
        guard failures <= current.retries else { return [.hangUp(cause)] }
        return prompt([current.unavailable, current.prompt])
    }

    mutating func decided(_ decision: CallDecision, at now: Instant) -> [ApplicationStep] {
        guard state == .waiting else { return [] }
        switch decision {
        case .asDialled: return failures > current.retries ? follow(.hangUp) : fail("undecided")
        case .number(let number): return call(.number(number))
        case .trunk(let line): return call(.trunk(line, number: nil))
        case .ring(let group): return call(.group(group))
        case .application(let application):
            (state, deadline) = (.over, nil)
            return [.become(application)]
        case .refused(let status):
            (state, deadline) = (.over, nil)
            return [.hangUp(EndCause(status: status, reasons: []))]
        }
    }

    // MARK: Consequences

    private mutating func choose(_ choice: Menu.Choice) -> [ApplicationStep] {
        deadline = nil
        let note = ApplicationStep.note(.menuChoice, [.digits: .init(digits), .text: .init(choice.text)])
        return [note] + follow(choice)
    }

    private mutating func follow(_ choice: Menu.Choice) -> [ApplicationStep] {
        switch choice {
        case .call(let number), .mailbox(let number): return call(.number(number))
        case .trunk(let line, let number): return call(.trunk(line, number: number))
        case .level(let next):
            (level, failures) = (next, 0)
            return [entered] + prompt([current.greeting, current.prompt])
        case .back:
            (level, failures) = (current.parent ?? 0, 0)
            return [entered] + prompt([current.prompt])
        case .again: return prompt([current.prompt])
        case .hook:
            state = .waiting
            return [.play, .ask(digits: digits)]
        case .hangUp:
            state = .over
            return [.hangUp(.normalClearing)]
        }
    }

    /// None or wrong digits: the prompt again, or what is for too many attempts.
    private mutating func fail(_ cause: Text) -> [ApplicationStep] {
        deadline = nil
        failures += 1
        let note = ApplicationStep.note(.menuFailed, [.cause: .init(cause), .digits: .init(digits), .count: .init(failures)])
        guard failures > current.retries else { return [note] + prompt([cause == "invalid" ? current.invalid : nil, current.prompt]) }
        return [note] + follow(current.otherwise)
    }

    private mutating func call(_ callee: ApplicationCallee) -> [ApplicationStep] {
        (state, source, deadline) = (.waiting, .tone(.ringback), nil)
        return [.play, .call(callee)]
    }

    private var entered: ApplicationStep { .note(.menuEntered, [.text: .init(current.path.isEmpty ? "top" : current.path)]) }

    // MARK: Sound

    private mutating func prompt(_ prompts: [Menu.Prompt?]) -> [ApplicationStep] {
        queue(prompts)
        return [.restart]
    }

    private mutating func queue(_ prompts: [Menu.Prompt?]) {
        digits = .empty
        var sounds = prompts.compactMap { $0?.sound }
        // Without a sound half a second of silence stands for the prompt.
        let first = sounds.isEmpty ? WAV(sampleRate: 8_000, samples: [Int16](repeating: 0, count: 4_000)) : sounds.removeFirst()
        source = Self.source(first)
        (state, deadline) = (.prompting(rest: sounds), nil)
    }

    private mutating func collect(at now: Instant) -> [ApplicationStep] {
        (state, source, deadline) = (.collecting, .quiet, now + current.timeout)
        return [.play]
    }

    private static func source(_ sound: WAV) -> MediaSource {
        .samples(sound.samples, sampleRate: sound.sampleRate, loops: false)
    }
}
