import Audio
import Media
import Primitives
import RTP
import Testing

@testable import Gateway

/// The applications of lines, as values: what they want when, and what is heard.
@Suite struct ApplicationTests {
    private static let sound = WAV(sampleRate: 8_000, samples: [1, 2, 3])
    private static let call = ApplicationCall(line: 3, number: 1)

    /// Tells an application one input after the other; the steps of each, and the deadline behind it in ms.
    private static func run(_ application: inout any LineApplication, _ inputs: [(at: Int64, Input)]) -> [[ApplicationStep]] {
        inputs.map { milliseconds, input in
            let now = Instant.zero + .milliseconds(milliseconds)
            switch input {
            case .start: return application.start(at: now)
            case .answered: return application.answered(at: now)
            case .key(let key): return DTMFDigit(key).map { application.heard($0, at: now) } ?? []
            case .finished: return application.sourceFinished(at: now)
            case .due: return application.advance(to: now)
            case .silent: return application.fellSilent(at: now)
            }
        }
    }

    private enum Input { case start, answered, key(Character), finished, due, silent }

    @Test(arguments: LineEndpoint.Application.names) func `each application of the table answers at once`(name: String) throws {
        var application = try #require(LineEndpoint.Application(named: name)).make(for: Self.call)
        #expect(Self.run(&application, [(0, .start)]) == [[.answer]] && application.deadline == nil)
    }

    @Test func `what is heard of each`() {
        let made = [LineEndpoint.Application.echo, .tone, .conference, .playback(Self.sound, loops: true)].map {
            $0.make(for: Self.call).source
        }
        #expect(made == [.echo, .tone(Tone(440)), .conference(3), .samples([1, 2, 3], sampleRate: 8_000, loops: true)])
    }

    @Test func `a playback hangs up when its sound is over, and minds no key`() {
        var application = LineEndpoint.Application.playback(Self.sound, loops: false).make(for: Self.call)
        let steps = Self.run(&application, [(0, .start), (5, .answered), (9, .key("#")), (10, .finished)])
        #expect(steps == [[.answer], [], [], [.hangUp(.normalClearing)]])
    }

    @Test func `a mailbox records behind the beep, until #`() {
        var application = LineEndpoint.Application.record(greeting: Self.sound).make(for: Self.call)
        guard case .samples(let beep, 8_000, false) = application.source else { return #expect(Bool(false), "\(application.source)") }
        #expect(beep.count == 4_003 && Array(beep.prefix(3)) == [1, 2, 3] && application.message == .later)
        let steps = Self.run(
            &application, [(0, .start), (1, .answered), (2, .key("#")), (3, .finished), (4, .key("1")), (5, .key("#")), (6, .finished)])
        #expect(steps == [[.answer], [], [], [.record, .play], [], Self.ended("key"), []])
        #expect(application.source == .quiet && application.message == .now)
    }

    private static func ended(_ cause: Text) -> [ApplicationStep] {
        [.note(.mailboxEnded, [.cause: .init(cause)]), .hangUp(.normalClearing)]
    }

    @Test(arguments: [(120, 120_003), (nil, nil)] as [(Int64?, Int64?)])
    func `a mailbox ends a message that is too long, from the beep on, once`(maximum: Int64?, due: Int64?) {
        var settings = MailboxSettings()
        settings.maximum = maximum.map { .seconds($0) }
        var application = LineEndpoint.Application.record(greeting: nil, settings).make(for: Self.call)
        #expect(Self.run(&application, [(0, .start), (1, .answered), (2, .due), (2, .silent)]) == [[.answer], [], [], []])
        #expect(application.deadline == nil)
        #expect(Self.run(&application, [(3, .finished)]) == [[.record, .play]])
        #expect(application.deadline == due.map { .zero + .milliseconds($0) })
        guard let due else { return }
        #expect(Self.run(&application, [(due - 1, .due), (due, .due), (due, .key("#"))]) == [[], Self.ended("maximum"), []])
        #expect(application.deadline == nil)
    }

    @Test func `a mailbox ends a message at a silence, and says which`() {
        var settings = MailboxSettings()
        (settings.silenceEnd, settings.minimum) = (.seconds(4), .seconds(2))
        var application = LineEndpoint.Application.record(greeting: nil, settings).make(for: Self.call)
        #expect(application.messageRules == MessageRules(leastSound: .seconds(2), silence: .seconds(4)))
        #expect(Self.run(&application, [(0, .finished), (1, .silent), (2, .silent)]) == [[.record, .play], Self.ended("silence"), []])
    }

    @Test func `an announcement lasts from its answer on`() {
        var application: any LineApplication = AnnouncementApplication.confirmation(true)
        #expect(Self.run(&application, [(0, .start)]) == [[.answer]] && application.deadline == nil)
        #expect(Self.run(&application, [(700, .answered)]) == [[]])
        #expect(application.deadline == .zero + .milliseconds(1_900))
        #expect(Self.run(&application, [(1_900, .due)]) == [[.hangUp(.normalClearing)]] && application.deadline == nil)
    }

    @Test(arguments: [
        (LineScript(.answer), 1, [ApplicationStep.answer], false), (LineScript(.ring), 1, [], false),
        (LineScript(.ring, after: .seconds(1)), 1, [], false),
        (LineScript(.reject(603)), 1, [.reject(status: 603)], false), (LineScript(.answer, busyEvery: 3), 3, [.reject(status: 486)], false),
        (LineScript(.answer, busyEvery: 3), 4, [.answer], false), (LineScript(.answer, after: .seconds(2)), 1, [.answer], true),
        (LineScript(.reject(480), after: .seconds(2)), 1, [.reject(status: 480)], true),
        (LineScript(.answer, after: .seconds(2), busyEvery: 2), 2, [.reject(status: 486)], false),
    ]) func `a scripted callee`(script: LineScript, call: Int, steps: [ApplicationStep], isLater: Bool) {
        var application: any LineApplication = ScriptedCallee(script, call: call)
        let first = Self.run(&application, [(10, .start)])[0]
        #expect(application.deadline == (isLater ? .zero + .milliseconds(2_010) : nil))
        #expect((isLater ? Self.run(&application, [(2_010, .due)])[0] : first) == steps)
        #expect(first.isEmpty == (isLater || steps.isEmpty) && application.deadline == nil)
    }

    // MARK: Settings

    @Test func `settings that an application lacks, or does not take`() {
        typealias Application = LineEndpoint.Application
        let sound = Self.sound
        #expect(Application(named: "playback")?.defect(loops: nil, isRecorded: false) == .needsSound)
        #expect(Application.playback(sound, loops: true).defect(loops: true, isRecorded: false) == nil)
        #expect(Application.record(greeting: nil).defect(loops: nil, isRecorded: false) == .needsRecording)
        #expect(Application.record(greeting: sound).defect(loops: nil, isRecorded: true) == nil)
        #expect(Application.record(greeting: sound).defect(loops: true, isRecorded: true) == .doesNotLoop)
        var echo = Application.echo
        #expect(echo.defect(loops: false, isRecorded: false) == .takesNoSound)
        echo.sound = sound
        #expect(echo.defect(loops: nil, isRecorded: false) == .takesNoSound && Application(named: "menus") == nil)
        #expect(Application(named: "menu")?.defect(loops: nil, isRecorded: false) == .needsMenu)
        #expect(Application.menu(Menu([.init(prompt: .sound(sound))])).defect(loops: nil, isRecorded: false) == nil)
        var playback = Application.playback(sound, loops: false)
        playback.menu = Menu([.init(prompt: .sound(sound))])
        #expect(playback.defect(loops: nil, isRecorded: false) == .takesNoMenu)
    }
}
