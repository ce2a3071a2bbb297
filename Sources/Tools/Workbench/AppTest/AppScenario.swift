import RTP

/// The test of an app's call code: the app's executable, and steps of its user and of the far end with what is expected of the app.
package struct AppScenario: Sendable {
    /// A step, and its place in the file.
    package struct Step: Sendable {
        package var act: Act
        package var line: Int
        /// As it is written.
        package var text: String

        package init(_ act: Act, line: Int, text: String) { (self.act, self.line, self.text) = (act, line, text) }
    }

    /// One step.
    package enum Act: Hashable, Sendable {
        case far(FarAct, call: String?)
        case user(UserAct, call: String?)
        /// A VoIP push without a call: a JSON object.
        case push(String)
        case wait(Duration)
        /// Expectations look at what comes after it.
        case fromHere
        /// All of them come in time; those of the app in this order, and so those of the far end.
        case expect([AppExpectation])
        /// None has come.
        case expectNone([AppExpectation])

        /// Something is done, and what is expected next is its effect.
        package var opensWindow: Bool {
            switch self {
            case .far, .user, .push, .fromHere: true
            case .wait, .expect, .expectNone: false
            }
        }
    }

    /// An act of the far end. A call is named by the far end's number.
    package enum FarAct: Hashable, Sendable {
        /// An INVITE, and with it a push, where one wakes the app.
        case call(from: String, name: String?, push: String?)
        case answer, hold, resume, hangUp
        case refuse(Int)
        case press([DTMFDigit])
        /// Nothing reaches it any more, and nothing comes from it.
        case goAway
    }

    /// An act of the app's user.
    package enum UserAct: Hashable, Sendable {
        case dial(String)
        case answer(endsOthers: Bool)
        case hangUp
        case hold(Bool), mute(Bool)
        case press(String)
        /// Joins the call with the one of that number.
        case join(with: String)
    }

    package var name: String
    /// The program and its arguments; empty: the command line names it.
    package var app: [String] = []
    /// The number that the app's line has.
    package var line = "1001"
    /// The time that a step waits for what it needs or expects.
    package var timeout = Duration.seconds(10)
    package var steps: [Step] = []

    package init(name: String) { self.name = name }
}

/// A pattern for an entry of the timeline: words that it begins with.
package struct AppExpectation: Hashable, Sendable, CustomStringConvertible {
    package var words: [String]
    /// The pitch of a sound, in Hz.
    package var pitch: Double?

    /// `sip.tx 180`, `perform.held on`, `far connected`, `far hears sound`, `far hears 440 Hz`.
    package init(_ text: String) {
        words = text.split(separator: " ").map(String.init)
        if words.count == 4, words[..<2] == ["far", "hears"], words[3] == "Hz", let pitch = Double(words[2]) {
            (words, self.pitch) = (["far", "hears", "sound"], pitch)
        }
    }

    package var description: String { pitch.map { "far hears \(Number.text($0)) Hz" } ?? words.joined(separator: " ") }

    /// Whether the telephone is to refuse what the user wants.
    package var isRefusal: Bool { words.starts(with: ["user", "refused"]) }

    func matches(_ entry: AppTimeline.Entry) -> Bool {
        guard entry.words.starts(with: words) else { return false }
        guard let pitch else { return true }
        return entry.pitch.map { abs($0 - pitch) <= pitch * 0.03 } ?? false
    }

    /// Notes of the app that are no events of its journal.
    package static let notes = ["app sends sound", "app hears sound", "push", "user refused"]
    /// Entries of the far end.
    package static let far = [
        "far invited", "far got", "far connected", "far held", "far resumed", "far holds", "far takes back", "far hold refused",
        "far hears", "far ended",
    ]
}
