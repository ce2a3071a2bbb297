import Primitives
import SIP
import UserAgent

/// One case as it is played: its steps, then everything is put back to where it was, then the target has to answer an OPTIONS.
final class TorturePlay {
    enum Phase { case playing, leaving, asking, over }

    let test: TortureCase
    let caller: TorturePhone
    let callee: TorturePhone?
    private let probe: TorturePhone
    private let settings: TorturePlan
    private(set) var phase = Phase.playing
    private(set) var result: TortureResult
    private let began: Instant
    private var index = 0
    /// Until when the present step, or phase, may wait.
    private var limit: Instant?
    /// The message that is judged by itself, and what was asked of its receiver.
    private var message: (exchange: TortureExchange, TortureMessage)?
    /// The connection ended while the case was played.
    private var wasCut = false
    private var nextQuestion: Instant?
    /// Nothing more of the target is heard.
    private(set) var foundDead = false

    init(_ test: TortureCase, caller: TorturePhone, callee: TorturePhone?, probe: TorturePhone, settings: TorturePlan, at now: Instant) {
        (self.test, self.caller, self.callee, self.probe) = (test, caller, callee, probe)
        (self.settings, began) = (settings, now)
        result = TortureResult(test)
    }

    private var phones: [TorturePhone] { [caller, callee].compactMap(\.self) }

    // MARK: The steps

    /// Goes on as far as it can.
    func proceed(at now: Instant) {
        while phase == .playing {
            guard index < test.steps.count else { return leave(at: now) }
            let isLate = limit.map { now >= $0 } ?? false
            switch attempt(test.steps[index], isLate: isLate, at: now) {
            case .done:
                index += 1
                limit = nil
            case .waits(let timeout):
                if limit == nil { limit = now + timeout }
                return
            case .failed(let expected, let came): fail(expected, came, at: now)
            case .unjudged(let reason):
                (result.verdict, result.reason) = (.notJudged, reason)
                leave(at: now)
            }
        }
        if phase == .leaving { tidy(at: now) }
        if phase == .asking { listen(at: now) }
    }

    private enum Outcome {
        case done
        case waits(Duration)
        case failed(expected: String, came: String)
        case unjudged(String)
    }

    private func phone(_ party: TortureParty) -> TorturePhone { party == .caller ? caller : callee ?? caller }

    private func attempt(_ step: TortureStep, isLate: Bool, at now: Instant) -> Outcome {
        switch step {
        case .message(let message): return attempt(message, isLate: isLate, at: now)
        case .send(let party, let request):
            phone(party).send(request, at: now)
            return .done
        case .prepare(let party, let request):
            phone(party).prepare(request)
            return .done
        case .answered(let party): return answered(phone(party), isLate)
        case .final(let party, let method, let demand): return final(phone(party), method, demand, isLate)
        case .again(let party, let method): return again(phone(party), method, isLate)
        case .arrives(let party, let method, let timeout): return arrives(phone(party), method, timeout, isLate)
        case .answer(let party, let method, let status, let body, let tag):
            return phone(party).answer(method, status, body, tag: tag, at: now) ? .done : .unjudged("there is no \(method) to answer")
        case .leave(let party):
            phone(party).acknowledgeAll(at: now)
            if phone(party).last(.invite)?.acceptance != nil { phone(party).send(.bye, at: now) }
            return .done
        case .describes(let party, let check): return describes(phone(party), check)
        case .allows(let method):
            return caller.allowed.contains(method.text) ? .done : .unjudged("the target's Allow has no \(method)")
        case .pause(let time): return isLate ? .done : .waits(time)
        }
    }

    private func answered(_ phone: TorturePhone, _ isLate: Bool) -> Outcome {
        guard let final = phone.last(.invite)?.final else {
            return isLate ? .unjudged("the call was not answered") : .waits(settings.timeout)
        }
        return (200..<300).contains(final.status) ? .done : .unjudged("the call was not answered: \(final.text)")
    }

    private func final(_ phone: TorturePhone, _ method: Method, _ demand: TortureDemand, _ isLate: Bool) -> Outcome {
        guard let exchange = phone.last(method), exchange.isSent else { return .unjudged("no \(method) was sent") }
        let expected = "\(demand.text) to \(method)"
        guard let final = exchange.final else {
            return isLate ? .failed(expected: expected, came: exchange.soFar) : .waits(settings.timeout)
        }
        if demand.accepts(final.status) { return judge(final.response, has: demand.header, expected, final.text) }
        if final.status == 401 || final.status == 407 {
            return .unjudged("the target wants to know who calls (\(final.status)): --register LINE --password PASSWORD")
        }
        if final.status == 503 { return .unjudged("the target has too much to do (503)") }
        return .failed(expected: expected, came: final.text)
    }

    private func judge(_ response: Message?, has header: HeaderName?, _ expected: String, _ came: String) -> Outcome {
        guard let header, let response, !response.headers.contains(header) else { return .done }
        return .failed(expected: expected, came: "\(came) without \(header.text)")
    }

    private func again(_ phone: TorturePhone, _ method: Method, _ isLate: Bool) -> Outcome {
        let expected = "the same response to \(method) again"
        guard let exchange = phone.last(method), let first = exchange.final, exchange.finals.count > 1, let last = exchange.finals.last
        else {
            return isLate ? .failed(expected: expected, came: "nothing") : .waits(settings.timeout)
        }
        if first.status != last.status { return .failed(expected: expected, came: "\(last.text) after \(first.text)") }
        return first.response?.to.tag == last.response?.to.tag ? .done : .failed(expected: expected, came: "\(last.text) with another tag")
    }

    private func arrives(_ phone: TorturePhone, _ method: Method, _ timeout: Duration?, _ isLate: Bool) -> Outcome {
        if let index = phone.received.firstIndex(where: { $0.message.method == method && !$0.isNoticed }) {
            phone.received[index].isNoticed = true
            return .done
        }
        if method == .invite {
            let refusal = caller.last(.invite)?.final
            if let refusal {
                return .unjudged(
                    "the target did not call \(callee?.local.uri.user?.description ?? "the line"), and answered \(refusal.text)")
            }
            return isLate ? .unjudged("the target did not call the line") : .waits(settings.timeout)
        }
        return isLate ? .failed(expected: "\(method) from the target", came: "nothing") : .waits(timeout ?? settings.timeout)
    }

    private func describes(_ phone: TorturePhone, _ check: AnswerCheck) -> Outcome {
        let exchange = phone.sent.last { $0.method == .invite || $0.method == .update }
        guard let response = exchange?.acceptance else { return .done }
        guard let fault = check.fault(of: response.body, after: phone.previousDescription) else { return .done }
        return .failed(expected: check.expected, came: fault)
    }

    private func fail(_ expected: String, _ came: String, at now: Instant) {
        if result.verdict == .passed { (result.verdict, result.expected, result.came) = (.failed, expected, came) }
        if phase == .playing { leave(at: now) }
    }

    // MARK: A message

    private func attempt(_ message: TortureMessage, isLate: Bool, at now: Instant) -> Outcome {
        guard let sent = self.message?.exchange else { return send(message, at: now) }
        result.expected = message.demand.text
        if let final = sent.final {
            result.came = final.text
            if message.demand.accepts(final.status) {
                return judge(final.response, has: message.demand.header, message.demand.text, final.text)
            }
            if message.demand.isSilence { return .failed(expected: message.demand.text, came: final.text) }
            return reason(final.status, message).map { .unjudged($0) } ?? .failed(expected: message.demand.text, came: final.text)
        }
        if wasCut, message.traits.contains(.breaksStream) {
            result.came = "the connection was closed"
            return .done
        }
        guard isLate else {
            return .waits(message.demand.isSilence || message.traits.contains(.maySilence) ? settings.silence : settings.timeout)
        }
        result.came = sent.soFar
        if message.demand.isSilence || message.traits.contains(.maySilence) { return .done }
        if !sent.provisionals.isEmpty {
            return message.demand.accepts(183) ? .done : .failed(expected: message.demand.text, came: sent.soFar)
        }
        if message.traits.contains(.answerGoesAstray), settings.losesStrayAnswers {
            return .unjudged("its Via is broken, and where its answer goes we do not listen: --exact, or --transport tcp")
        }
        return .failed(expected: message.demand.text, came: "nothing")
    }

    private func send(_ message: TortureMessage, at now: Instant) -> Outcome {
        let dressed = TortureDressing(
            message.bytes, mark: settings.isExact ? nil : caller.localTag, asksForPort: !settings.flow.transport.isReliable)
        if !settings.flow.transport.isReliable, let port = dressed.answerPort, port != settings.flow.local.port {
            return .unjudged("its Via has port \(port), where its answer goes and we do not listen")
        }
        caller.send(bytes: dressed.bytes, callID: dressed.callID, at: now)
        if let exchange = caller.sent.last { self.message = (exchange, message) }
        return .waits(message.demand.isSilence || message.traits.contains(.maySilence) ? settings.silence : settings.timeout)
    }

    /// Why an answer that was not asked for says nothing against the target.
    private func reason(_ status: Int, _ message: TortureMessage) -> String? {
        switch status {
        case 401, 407: "the target wants to know who asks before it looks (\(status))"
        case 503: "the target has too much to do (503)"
        case 403, 404, 480, 484, 604:
            message.traits.contains(.addressComesFirst) ? "the target looked at the address first (\(status))" : nil
        default: nil
        }
    }

    // MARK: The end

    private func leave(at now: Instant) {
        (phase, limit) = (.leaving, now + settings.timeout)
        tidy(at: now)
        if phase == .asking { listen(at: now) }
    }

    /// Nothing is left of any call; then the target has to be alive.
    private func tidy(at now: Instant) {
        for phone in phones { phone.tidy(at: now) }
        let open = phones.compactMap(\.unfinished)
        guard open.isEmpty || limit.map({ now >= $0 }) == true else { return }
        if let open = open.first { fail("an answer to our \(open)", "nothing", at: now) }
        for phone in phones { phone.rest() }
        (phase, limit) = (.asking, now + settings.timeout)
        ask(at: now)
    }

    /// Over a stream it is asked again: the connection may have been given up behind the last message, without a word to us.
    private func ask(at now: Instant) {
        nextQuestion = settings.flow.transport.isReliable ? now + .seconds(1) : nil
        probe.send(TortureRequest(method: .options), at: now)
    }

    private func listen(at now: Instant) {
        let isHeard = probe.sent.contains { $0.final != nil }
        if !isHeard, let due = nextQuestion, due <= now { ask(at: now) }
        guard isHeard || limit.map({ now >= $0 }) == true else { return }
        probe.rest()
        if !isHeard {
            foundDead = true
            result.verdict = .passed
            fail("an answer to OPTIONS afterwards", "nothing", at: now)
        }
        if let (exchange, message) = message, message.demand.isSilence, result.verdict == .passed, let late = exchange.final {
            fail(message.demand.text, late.text, at: now)
        }
        result.milliseconds = Double((now - began).wholeNanoseconds / 10_000) / 100
        phase = .over
    }

    /// A response, or what looks like one. False when it is not for this case.
    func receive(_ response: Message?, status: Int, bytes: [UInt8], at now: Instant) -> Bool {
        let isOurs = ([probe] + phones).contains { $0.receive(response, status: status, bytes: bytes, at: now) }
        if isOurs { proceed(at: now) }
        return isOurs
    }

    /// It is left where it is, in good order.
    func stop(at now: Instant) {
        guard phase == .playing else { return }
        (result.verdict, result.reason) = (.notJudged, "stopped before its end")
        leave(at: now)
    }

    /// The connection is gone.
    func cut(at now: Instant) {
        wasCut = true
        proceed(at: now)
    }

    var deadline: Instant? {
        guard phase != .over else { return nil }
        return (phones.compactMap(\.deadline) + [limit, probe.deadline, phase == .asking ? nextQuestion : nil].compactMap(\.self)).min()
    }

    func advance(to now: Instant) {
        for phone in phones + [probe] { phone.advance(to: now) }
        proceed(at: now)
    }
}

extension TortureExchange {
    /// The responses that came where no final one did.
    fileprivate var soFar: String { provisionals.last.map { "\($0) and no more" } ?? "nothing" }
}
