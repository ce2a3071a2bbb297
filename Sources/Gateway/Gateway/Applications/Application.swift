import Audio
import Primitives

extension LineEndpoint {
    /// An application of ours that answers the calls of a line, with its settings.
    public struct Application: Sendable, Equatable {
        /// As a configuration file names it.
        public let name: String
        /// The file that it plays; nil where it plays none.
        public var sound: WAV?
        /// The sound is played again and again.
        public var loops = false
        /// The program of a stream; nil where it is none.
        public var stream: StreamSettings?

        /// The table of applications: a new one is a line here, and its file.
        static let table: [Kind] = [.echo, .tone, .conference, .playback, .mailbox, .stream]

        /// The names of all applications, as a configuration file has them.
        public static let names = table.map(\.name)

        /// An application of that name, without settings; nil where there is none.
        public init?(named name: String) {
            guard Self.table.contains(where: { $0.name == name }) else { return nil }
            self.name = name
        }

        init(_ kind: Kind, sound: WAV? = nil, loops: Bool = false) { (name, self.sound, self.loops) = (kind.name, sound, loops) }

        var kind: Kind { Self.table.first { $0.name == name } ?? .echo }

        /// The fault in its settings; nil: it can be made.
        /// - `isRecorded`: its line has a place for recordings.
        public func defect(loops: Bool?, isRecorded: Bool) -> Defect? {
            let kind = kind
            if kind.streams != (stream != nil) { return kind.streams ? .needsProgram : .takesNoProgram }
            if kind.sound == .required, sound == nil { return .needsSound }
            if kind.sound == .none, sound != nil { return .takesNoSound }
            if loops != nil, !kind.mayLoop { return kind.sound == .none ? .takesNoSound : .doesNotLoop }
            return kind.takesMessages && !isRecorded ? .needsRecording : nil
        }

        /// A fault in the settings of an application.
        public enum Defect: Sendable { case needsSound, takesNoSound, doesNotLoop, needsRecording, needsProgram, takesNoProgram }

        /// The value of a first call to it as a demonstration for a person: 3 for his own voice, 1 for a sound, 0 for nothing.
        public var demonstration: Int { kind.demonstration }

        func make(for call: ApplicationCall) -> any LineApplication { kind.make(self, call) }
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
        var demonstration = 0
        /// Its line names a program.
        var streams = false
        let make: @Sendable (LineEndpoint.Application, ApplicationCall) -> any LineApplication
    }
}
