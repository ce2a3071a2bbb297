import Media
import Primitives

/// The part of a step of the plan by which it is judged: from when it has settled until its end. Times are after the beginning of the run.
public struct StepWindow: Hashable, Sendable {
    /// The step of the plan, from 0 on.
    public var step: Int
    /// The first moment that counts, and the first that does not any more.
    public var from: Duration, to: Duration

    func holds(_ time: Duration) -> Bool { time >= from && time < to }

    /// Makes the windows of all steps that have an end, from the step `first` on, which begins at `time`.
    static func all(of plan: ArrivalPlan, settling: Duration?, from first: Int = 0, at time: Duration = .zero) -> [StepWindow] {
        var begin = time, windows: [StepWindow] = []
        for (index, step) in plan.steps.enumerated().dropFirst(first) {
            guard let length = step.time else { break }
            let settled = min(settling ?? usual(for: length), length)
            windows.append(StepWindow(step: index, from: begin + settled, to: begin + length))
            begin += length
        }
        return windows
    }

    /// A fifth of the step, of three seconds at most.
    private static func usual(for length: Duration) -> Duration { min(.seconds(3), .nanoseconds(length.wholeNanoseconds / 5)) }
}

/// The state of the calls that nobody has ended, at the end of a step.
public struct StepReading: Sendable {
    /// A call that is up or under way.
    public struct Call: Sendable {
        /// From 1 on, in the order of their beginning.
        public var number: UInt32
        /// The kind of the call: the task that it was given.
        public var kind: CallKind
        /// The end that called.
        public var caller: End
        /// The end that the tool answered; nil where there is none.
        public var callee: End?
        public var expects: ExpectedSound
        /// Keys and holds of the call.
        var interruptions: Int
    }

    /// One end of it.
    public struct End: Sendable {
        /// When the INVITE left or came.
        public var began: Instant
        /// Nil: not yet.
        public var ringing: Instant?, answered: Instant?
        /// That was agreed; nil before the answer.
        public var codec: Text?
        /// Nil before the answer.
        public var encryption: MediaEncryption?
        /// When the window began, nil for what was not there yet; and now. Nil: not looked at.
        public var before: MediaStatistics?, now: MediaStatistics?
        /// As in `CallRecord`.
        public var soundDueSince: Instant?
    }

    /// The part of the plan that the reading is about.
    public var window: StepWindow
    /// When the first call of the run could begin.
    public var began: Instant
    /// In the order of their beginning.
    public var calls: [Call]
    /// Calls of the window that the tool did not begin, at its limit of calls at a time or for want of a port.
    public var notBegun = 0
    /// The lateness of the calls that were begun in the window, by the plan.
    var lateness = Lateness()
}

// The client looks at its calls when a window begins and when it ends.
extension LoadClient {
    /// Asking all of thousands would keep the lane from its calls.
    private static let mostLookedAt = 500

    var nextLook: Instant? {
        guard progress.phase == .running || progress.phase == .ending, let window = windows.first else { return nil }
        return began + (baseline == nil ? window.from : window.to)
    }

    func look(at now: Instant) {
        guard let window = windows.first else { return }
        if baseline == nil {
            guard progress.phase == .running else { return windows.removeAll() }
            (baseline, notBegunBefore, windowLateness) = (statistics(at: now), progress.notBegun, Lateness())
        } else {
            close(window, at: now)
        }
    }

    /// Goes back to a step of the plan, which begins now: what was found in it may be the tool's own fault.
    ///
    /// - Returns: false where the run is over.
    @discardableResult
    func runAgain(_ step: Int, at now: Instant) -> Bool {
        guard progress.phase == .running || progress.phase == .ending, !isStopping else { return false }
        let elapsed = now - began
        schedule.go(to: step, at: elapsed)
        windows = StepWindow.all(of: plan.arrivals, settling: plan.settling, from: step, at: elapsed)
        (baseline, progress.phase) = (nil, .running)
        return true
    }

    /// The run ends before its step does.
    func closeWindow(at now: Instant) {
        if let window = windows.first, baseline != nil { close(window, at: now) }
        windows.removeAll()
    }

    private func close(_ window: StepWindow, at now: Instant) {
        let present = statistics(at: now), past = baseline ?? [:]
        windows.removeFirst()
        baseline = nil
        var window = window
        window.to = min(window.to, now - began)
        let calls = open.keys.sorted().compactMap { number -> StepReading.Call? in
            guard let call = open[number], !isEnding(call), let caller = end(call.caller, past, present) else { return nil }
            return StepReading.Call(
                number: number, kind: call.loaded.kind, caller: caller, callee: end(call.callee, past, present),
                expects: call.loaded.expects,
                interruptions: call.caller.flatMap { phone.calls[$0]?.record.interruptions } ?? 0)
        }
        let notBegun = progress.notBegun - notBegunBefore
        onEvent?(.step(StepReading(window: window, began: began, calls: calls, notBegun: notBegun, lateness: windowLateness)), now)
    }

    /// Its caller has hung up, or was refused: it counts when it is known how that went.
    private func isEnding(_ call: OpenCall) -> Bool {
        let state = call.caller.flatMap { phone.calls[$0]?.state }
        return state == .ending || state == .closed
    }

    private func end(_ leg: MediaLegID?, _ past: [MediaLegID: MediaStatistics], _ present: [MediaLegID: MediaStatistics]) -> StepReading
        .End?
    {
        guard let leg, let record = phone.calls[leg]?.record else { return nil }
        return StepReading.End(
            began: record.began, ringing: record.ringing, answered: record.answered, codec: record.codec, encryption: record.encryption,
            before: past[leg], now: present[leg], soundDueSince: record.soundDueSince)
    }

    /// Reads the statistics of the connected calls: of all, or of the first `mostLookedAt` by their numbers.
    private func statistics(at now: Instant) -> [MediaLegID: MediaStatistics] {
        var statistics: [MediaLegID: MediaStatistics] = [:]
        for number in open.keys.sorted().prefix(Self.mostLookedAt) {
            for leg in [open[number]?.caller, open[number]?.callee].compactMap(\.self) where phone.calls[leg]?.state == .connected {
                statistics[leg] = phone.statistics(of: leg, at: now)
            }
        }
        return statistics
    }
}
