import Audio
import Media
import Primitives
import RTP
import Testing

@testable import Gateway

/// A menu as a value: what is played, and what follows from which digits when.
@Suite struct MenuApplicationTests {
    /// A prompt that is known by its one sample.
    private static func prompt(_ sample: Int16) -> Menu.Prompt { .sound(WAV(sampleRate: 8_000, samples: [sample])) }

    private static func source(_ sample: Int16) -> MediaSource { .samples([sample], sampleRate: 8_000, loops: false) }

    /// 1 and 12 call, 2 is a level below, 9 asks the hook, 0 hangs up.
    private static let menu: Menu = {
        var top = Menu.Level(prompt: prompt(1)), below = Menu.Level(prompt: prompt(2))
        (top.greeting, top.invalid, top.unavailable, top.retries) = (prompt(10), prompt(11), prompt(12), 1)
        top.choices = [
            "1": .call("1001"), "12": .trunk("carrier", number: "+39"), "2": .level(1), "9": .hook, "0": .hangUp, "8": .again,
        ]
        top.otherwise = .mailbox("1900")
        (below.path, below.parent, below.bargesIn) = ("2", 0, false)
        below.choices = ["*": .back, "#": .mailbox("1900")]
        return Menu([top, below])
    }()

    private var menu = MenuApplication(Self.menu)
    private var now = Instant.zero

    /// The steps that do something; notes of the journal are looked at apart.
    private func acts(_ steps: [ApplicationStep]) -> [ApplicationStep] {
        steps.filter { if case .note = $0 { false } else { true } }
    }

    private mutating func press(_ keys: String) -> [ApplicationStep] {
        keys.flatMap { key in DTMFDigit(key).map { menu.heard($0, at: now) } ?? [] }
    }

    private mutating func listen() -> [ApplicationStep] { menu.sourceFinished(at: now) }

    private mutating func wait() throws -> [ApplicationStep] {
        now = try #require(menu.deadline)
        return menu.advance(to: now)
    }

    @Test mutating func `the greeting is played once, and then the prompt, and then digits have their time`() throws {
        #expect(menu.source == Self.source(10) && acts(menu.start(at: now)) == [.answer] && acts(menu.answered(at: now)) == [])
        #expect(listen() == [.play] && menu.source == Self.source(1) && menu.deadline == nil)
        now = .zero + .seconds(7)
        #expect(listen() == [.play] && menu.source == .quiet && menu.deadline == .zero + .seconds(12))
        #expect(try acts(wait()) == [.restart] && menu.source == Self.source(1), "no digit: the prompt again, without the greeting")
    }

    @Test(arguments: [
        ("0", ApplicationStep.hangUp(.normalClearing)), ("12", .call(.trunk("carrier", number: "+39"))), ("9", .ask(digits: "9")),
    ])
    mutating func `a digit interrupts the prompt, and its choice follows at once`(keys: String, step: ApplicationStep) {
        #expect(acts(press(keys)).last == step && menu.deadline == nil)
    }

    @Test mutating func `a choice that a longer one begins with waits for further digits, or for a #`() throws {
        #expect(acts(press("1")) == [.play] && menu.deadline == .zero + .seconds(3))
        var other = self
        #expect(try acts(wait()) == [.play, .call(.number("1001"))] && menu.source == .tone(.ringback))
        #expect(acts(other.press("#")) == [.play, .call(.number("1001"))])
    }

    @Test mutating func `after too many wrong or missing digits comes what is for them`() throws {
        #expect(acts(press("5")) == [.play, .restart] && menu.source == Self.source(11))
        #expect(listen() == [.play] && menu.source == Self.source(1))
        #expect(listen() == [.play])
        let steps = try wait()
        #expect(acts(steps) == [.play, .call(.number("1900"))])
        #expect(steps.first == .note(.menuFailed, [.cause: "timeout", .digits: .init(Text.empty), .count: 2]))
    }

    @Test mutating func `a level below has a prompt of its own, loses digits during it where it says so, and leads back`() {
        _ = listen()
        #expect(acts(press("2")) == [.play, .restart] && menu.source == Self.source(2))
        #expect(press("*").isEmpty && menu.source == Self.source(2))
        _ = listen()
        #expect(acts(press("*")) == [.restart] && menu.source == Self.source(1))
    }

    @Test mutating func `who was not reached is said, and the caller chooses again; after the last attempt the call ends as that call did`()
    {
        _ = acts(press("12"))
        let busy = EndCause(status: 486, reasons: [])
        #expect(press("0").isEmpty, "nobody chooses while it rings")
        #expect(menu.callFailed(busy, at: now) == [.restart] && menu.source == Self.source(12))
        #expect(listen() == [.play] && menu.source == Self.source(1))
        _ = press("12")
        #expect(menu.callFailed(busy, at: now) == [.hangUp(busy)])
    }

    @Test(arguments: [
        (CallDecision.number("1002"), ApplicationStep.call(.number("1002"))), (.trunk("carrier"), .call(.trunk("carrier", number: nil))),
        (.ring(RingGroup([.init("1001")])), .call(.group(RingGroup([.init("1001")])))), (.application(.echo), .become(.echo)),
        (.refused(status: 603), .hangUp(EndCause(status: 603, reasons: []))), (.asDialled, .restart),
    ]) mutating func `the hook decides what follows`(decision: CallDecision, step: ApplicationStep) {
        _ = press("9")
        #expect(menu.decided(decision, at: now).last == step)
    }

    @Test mutating func `a hook that never decides is not asked for ever`() {
        var menu = Self.menu
        (menu.levels[0].retries, menu.levels[0].otherwise) = (0, .hook)
        self.menu = MenuApplication(menu)
        #expect(press("9").last == .ask(digits: "9"))
        #expect(self.menu.decided(.asDialled, at: now).last == .ask(digits: "9"))
        #expect(self.menu.decided(.asDialled, at: now) == [.hangUp(.normalClearing)])
    }

    @Test mutating func `what is chosen, and where, is in the journal`() {
        let steps = menu.answered(at: now) + press("2")
        let notes: [ApplicationStep] = [
            .note(.menuEntered, [.text: "top"]), .note(.menuChoice, [.digits: "2", .text: "menu"]), .note(.menuEntered, [.text: "2"]),
        ]
        #expect(steps.filter { !acts([$0]).contains($0) } == notes)
    }
}
