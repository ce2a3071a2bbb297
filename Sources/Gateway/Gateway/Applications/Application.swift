import Audio
import Primitives

extension LineEndpoint {
    /// An application of ours that answers the calls of a line, with its settings.
    public struct Application: Sendable, Equatable {
        /// As a configuration file names it.
        public private(set) var name: String
        /// The file that it plays; nil where it plays none.
        public var sound: WAV?
        /// The sound is played again and again.
        public var loops = false
        /// The menu that it plays; nil for other applications.
        public var menu: Menu?
        /// The queue that its callers wait in; nil for other applications.
        public var queue: QueueSettings?
        /// The program of a stream; nil where it is none.
        public var stream: StreamSettings?
        /// The limits of the messages that it takes; nil: the defaults, or it takes none.
        public var mailbox: MailboxSettings?
        /// Makes an application of the program's own; nil for ours.
        private var maker: Maker?

        /// The table of applications: a new one is a line here, and its file.
        static let table: [Kind] = [.echo, .tone, .conference, .playback, .mailbox, .menu, .queue, .stream]

        /// The names of all applications, as a configuration file has them.
        public static let names = table.map(\.name)

        /// An application of that name, without settings; nil where there is none.
        public init?(named name: String) {
            guard Self.table.contains(where: { $0.name == name }) else { return nil }
            self.name = name
        }

        init(_ kind: Kind, sound: WAV? = nil, loops: Bool = false) { (name, self.sound, self.loops) = (kind.name, sound, loops) }

        /// An application of the program's own: two of one name count as the same.
        ///
        /// - Parameters:
        ///   - name: as the console and the journal show it.
        ///   - make: called on the signalling lane for each call, when it rings.
        public static func custom(_ name: String, _ make: @escaping @Sendable (ApplicationCall) -> any LineApplication) -> Self {
            var application = Self(.echo)
            (application.name, application.maker) = (name, Maker(make: make))
            return application
        }

        private struct Maker: Sendable, Equatable {
            let make: @Sendable (ApplicationCall) -> any LineApplication

            static func == (left: Self, right: Self) -> Bool { true }
        }

        var kind: Kind { Self.table.first { $0.name == name } ?? .echo }

        /// The fault in its settings; nil: it can be made.
        /// - `isRecorded`: its line has a place for recordings.
        public func defect(loops: Bool?, isRecorded: Bool) -> Defect? {
            let kind = kind
            if kind.streams != (stream != nil) { return kind.streams ? .needsProgram : .takesNoProgram }
            if kind.sound == .required, sound == nil { return .needsSound }
            if kind.sound == .none, sound != nil { return .takesNoSound }
            if loops != nil, !kind.mayLoop { return kind.sound == .none ? .takesNoSound : .doesNotLoop }
            if kind.takesMenu != (menu != nil) { return kind.takesMenu ? .needsMenu : .takesNoMenu }
            if kind.takesQueue != (queue != nil) { return kind.takesQueue ? .needsQueue : .takesNoQueue }
            if !kind.takesMessages, mailbox != nil { return .takesNoMessages }
            return kind.takesMessages && !isRecorded ? .needsRecording : nil
        }

        /// A fault in the settings of an application.
        public enum Defect: Sendable {
            case needsSound, takesNoSound, doesNotLoop, needsRecording, takesNoMessages, needsMenu, takesNoMenu, needsQueue, takesNoQueue
            case needsProgram, takesNoProgram
        }

        /// The value of a first call to it as a demonstration for a person: 3 for his own voice, 1 for a sound, 0 for nothing.
        public var demonstration: Int { kind.demonstration }

        /// Some of its prompts are texts, which nobody has spoken yet.
        public var hasTexts: Bool {
            ((menu?.prompts ?? []) + (queue?.prompts ?? [])).contains { if case .text = $0 { true } else { false } }
        }

        /// Every prompt, changed by `body`.
        public mutating func mapPrompts(_ body: (Menu.Prompt) throws -> Menu.Prompt) rethrows {
            try menu?.mapPrompts(body)
            try queue?.mapPrompts(body)
        }

        func make(for call: ApplicationCall) -> any LineApplication { maker?.make(call) ?? kind.make(self, call) }
    }
}

extension LineEndpoint.Application {
    /// One sort of application: what it is called, which settings it takes, and how it is made for a call.
    struct Kind: Sendable {
        enum Sound { case none, optional, required }

        let name: String
        var sound = Sound.none
        var mayLoop = false
        /// Its line has a `recording`, for the messages.
        var takesMessages = false
        /// Its line has a `menu`.
        var takesMenu = false
        /// Its line has a `queue`.
        var takesQueue = false
        var demonstration = 0
        /// Its line names a program.
        var streams = false
        let make: @Sendable (LineEndpoint.Application, ApplicationCall) -> any LineApplication
    }
}

extension LineEndpoint.Application.Kind {
    static let menu = Self(name: "menu", takesMenu: true, demonstration: 1) { settings, _ in
        MenuApplication(settings.menu ?? Menu([Menu.Level(prompt: .text(""))]))
    }
    static let queue = Self(name: "queue", takesQueue: true, demonstration: 1) { settings, _ in
        QueueApplication(settings.queue ?? QueueSettings(members: []))
    }
}

extension LineEndpoint.Application {
    /// Plays prompts, and does what callers choose by pressing digits.
    public static func menu(_ menu: Menu) -> Self {
        var application = Self(.menu)
        application.menu = menu
        return application
    }
    /// Callers wait, with music, until a member takes their call.
    public static func queue(_ queue: QueueSettings) -> Self {
        var application = Self(.queue)
        application.queue = queue
        return application
    }
}
