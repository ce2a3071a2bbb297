import Audio
import Primitives

/// A menu: prompts, and the choices that callers press digits for.
public struct Menu: Sendable, Equatable {
    /// A sound that is played to the caller.
    public enum Prompt: Sendable, Equatable {
        case sound(WAV)
        /// A text that has not been spoken yet: nothing is heard.
        case text(String)

        var sound: WAV? {
            guard case .sound(let sound) = self, !sound.samples.isEmpty else { return nil }
            return sound
        }
    }

    /// The consequence of a choice.
    public enum Choice: Sendable, Equatable {
        /// The number is called, as if the caller had dialled it.
        case call(Text)
        /// A number is called over the trunk of a line.
        case trunk(Text, number: Text)
        /// A line that takes messages is called.
        case mailbox(Text)
        /// Another level of the menu, by its index.
        case level(Int)
        /// The level above.
        case back
        /// The prompt once more.
        case again
        case hangUp
        /// The decision hook is asked.
        case hook
    }

    /// One prompt and its choices.
    public struct Level: Sendable, Equatable {
        /// The keys that lead to it, as `2 1`; empty for the first.
        public var path: Text = .empty
        /// Played once, before the first prompt.
        public var greeting: Prompt?
        /// The prompt of the level, played each time that digits are expected.
        public var prompt: Prompt
        /// Played after digits that no choice has.
        public var invalid: Prompt?
        /// Played when the party of a choice was not reached.
        public var unavailable: Prompt?
        /// By digits: 0 to 9, `*` and `#`.
        public var choices: [Text: Choice] = [:]
        /// The time for the first digit, after the prompt.
        public var timeout: Duration = .seconds(5)
        /// The time for each further digit, where more may come.
        public var digitTimeout: Duration = .seconds(3)
        /// The number of times that the prompt is played again, after none or wrong digits, before `otherwise`.
        public var retries = 2
        /// A digit ends the prompt; where it is false, digits that come during the prompt are lost.
        public var bargesIn = true
        /// The consequence of too many attempts; one that leads to a prompt of the menu would never end.
        public var otherwise = Choice.hangUp
        /// The level above; nil for the first.
        public var parent: Int?

        /// A level without choices.
        public init(prompt: Prompt) { self.prompt = prompt }
    }

    /// The first is the one that callers hear first.
    public var levels: [Level]

    /// - Parameter levels: at least one.
    public init(_ levels: [Level]) { self.levels = levels }

    /// All prompts of all levels.
    var prompts: [Prompt] { levels.flatMap { [$0.greeting, $0.prompt, $0.invalid, $0.unavailable].compactMap(\.self) } }

    /// Every prompt, changed by `body`.
    mutating func mapPrompts(_ body: (Prompt) throws -> Prompt) rethrows {
        for index in levels.indices {
            levels[index].prompt = try body(levels[index].prompt)
            if let greeting = levels[index].greeting { levels[index].greeting = try body(greeting) }
            if let invalid = levels[index].invalid { levels[index].invalid = try body(invalid) }
            if let unavailable = levels[index].unavailable { levels[index].unavailable = try body(unavailable) }
        }
    }
}

extension Menu.Level {
    /// The choices, and `otherwise`.
    public var consequences: [Menu.Choice] { Array(choices.values) + [otherwise] }

    /// The choice for these digits, where there is one, and whether further digits may name another.
    func choice(_ digits: Text) -> (exact: Menu.Choice?, mayGoOn: Bool) {
        let longer = choices.keys.contains { $0.bytes.count > digits.bytes.count && $0.bytes.starts(with: digits.bytes) }
        return (choices[digits], longer)
    }
}

extension Menu.Choice {
    /// As the journal has it.
    var text: Text {
        switch self {
        case .call(let number): "number " + number
        case .trunk(let line, let number): "trunk " + line + " " + number
        case .mailbox(let line): "mailbox " + line
        case .level: "menu"
        case .back: "back"
        case .again: "repeat"
        case .hangUp: "hang-up"
        case .hook: "hook"
        }
    }
}
