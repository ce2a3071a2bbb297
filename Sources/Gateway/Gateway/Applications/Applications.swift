import Foundation
import Media
import Primitives
import RTP

/// Runs the applications of legs: tells them what happens, and does what they want. Lives on the signalling lane.
final class Applications {
    private let context: GatewayContext
    private let recorder: Recorder
    /// Calls for their callers; set once, before the first leg.
    var calls: ApplicationCalls!
    let queues: Queues
    let streams: CallStreams
    /// Number of calls that each line's application has had.
    private var counts: [Int: Int] = [:]

    init(_ context: GatewayContext, _ recorder: Recorder, _ queues: Queues, _ streams: CallStreams) {
        (self.context, self.recorder, self.queues, self.streams) = (context, recorder, queues, streams)
        queues.tell = { [unowned self] leg, event in tell(leg) { $0.told(event, at: $1) } }
    }

    /// The caller hears ringing: the line's application begins, or the one that the leg has been given.
    func start(_ leg: Leg) {
        if leg.application == nil { leg.application = make(for: leg) }
        tell(leg) { $0.start(at: $1) }
    }

    private func make(for leg: Leg) -> (any LineApplication)? {
        let line = leg.line
        let number = counts[line.index, default: 0] + 1
        counts[line.index] = number
        switch leg.endpoint {
        case .application(let application): return application.make(for: ApplicationCall(line: line.index, number: number))
        case .script(let script): return ScriptedCallee(script, call: number)
        case .devices, .trunk, .group: return nil
        }
    }

    func answered(_ leg: Leg) { tell(leg) { $0.answered(at: $1) } }

    func heard(_ digit: DTMFDigit, by leg: Leg) {
        streams.heard(digit, by: leg)
        tell(leg) { $0.heard(digit, at: $1) }
    }

    func sourceFinished(_ leg: Leg) { tell(leg) { $0.sourceFinished(at: $1) } }

    func fellSilent(_ leg: Leg) { tell(leg) { $0.fellSilent(at: $1) } }

    func advance(_ leg: Leg) { tell(leg) { $0.advance(to: $1) } }

    /// The call for its caller has reached nobody. False where there is none: the end is that of the caller's own call.
    func callFailed(_ leg: Leg, _ cause: EndCause, in bridge: UUID) -> Bool {
        guard leg.application != nil, leg.state == .connected, calls.giveUp(leg, cause, in: bridge) else { return false }
        tell(leg) { $0.callFailed(cause, at: $1) }
        return true
    }

    private func tell(_ leg: Leg, _ input: (inout any LineApplication, Instant) -> [ApplicationStep]) {
        guard var application = leg.application else { return }
        let before = application.deadline, steps = input(&application, context.now)
        leg.application = application
        if application.deadline != before {
            context.timers.arm(.application, of: leg, after: application.deadline.map { $0 - context.now })
        }
        for step in steps where leg.state != .ended { perform(step, leg) }
    }

    private func perform(_ step: ApplicationStep, _ leg: Leg) {
        switch step {
        case .answer: if leg.state == .ringing { leg.line.calls.answer(leg.uuid) }
        case .reject(let status):
            guard leg.state == .ringing else { return }
            leg.requestEnd(EndCause(status: status, reasons: StatusTable.q850(forStatus: status).map { [.q850($0)] } ?? []))
        case .play: play(leg)
        case .restart:
            play(leg, .quiet)
            play(leg)
        case .record: recorder.begin(leg)
        case .stream: streams.open(leg)
        case .hangUp(let cause): leg.requestEnd(cause)
        case .call(let callee): if let cause = calls.call(callee, for: leg) { tell(leg) { $0.callFailed(cause, at: $1) } }
        case .ask(let digits):
            calls.ask(about: leg, digits) { [unowned self] decision in tell(leg) { $0.decided(decision, at: $1) } }
        case .cancelCall: calls.cancel(leg)
        case .enqueue, .lookForMembers, .unanswered, .leaveQueue: performInQueue(step, leg)
        case .become(let application): replace(leg, with: application)
        case .note(let kind, let details): leg.scribe.write(kind, at: context.now, details)
        }
    }

    private func performInQueue(_ step: ApplicationStep, _ leg: Leg) {
        guard case .application(let application) = leg.endpoint, let settings = application.queue else { return }
        switch step {
        case .enqueue: queues.enter(leg, settings)
        case .lookForMembers: queues.offer(in: leg.line.configuration.number)
        case .unanswered: queues.unanswered(leg, settings)
        case .leaveQueue(let cause): queues.leave(leg, cause: cause)
        default: break
        }
    }

    /// - Parameter source: in the place of what its plan has.
    private func play(_ leg: Leg, _ source: MediaSource? = nil) {
        guard let agreed = leg.call.agreed else { return }
        var plan = leg.plan(for: agreed)
        if let source { plan.source = source }
        leg.media.update(plan, at: context.now)
    }

    private func replace(_ leg: Leg, with application: LineEndpoint.Application) {
        context.timers.arm(.application, of: leg, after: nil)
        leg.application = application.make(for: ApplicationCall(line: leg.line.index, number: counts[leg.line.index, default: 1]))
        play(leg)
        tell(leg) { $0.answered(at: $1) }
    }
}
