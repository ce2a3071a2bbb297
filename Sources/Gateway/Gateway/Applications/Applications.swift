import Foundation
import Primitives
import RTP

/// Runs the applications of legs: tells them what happens, and does what they want. Lives on the signalling lane.
final class Applications {
    private let context: GatewayContext
    private let recorder: Recorder
    let streams: CallStreams
    /// Number of calls that each line's application has had.
    private var calls: [Int: Int] = [:]

    init(_ context: GatewayContext, _ recorder: Recorder, _ streams: CallStreams) {
        (self.context, self.recorder, self.streams) = (context, recorder, streams)
    }

    /// The caller hears ringing: the line's application begins, or the one that the leg has been given.
    func start(_ leg: Leg) {
        if leg.application == nil { leg.application = make(for: leg) }
        tell(leg) { $0.start(at: $1) }
    }

    private func make(for leg: Leg) -> (any LineApplication)? {
        let line = leg.line
        let number = calls[line.index, default: 0] + 1
        calls[line.index] = number
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

    func advance(_ leg: Leg) { tell(leg) { $0.advance(to: $1) } }

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
        case .play: if let agreed = leg.call.agreed { leg.media.update(leg.plan(for: agreed), at: context.now) }
        case .record: recorder.begin(leg)
        case .stream: streams.open(leg)
        case .hangUp(let cause): leg.requestEnd(cause)
        }
    }
}
