import CallJournal
import Primitives

/// Everything that is known of an app under test, in the order in which it came: events of its journal, notes of its line, and what the far
/// end saw.
package struct AppTimeline: Sendable {
    /// One thing that happened.
    package struct Entry: Sendable {
        package enum Source: String, Sendable { case app, far, step }

        package var time: Instant
        package var source: Source
        package var words: [String]
        package var call: CallUUID?
        /// The Call-ID, of what the far end saw.
        package var callID: Text = .empty
        /// The pitch of a sound, in Hz.
        package var pitch: Double?

        package var text: String { words.joined(separator: " ") + (pitch.map { " (\(Number.text($0)) Hz)" } ?? "") }

        package init(_ source: Source, _ text: String, call: CallUUID? = nil, at time: Instant) {
            (self.source, self.call, self.time) = (source, call, time)
            words = text.split(separator: " ").map(String.init)
        }
    }

    package private(set) var entries: [Entry] = []
    /// Broken rules, in words, and rules by which the app may do better.
    package private(set) var violations: [String] = [], advice: [String] = []
    /// Calls of which CallKit knows.
    package private(set) var known: Set<CallUUID> = []
    /// Calls that have a port.
    package private(set) var open: Set<CallUUID> = []
    private var uuids: [Text: CallUUID] = [:]
    private var numbers: [Text: String] = [:]
    private var callIDs: [CallUUID: Text] = [:]
    /// The place from where expectations look.
    private var window = 0
    private var windowBegan = Instant.zero

    package init() {}

    // MARK: What comes

    package mutating func note(_ event: JournalEvent) {
        if let call = event.call, let callID = event.details.text(.callid) { (uuids[callID], callIDs[call]) = (call, callID) }
        switch event.kind {
        case .auditViolation: violations.append(event.finding)
        case .auditAdvice: advice.append(event.finding)
        case .reportIncomingAccepted, .performStart: if let call = event.call { known.insert(call) }
        case .mediaReserved: if let call = event.call { open.insert(call) }
        case .mediaReleased: if let call = event.call { open.remove(call) }
        default: break
        }
        entries.append(Entry(.app, event.timelineWords, call: event.call, at: event.time))
    }

    package mutating func note(_ entry: Entry) { entries.append(entry) }

    /// Names the far end's side of a call.
    package mutating func name(_ callID: Text, _ number: String) { numbers[callID] = number }

    /// A sound that the far end heard, which is told once in a window.
    /// - Parameter began: when its first sample came; what was heard before the window began is nothing of it.
    package mutating func noteSound(_ entry: Entry, began: Instant) {
        guard began >= windowBegan else { return }
        let isTold = entries[window...].contains { other in
            other.callID == entry.callID && other.words == entry.words
                && abs((other.pitch ?? 0) - (entry.pitch ?? 0)) <= (entry.pitch ?? 0) * 0.03
        }
        if !isTold { entries.append(entry) }
    }

    /// Writes a step down. - Parameter opensWindow: expectations look at what comes after it.
    package mutating func note(step: String, opensWindow: Bool, at now: Instant) {
        entries.append(Entry(.step, step, at: now))
        if opensWindow { (window, windowBegan) = (entries.count, now) }
    }

    // MARK: Questions

    package func call(of callID: Text) -> CallUUID? { uuids[callID] }

    /// The far end's number of the call of an entry.
    package func number(of entry: Entry) -> String? { numbers[entry.call.flatMap { callIDs[$0] } ?? entry.callID] }

    /// The first of the expectations that is not met; nil: all are.
    package func unmet(_ expected: [AppExpectation]) -> AppExpectation? {
        var places: [Bool: Int] = [:]
        for expectation in expected {
            let isFar = expectation.words.first == Entry.Source.far.rawValue, start = places[isFar] ?? window
            guard let place = entries[start...].firstIndex(where: expectation.matches) else { return expectation }
            places[isFar] = place + 1
        }
        return nil
    }

    /// Whether it came in this window, in whatever order.
    package func hasCome(_ expectation: AppExpectation) -> Bool { entries[window...].contains(where: expectation.matches) }

    // MARK: The order

    /// One call's way from `perform` to sound.
    package struct Order: Sendable, Encodable {
        package struct Step: Sendable, Encodable {
            package var event: String
            /// Since the first of them.
            package var ms: Double
        }

        package var call: String
        package var steps: [Step]
    }

    /// In which order `perform`, the SIP answer, `didActivate` and media came, of each call that was asked for or answered.
    package var orders: [Order] {
        var calls: [CallUUID] = []
        for entry in entries where ["perform.start", "perform.answer"].contains(entry.words.first) {
            if let call = entry.call, !calls.contains(call) { calls.append(call) }
        }
        return calls.compactMap(order)
    }

    /// The first of each is a step of the order.
    private static let milestones = [
        ["perform.start"], ["perform.answer"], ["media.opened"], ["action.fulfilled"], ["report.connected"], ["session.activated"],
        ["media.started"], ["app", "sends", "sound"],
        ["app", "hears", "sound"],
    ]

    private func order(of call: CallUUID) -> Order? {
        let own = entries.filter { $0.call == call && $0.source == .app }
        guard let start = own.firstIndex(where: { ["perform.start", "perform.answer"].contains($0.words[0]) }) else { return nil }
        // The other way it is the answer to a re-INVITE.
        let answer = [own[start].words[0] == "perform.start" ? "sip.rx" : "sip.tx", "200", "INVITE"]
        let places = (Self.milestones + [answer]).compactMap { words in own[start...].firstIndex { $0.words.starts(with: words) } }
        let steps = places.sorted { (own[$0].time, $0) < (own[$1].time, $1) }.map { place in
            Order.Step(event: own[place].text, ms: Double((own[place].time - own[start].time).wholeNanoseconds / 1_000) / 1_000)
        }
        return Order(call: number(of: own[start]) ?? call.description, steps: steps)
    }
}

extension JournalEvent {
    /// The kind, and what tells events of one kind apart: `sip.tx 180 INVITE`, `perform.held on`, `call.ended remoteEnded`.
    var timelineWords: String {
        let status = details.number(.status).map { "\($0)" }, text = { (key: Key) in self.details.text(key)?.description }
        let rest: [String?] =
            switch kind {
            case .sipReceived, .sipSent: [status, text(.method), details.flag(.retransmission) ? "again" : nil]
            case .performHeld, .performMuted, .remoteHold: [details.flag(.on) ? "on" : "off"]
            case .performDTMF, .dtmfReceived: [text(.digits)]
            case .actionFulfilled, .actionFailed, .actionTimedOut: [text(.class), text(.cause)]
            case .callEnded, .reportEnded: [text(.reason)]
            case .reportIncomingRefused: [text(.error)]
            case .transactionRefused: [details[.code]?.text.description]
            case .mediaOpened: [text(.codec)]
            case .auditViolation, .auditAdvice: [text(.rule), text(.text)]
            default: []
            }
        return ([kind.rawValue] + rest.compactMap(\.self)).joined(separator: " ")
    }

    fileprivate var finding: String { [details.text(.rule), details.text(.text)].compactMap { $0?.description }.joined(separator: " ") }
}
