import CallJournal
import Calls
import Foundation
import Primitives
import Runtime
import UserAgent
import Workbench

/// The timeline of an app under test, as its events come, and the wait for those still to come. Thread-safe.
final class AppWatch: @unchecked Sendable {
    /// All that has come.
    struct State {
        var timeline = AppTimeline()
        var isConnected = false, isRegistered = false, isFinished = false
        /// The app's connection is closed, and all of its lines are read.
        var isRead = false
        /// The app knows of the push that comes with the next call.
        var expectsPush = false
        /// The end of the app's process, in words; nil while it runs.
        var end: String?
        /// Steps that the app asked its line for at a wrong time.
        var refusals = 0
        /// The code with which the telephone refused what the user wanted.
        var refusal: String?
    }

    private let condition = NSCondition()
    /// Under the lock of `condition`.
    private var state = State()

    func change<Value>(_ work: (inout State) -> Value) -> Value {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return work(&state)
    }

    /// Waits until `look` gives something; nil when the time is over.
    func wait<Value>(_ limit: Duration, until look: (inout State) -> Value?) -> Value? {
        let end = Date(timeIntervalSinceNow: limit / .seconds(1))
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let value = look(&state) { return value }
            guard condition.wait(until: end) else { return look(&state) }
        }
    }

    // MARK: What comes

    func hear(_ event: AppFarEnd.Event) {
        change { state in
            switch event {
            case .registered: state.isRegistered = true
            case .named(let callID, let number): state.timeline.name(callID, number)
            case .saw(let entry): state.timeline.note(entry)
            case .heard(let entry, let began): state.timeline.noteSound(entry, began: began)
            }
        }
    }

    /// A line of the app's.
    func read(_ line: [UInt8]) {
        if let note = AppLink.note(line) { return take(note) }
        let events = JournalReader.parse(line + [UInt8(ascii: "\n")], name: "app").events
        change { state in for event in events { state.timeline.note(event) } }
    }

    private func take(_ note: AppLink.Note) {
        change { state in
            func entry(_ text: String) {
                let call = note.call.map { CallUUID($0) }
                state.timeline.note(.init(.app, text, call: call, at: Instant(nanoseconds: note.time)))
            }
            switch note.kind {
            case .refused:
                entry("user refused \(note.text)")
                state.refusal = note.text
            case .push: entry("push \(note.text)")
            case .expectsPush: state.expectsPush = true
            case .sendsSound: entry("app sends sound")
            case .hearsSound: entry("app hears sound")
            case .misunderstood: entry("user refused misunderstood")
            case .finished: (state.isFinished, state.refusals) = (true, Int(note.text) ?? 0)
            }
        }
    }
}
