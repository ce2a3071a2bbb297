import Media
import Primitives
import RTP

/// Judges steps, each by what happened in its window. A value.
///
/// Calls that were begun in it count with what is known of them at its end. Those that were up before count when something goes wrong with
/// them in it; their sound counts for what came in it. Calls that ended in it count when both ends are over, which may be known later.
struct StepJudge {
    /// Unanswered for longer is a measurement: its set-up takes at least so long.
    private static let slow = Duration.milliseconds(500)
    /// What shows at the end of a call only; the rest may lie long back then.
    private static let faultsOfTheEnd: Set<Finding.Kind> = [.endedEarly, .noEnd, .forgottenEnd, .failure]

    /// What each step has come to whose window is closed.
    private(set) var steps: [Int: LoadTally] = [:]
    /// Calls that are over, and when their caller was; until the window closes.
    private var over: [(figures: CallFigures, ended: Duration)] = []
    private var closed: [StepWindow] = []

    /// - Parameter ended: after the beginning of the run. Where its window is closed already, the call is added to that step: an end that
    ///   was not passed on, and a
    ///   BYE that was not answered, are known seconds later.
    mutating func add(_ figures: CallFigures, ended: Duration) {
        guard let last = closed.last, ended < last.to else { return over.append((figures, ended)) }
        if let window = closed.last(where: { $0.holds(ended) }) { Self.add(figures, window, to: &steps[window.step, default: LoadTally()]) }
    }

    /// Makes the tally of the step. Forgets the calls of it.
    mutating func close(_ reading: StepReading) {
        var tally = LoadTally()
        tally.notBegun = reading.notBegun
        for (figures, ended) in over where reading.window.holds(ended) { Self.add(figures, reading.window, to: &tally) }
        for call in reading.calls { Self.add(call, reading, to: &tally) }
        over = over.filter { $0.ended >= reading.window.to }
        steps[reading.window.step] = tally
        closed.append(reading.window)
    }

    private static func add(_ figures: CallFigures, _ window: StepWindow, to tally: inout LoadTally) {
        if .seconds(fraction: figures.began) >= window.from || figures.outcome == .failed { return tally.add(figures) }
        var late = figures
        late.findings = figures.findings.filter { faultsOfTheEnd.contains($0.kind) }
        (late.setup, late.ring, late.answer, late.media, late.inviteTransit, late.answerTransit) = (nil, nil, nil, nil, nil, nil)
        (late.caller, late.callee) = (nil, nil)
        if late.findings.isEmpty { tally.addValues(of: late) } else { tally.add(late) }
    }

    private static func add(_ call: StepReading.Call, _ reading: StepReading, to tally: inout LoadTally) {
        let isNew = call.caller.began - reading.began >= reading.window.from, end = reading.began + reading.window.to
        var figures = self.figures(call, reading, setup: isNew)
        judgeSound(call, reading, &figures)
        if !isNew { return figures.findings.isEmpty ? tally.addValues(of: figures) : tally.add(figures) }
        guard call.caller.answered == nil else { return tally.add(figures) }
        guard call.caller.ringing == nil, end - call.caller.began >= slow else { return }
        figures.setup = (end - call.caller.began).inMilliseconds
        tally.addValues(of: figures)
    }

    private static func figures(_ call: StepReading.Call, _ reading: StepReading, setup isNew: Bool) -> CallFigures {
        let caller = call.caller, callee = call.callee
        func time(_ from: Instant?, _ to: Instant?) -> Double? {
            isNew ? from.flatMap { from in to.map { ($0 - from).inMilliseconds } } : nil
        }
        return CallFigures(
            number: call.number, kind: call.kind, step: reading.window.step, began: (caller.began - reading.began).inSeconds, callID: "",
            outcome: .good,
            status: caller.answered == nil ? 0 : 200, setup: time(caller.began, caller.ringing ?? caller.answered),
            ring: time(caller.ringing, caller.answered),
            answer: time(caller.began, caller.answered),
            duration: caller.answered.map { (reading.began + reading.window.to - $0).inMilliseconds },
            inviteTransit: time(caller.began, callee?.began), answerTransit: time(callee?.answered, caller.answered), retransmissions: 0,
            caller: sound(caller, from: callee, reading), callee: callee.flatMap { sound($0, from: caller, reading) }, findings: [])
    }

    /// The statistics of one end when the window began, and now; nil where nobody looked.
    private static func stretch(_ end: StepReading.End, _ reading: StepReading) -> (before: MediaStatistics, now: MediaStatistics)? {
        guard let now = end.now, end.before != nil || end.answered.map({ $0 >= reading.began + reading.window.from }) == true else {
            return nil
        }
        return (end.before ?? MediaStatistics(), now)
    }

    /// What came to one end in the window; nil where nobody looked when that began.
    ///
    /// - Parameter peer: the other end, where it is one of ours. Where nothing came of what it sent, all is lost, as in a whole call.
    private static func sound(_ end: StepReading.End, from peer: StepReading.End?, _ reading: StepReading) -> EndFigures? {
        guard let (before, now) = stretch(end, reading) else { return nil }
        var figures = EndFigures(
            codec: end.codec.map { "\($0)" }, encryption: end.encryption, sent: now.sending.packets &- before.sending.packets,
            received: now.receiving.packets &- before.receiving.packets)
        if let lost = now.receiving.lost {
            let gone = Double(lost) - Double(before.receiving.lost ?? 0), expected = gone + Double(figures.received)
            if expected > 0 { figures.lossPercent = max(0, 100 * gone / expected) }
        }
        let sent = peer.flatMap { stretch($0, reading) }.map { $0.now.sending.packets &- $0.before.sending.packets } ?? 0
        let isLost = figures.received == 0 && sent > SoundArrival.inFlight
        if isLost { figures.lossPercent = 100 }
        let impairment: CallQuality.Impairment = end.codec?.lowercased == "opus" && !isLost ? .opus : .g711
        let quality = CallQuality(
            impairment, loss: figures.lossPercent.map { $0 / 100 },
            delay: now.roundTrip.map { Duration.nanoseconds($0.wholeNanoseconds / 2) })
        (figures.rating, figures.mos) = (quality?.rFactor, quality?.meanOpinionScore)
        (figures.jitter, figures.roundTrip) = (figures.received > 0 ? now.receiving.jitter : nil, now.roundTrip.map(\.inMilliseconds))
        return figures
    }

    private static func judgeSound(_ call: StepReading.Call, _ reading: StepReading, _ figures: inout CallFigures) {
        let end = reading.began + reading.window.to
        guard let answered = call.caller.answered, end - max(answered, reading.began + reading.window.from) >= SoundArrival.shortest else {
            return
        }
        guard let caller = figures.caller, !call.expectsSilence else { return }
        let faults = [arrival(at: caller, from: figures.callee, call), figures.callee.map { arrival(at: $0, from: caller, call) }]
            .compactMap { $0?.fault(in: " in the step") }
        guard !faults.isEmpty else { return }
        (figures.findings, figures.outcome) = (faults, .faulty)
    }

    /// A target that may end what it plays is judged by all that came since the answer.
    private static func arrival(at end: EndFigures, from peer: EndFigures?, _ call: StepReading.Call) -> SoundArrival {
        var arrival = SoundArrival(at: end, from: peer, expectsEcho: call.expectsEcho, interruptions: call.interruptions)
        if arrival.origin == .target, let all = call.caller.now { arrival.received = all.receiving.packets }
        return arrival
    }
}
