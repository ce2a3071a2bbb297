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
    /// Faults that show only at the end of a call; the other faults may lie long before it.
    private static let faultsOfTheEnd: Set<Finding.Kind> = [.endedEarly, .noEnd, .forgottenEnd, .failure]

    /// The tally of each step whose window is closed.
    private(set) var steps: [Int: LoadTally] = [:]
    /// Calls that are over, and when their caller was; until the window closes.
    private var over: [(figures: CallFigures, ended: Duration)] = []
    private var closed: [StepWindow] = []

    /// - Parameter steps: the tallies of steps that others have judged.
    init(_ steps: [Int: LoadTally] = [:]) { self.steps = steps }

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

    /// The step is run again: what happened in its window, and in later ones, counts no more.
    mutating func forget(from step: Int) {
        steps = steps.filter { $0.key < step }
        closed.removeAll { $0.step >= step }
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
            caller: sound(caller, from: callee, reading, call), callee: callee.flatMap { sound($0, from: caller, reading, call) },
            findings: [])
    }

    /// Gives the media that one end sent and received in the window; nil where no reading was taken when the window began.
    private static func media(_ end: StepReading.End, _ reading: StepReading) -> EndMedia? {
        let from = reading.began + reading.window.from
        guard let now = end.now, let answered = end.answered, end.before != nil || answered >= from else { return nil }
        return EndMedia(
            now: now, before: end.before ?? MediaStatistics(), answered: answered, from: max(from, answered),
            until: reading.began + reading.window.to, dueSince: end.soundDueSince)
    }

    /// - Parameter peer: the other end, where it is one of ours.
    private static func sound(_ end: StepReading.End, from peer: StepReading.End?, _ reading: StepReading, _ call: StepReading.Call)
        -> EndFigures?
    {
        guard let media = media(end, reading) else { return nil }
        var figures = EndFigures(
            codec: end.codec.map { "\($0)" }, encryption: end.encryption, sent: media.sent, received: media.received)
        figures.note(arrival(media, from: peer, reading, call), in: media, codec: end.codec)
        (figures.jitter, figures.roundTrip) = (
            media.received > 0 ? media.now.receiving.jitter : nil, media.now.roundTrip.map(\.inMilliseconds)
        )
        return figures
    }

    private static func judgeSound(_ call: StepReading.Call, _ reading: StepReading, _ figures: inout CallFigures) {
        let end = reading.began + reading.window.to
        guard let answered = call.caller.answered, end - max(answered, reading.began + reading.window.from) >= SoundArrival.shortest else {
            return
        }
        guard let caller = media(call.caller, reading), call.expects != .nothing else { return }
        let hasCallee = figures.callee != nil
        let toCallee = call.callee.flatMap { media($0, reading) }.map { arrival($0, from: call.caller, reading, call) }
        let arrivals =
            [(arrival(caller, from: hasCallee ? call.callee : nil, reading, call), Finding.Direction.in)]
            + (hasCallee ? toCallee.map { [($0, .out)] } ?? [] : [])
        let faults = arrivals.compactMap { arrival, direction in arrival.fault(in: " in the step", direction) }
        guard !faults.isEmpty else { return }
        (figures.findings, figures.outcome) = (faults, .faulty)
    }

    /// A target that may end what it plays is judged by all that came since the answer.
    private static func arrival(_ here: EndMedia, from peer: StepReading.End?, _ reading: StepReading, _ call: StepReading.Call)
        -> SoundArrival
    {
        var here = here
        let there = peer.flatMap { media($0, reading) }
        if there == nil, call.expects == .prompt { here.before = MediaStatistics() }
        return SoundArrival(at: here, from: there, expecting: call.expects, interruptions: call.interruptions)
    }
}

extension EndFigures {
    /// By what came in the window alone.
    fileprivate mutating func note(_ arrival: SoundArrival, in media: EndMedia, codec: Text?) {
        var window = media.now
        window.receivingQuality = media.now.quality(codec: codec, lossPercent: arrival.lossPercent)
        note(arrival, window, codec: codec)
    }
}
