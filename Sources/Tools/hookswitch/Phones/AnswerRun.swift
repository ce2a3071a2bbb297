import Dispatch
import Foundation
import Media
import Primitives
import Runtime
import Synchronization
import UserAgent
import Workbench

/// The way in which calls are to be answered.
struct AnswerPlan {
    var settings: LivePhoneSettings
    var policy: AnswerPolicy
    var registers: Bool
    var recordings: CallRecordings?
}

/// A telephone of our own that answers until it is told to stop.
struct AnswerRun {
    typealias Report = @Sendable (_ number: UInt64, CallResult, _ recordedIn: String?) throws -> Void

    private let plan: AnswerPlan
    private let reporter: ProgressReporter
    private let interface: PhoneInterface?
    private let desk: Desk

    /// - Parameter report: told of every call when it is over, one after the other, on a queue of its own.
    init(_ plan: AnswerPlan, reporter: ProgressReporter, interface: PhoneInterface? = nil, report: @escaping Report) {
        (self.plan, self.reporter, self.interface) = (plan, reporter, interface)
        desk = Desk(plan.recordings, reporter: reporter, report: report)
    }

    /// Waits for the last call, or for SIGINT or SIGTERM.
    ///
    /// - Parameter onStart: called when the port is bound.
    /// - Throws: exit code 3 when the port is in use or a file could not be written, 1 when the registration is refused.
    func perform(onStart: () -> Void = {}) throws {
        let signals = HangupSignals(reporter), phone = try start()
        onStart()
        let place = "\(plan.settings.transport) \(phone.address)"
        reporter.say("\(plan.registers ? "registering \(plan.settings.user) with \(plan.settings.server)" : "taking calls") at \(place)")
        let desk = desk,
            quit = { @Sendable in
                phone.stop()
                // A peer that does not answer our BYE must not keep us.
                desk.after(.seconds(5)) { phone.post { client, now in client.abandon(at: now) } }
            }
        signals.whenAsked(quit)
        begin(phone, quit)
        desk.waitUntilFinished()
        phone.close()
        withExtendedLifetime(signals) {}
        if let failure = desk.failure { throw failure }
    }

    private func begin(_ phone: LivePhone<LoadClient>, _ quit: @escaping @Sendable () -> Void) {
        guard let interface else { return }
        interface.lines.tell(.listening, at: MonotonicClock.now) {
            ($0.local, $0.transport) = ("\(phone.address)", "\(plan.settings.transport)")
        }
        interface.begin(phone, answers: true, quit: quit)
    }

    private func start() throws -> LivePhone<LoadClient> {
        let (plan, desk, reporter, interface) = (plan, desk, reporter, interface)
        var settings = plan.settings
        let account = plan.registers ? LoadAccount(user: settings.user, credentials: settings.credentials) : nil
        settings.onTLSFailure = { reporter.say("TLS: \($0)") }
        do throws(LivePhoneError) {
            return try LivePhone(settings) { phone in
                let client = LoadClient(phone: phone, plan: .answering(plan.policy, as: account))
                interface?.attach(to: client)
                client.onEvent = { [unowned client] event, now in
                    interface?.lines.hear(event, of: client, at: now)
                    desk.hear(event)
                }
                return client
            }
        } catch { throw Failure.cannotRun(error.description) }
    }
}

/// The desk at which calls are listened to and judged, one after the other, away from the telephone's lane.
private final class Desk: Sendable {
    private struct State {
        var isRegistered = false
        var failure: (any Error)?

        /// True the first time.
        mutating func becomesRegistered() -> Bool {
            defer { isRegistered = true }
            return !isRegistered
        }
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "desk")
    private let finished = DispatchSemaphore(value: 0)
    private let recordings: CallRecordings?
    private let reporter: ProgressReporter
    private let report: AnswerRun.Report

    init(_ recordings: CallRecordings?, reporter: ProgressReporter, report: @escaping AnswerRun.Report) {
        (self.recordings, self.reporter, self.report) = (recordings, reporter, report)
    }

    var failure: (any Error)? { state.withLock { $0.failure } }

    func hear(_ event: LoadClient.Event) {
        switch event {
        case .registered(let seconds):
            if state.withLock({ $0.becomesRegistered() }) { reporter.say("registered for \(seconds) s; ready") }
        case .registrationFailed(let failure, let retry): registrationFailed(failure, retry)
        case .leg(let leg, let event): hear(event, of: leg.rawValue)
        case .finished: finished.signal()
        case .began, .call, .step: break
        }
    }

    /// Refused for good, unless it had worked before or nobody answered.
    private func registrationFailed(_ failure: RegistrationFailure, _ retry: Duration) {
        let refusal = failure.status.flatMap { (400..<500).contains($0) && $0 != 408 ? $0 : nil }
        guard let refusal, !state.withLock({ $0.isRegistered }) else {
            return reporter.say("the registration failed\(failure.suffix); again in \(retry.wholeMilliseconds / 1_000) s")
        }
        note(Failure.bad("the registration was refused with \(refusal)"))
        finished.signal()
    }

    private func hear(_ event: PhoneCall.Event, of call: UInt64) {
        switch event {
        case .ringing: reporter.say("call \(call) rings")
        case .connected: reporter.say("call \(call) is answered")
        case .held: reporter.say("call \(call) is held by the other side")
        case .resumed: reporter.say("call \(call) is resumed")
        case .digit(let digit): reporter.say("call \(call): key \(digit)")
        case .recorded(let samples, let rate): queue.async { self.recordings?.append(samples, sampleRate: rate, of: call) }
        case .ended(let record): queue.async { self.conclude(record, call) }
        case .traced, .answered, .mediaStarted, .mediaStopped, .holdChanged, .holdRefused, .transferProgress, .muted, .digitsSent: break
        }
    }

    private func conclude(_ record: CallRecord, _ call: UInt64) {
        var file: String?, result = record.result()
        if let recordings, record.answered != nil {
            if let error = recordings.finish(call) {
                note(Failure.cannotRun(error.description))
                result.failure = result.failure ?? error.description
            } else {
                file = recordings.path(of: call)
            }
        }
        do { try report(call, result, file) } catch {
            note(error)
            reporter.readerHasGone()
        }
    }

    private func note(_ failure: any Error) { state.withLock { $0.failure = $0.failure ?? failure } }

    func after(_ delay: Duration, do work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay.wholeMilliseconds)), execute: work)
    }

    func waitUntilFinished() {
        finished.wait()
        queue.sync {}
    }
}
