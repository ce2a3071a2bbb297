import CallJournal
import Calls
import Foundation
import Primitives
import Runtime
import SIP
import UserAgent
import Workbench

/// One scenario with one process of the app: the far end on a socket of this machine, the app's user, and the judge of both.
struct AppTestRun {
    /// The time in which an app must have made its line and registered it.
    private static let launchLimit = Duration.seconds(30)
    private static let releaseLimit = Duration.seconds(5)

    private let scenario: AppScenario
    private let watch = AppWatch()
    private let far: LivePhone<AppFarEnd>
    private let app: AppProcess
    private var result: AppTestResult

    /// - Throws: exit code 2 where there is no such program, 3 where it cannot be started or a socket cannot be had.
    init(_ scenario: AppScenario, file: String, app words: [String]) throws {
        self.scenario = scenario
        result = AppTestResult(file: file, name: scenario.name)
        _ = try AppProcess.find(words[0])
        let watch = watch
        var settings = LivePhoneSettings(user: "far", server: SocketAddress(.loopback, port: 5_060))
        (settings.address, settings.furtherMethods) = (.loopback, [.register])
        settings.mediaPorts = try FreePorts.block(of: 64, .v4)
        do throws(LivePhoneError) {
            far = try LivePhone(settings) { phone in
                let far = AppFarEnd(phone: phone)
                far.onEvent = { watch.hear($0) }
                return far
            }
        } catch { throw Failure.cannotRun(error.description) }
        let ports = try FreePorts.block(of: 64, .v4)
        app = try AppProcess(
            words, .setUp(line: scenario.line, server: "\(far.address)", lowestPort: ports.lowerBound, highestPort: ports.upperBound), watch
        )
    }

    /// Plays it to the end, or to the first step that does not come true.
    mutating func perform() -> AppTestResult {
        if let failure = launch() ?? play() { result.failures.append(failure) }
        end()
        let state = watch.change { $0 }
        result.refusals = state.refusals
        result.take(state.timeline)
        return result
    }

    private func launch() -> AppTestResult.Failure? {
        let isUp = watch.wait(Self.launchLimit) { state in state.isRegistered || state.end != nil ? state.isRegistered : nil }
        if isUp == true { return nil }
        return watch.change { state in
            if let end = state.end { return .init("the app ended \(end) before its line was registered") }
            let limit = Self.launchLimit.wholeMilliseconds / 1_000
            return .init("the app \(state.isConnected ? "did not register its line" : "made no LiveAppLine") within \(limit) s")
        }
    }

    private func play() -> AppTestResult.Failure? {
        for step in scenario.steps {
            watch.change { $0.timeline.note(step: step.text, opensWindow: step.act.opensWindow, at: MonotonicClock.now) }
            let message = perform(step.act), isOver = watch.change { $0.end != nil }
            if let message = message ?? (isOver ? "the step was not done" : nil) {
                return .init(message + trouble, line: step.line, step: step.text)
            }
        }
        return watch.change(\.refusal).map { .init("the telephone refused what the user wanted: \($0)") }
    }

    /// The likely reason of a failed step: an app that ended, or a refusal of its telephone; empty where there is none.
    private var trouble: String {
        watch.change { state in
            state.end.map { "; the app ended \($0)" } ?? state.refusal.map { "; the telephone refused what the user wanted: \($0)" } ?? ""
        }
    }

    // MARK: Steps

    /// - Returns: what went wrong.
    private func perform(_ act: AppScenario.Act) -> String? {
        switch act {
        case .far(let act, let call): return perform(act, call)
        case .user(let act, let call): return perform(act, call)
        case .push(let payload): app.send(.push(payload))
        case .wait(let time): _ = watch.wait(time) { $0.end }
        case .fromHere: break
        case .expect(let expected): return expect(expected)
        case .expectNone(let unexpected):
            let come = watch.change { state in unexpected.first { state.timeline.hasCome($0) } }
            return come.map { "'\($0)' has come" }
        }
        return nil
    }

    private func perform(_ act: AppScenario.FarAct, _ call: String?) -> String? {
        if case .call(_, _, let push?) = act, !announce(push) { return "the app's main queue does not run" }
        let isDone = ask { far, now in far.perform(act, on: call, at: now) ? true : nil }
        return isDone == nil ? "there is no call\(call.map { " of \($0)" } ?? "") with which the far end can do that" : nil
    }

    /// The INVITE must not come before the app's line knows of its push.
    private func announce(_ push: String) -> Bool {
        watch.change { $0.expectsPush = false }
        app.send(.pushWithNextCall(push))
        return watch.wait(scenario.timeout) { $0.expectsPush || $0.end != nil ? true : nil } != nil
    }

    /// Asks the far end again whenever something has come, until it has an answer.
    private func ask<Value: Sendable>(_ question: @escaping @Sendable (AppFarEnd, Instant) -> Value?) -> Value? {
        let end = MonotonicClock.now + scenario.timeout
        while true {
            let before = watch.change { $0.timeline.entries.count }
            if let value = far.ask({ far, now in question(far, now) }) ?? nil { return value }
            let left = end - MonotonicClock.now
            guard left > .zero, watch.change({ $0.end }) == nil else { return nil }
            _ = watch.wait(min(left, .milliseconds(250))) { $0.timeline.entries.count > before ? true : nil }
        }
    }

    private func perform(_ act: AppScenario.UserAct, _ number: String?) -> String? {
        if case .dial(let target) = act {
            app.send(.dial(target))
            return nil
        }
        guard let call = known(number) else { return missing(number) }
        switch act {
        case .dial: break
        case .answer(let endsOthers): app.send(.answer(call, endsOthers: endsOthers))
        case .hangUp: app.send(.end(call))
        case .hold(let isHeld): app.send(.hold(call, isHeld))
        case .mute(let isMuted): app.send(.mute(call, isMuted))
        case .press(let keys): app.send(.press(call, keys))
        case .join(let number):
            guard let other = known(number) else { return missing(number) }
            app.send(.join(call, with: other))
        }
        return nil
    }

    private func missing(_ number: String?) -> String {
        "the telephone shows no call\(number.map { " of \($0)" } ?? ""): the app has not reported it, or has not started it"
    }

    /// Waits until CallKit knows the newest call of a number, or of all. Its UUID in the journal.
    private func known(_ number: String?) -> UUID? {
        let watch = watch
        return ask { far, _ in
            guard let callID = far.callID(of: number) else { return nil }
            return watch.change { state in
                state.timeline.call(of: callID).flatMap { state.timeline.known.contains($0) ? $0.uuid : nil }
            }
        }
    }

    private func expect(_ expected: [AppExpectation]) -> String? {
        let isMet = watch.wait(scenario.timeout) { state -> Bool? in
            if state.timeline.unmet(expected) == nil {
                if expected.contains(where: \.isRefusal) { state.refusal = nil }
                return true
            }
            return state.end == nil ? nil : false
        }
        guard isMet != true else { return nil }
        return watch.change { state in
            guard let unmet = state.timeline.unmet(expected) else { return nil }
            return state.timeline.hasCome(unmet)
                ? "'\(unmet)' came, but before what is expected ahead of it"
                : "'\(unmet)' did not come within \(Bounded.short(scenario.timeout / .seconds(1))) s"
        }
    }

    // MARK: The end

    /// Hangs up what is still up, waits until the app's media is closed, and takes the app down.
    private mutating func end() {
        far.stop()
        if watch.wait(Self.releaseLimit, until: { $0.timeline.open.isEmpty || $0.end != nil ? true : nil }) == nil {
            result.failures.append(.init("the app's media of \(watch.change { $0.timeline.open.count }) calls is not closed at the end"))
        }
        app.send(.finish)
        // A process may have ended before its last lines are read.
        _ = watch.wait(Self.releaseLimit) { $0.isFinished || ($0.isConnected ? $0.isRead : $0.end != nil) ? true : nil }
        app.close(watch)
        let state = watch.change { $0 }
        if !state.isFinished, result.failures.isEmpty {
            result.failures.append(.init("the app ended \(state.end ?? "late") before its journal was complete"))
        }
        far.close()
    }
}
