import Audio
import Media
import Primitives
import RTP
import SIP
import UserAgent

/// A call of the load that is not over at both ends.
struct OpenCall {
    var loaded: LoadedCall
    /// The legs of its ends, and whether they are over.
    var caller: MediaLegID?, callee: MediaLegID?
    var callerIsOver = false, calleeIsOver = false
    var parties: CallParties
    var hold: Duration
}

/// The call of a leg, and the end of the call that the leg is; number 0 is a stranger's.
struct End {
    var number: UInt32
    var isCallee: Bool
}

/// The caller and the callee, as both ends see them.
struct CallParties: Hashable {
    var caller: Text
    var callee: Text
}

extension LoadClient {
    /// Carries the run and the number of a call; many systems pass it on to the other end.
    static let header = HeaderName("X-Hookswitch-Load")

    private var run: UInt32 { UInt32(truncatingIfNeeded: plan.seed) & 15 }
    private func tag(_ number: UInt32) -> Text { Text("\(plan.seed)-\(number)") }

    func call(due: Instant, at now: Instant) {
        numbers += 1
        let kind = plan.mix.draw(using: &random), hold = plan.hold.draw(using: &random), ordinal = numbers
        let number = plan.share?.number(ofCall: ordinal) ?? ordinal
        let (caller, target, callee) = parties(ordinal)
        let listens = isToListen(ordinal) && kind != .cancel && kind != .busy
        let signed = listens ? number : 0
        let signatures = (SoundSignature(run: run, call: signed, side: .caller), SoundSignature(run: run, call: signed, side: .callee))
        let script = plan.script ?? script(kind, hold, signatures.0, listens: listens)
        let record = CallRecord(peer: target.text, isOutgoing: true, script: CallScript(), began: now)
        let loaded = LoadedCall(
            number: number, kind: kind, step: progress.step, began: due - began, lateness: now - due, caller: record,
            calleeExpected: plan.playsBothEnds,
            isListenedTo: listens, signatures: signatures, expects: plan.expects,
            judgesKeys: plan.playsBothEnds || kind == .dtmf && plan.expects == .echo)
        let parties = CallParties(caller: caller.user, callee: callee)
        open[number] = OpenCall(loaded: loaded, parties: parties, hold: hold)
        if plan.playsBothEnds { awaited[parties, default: []].append(number) }
        if listens {
            open[number]?.loaded.upAtBeginning = listened
            listened.insert(number)
        }
        noteBegun(late: now - due)
        do throws(MediaError) {
            try phone.call(
                target, as: caller, headers: plan.marksCalls ? [(Self.header, tag(number))] : [], script: script, timeout: plan.timeout,
                at: now
            ) { call in
                ends[call.leg] = End(number: number, isCallee: false)
                open[number]?.caller = call.leg
            }
        } catch {
            progress.withoutPort += 1
            open[number]?.loaded.caller = CallRecord(withoutPort: target.text, isOutgoing: true, began: now)
            end(number, isCallee: false, at: now)
        }
        progress.active = open.count
    }

    private func noteBegun(late lateness: Duration) {
        progress.begun += 1
        progress.mostActive = max(progress.mostActive, open.count)
        progress.lateness.note(lateness)
        windowLateness.note(lateness)
    }

    /// Accounts call each other in pairs: the first half of them the second, in turn.
    private func parties(_ ordinal: UInt32) -> (caller: PhoneIdentity, target: URI, callee: Text) {
        let pairs = plan.accounts.count / 2
        if let target = plan.target {
            let caller = plan.accounts.isEmpty ? phone.identity : identity(of: plan.accounts[Int(ordinal - 1) % plan.accounts.count])
            return (caller, target, target.user ?? .empty)
        }
        let place = Int(ordinal - 1) % max(1, pairs), caller = identity(of: plan.accounts[place]),
            callee = plan.accounts[pairs + place].user
        return (caller, URI(user: callee, host: phone.identity.domain), callee)
    }

    private func isToListen(_ ordinal: UInt32) -> Bool {
        switch plan.listening {
        case .upTo(let limit): listened.count < limit
        case .share(let share):
            (Double(ordinal) * share).rounded(.down) > (Double(ordinal - 1) * share).rounded(.down) || (ordinal == 1 && share > 0)
        }
    }

    private func script(_ kind: CallKind, _ hold: Duration, _ signature: SoundSignature, listens: Bool) -> CallScript {
        var script = CallScript()
        (script.listens, script.duration) = (listens, hold)
        if plan.expects != .nothing { script.source = source(signature) }
        let third = Duration.nanoseconds(hold.wholeNanoseconds / 3)
        switch kind {
        case .plain, .cancel, .busy: script.steps = plan.steps ?? []
        case .hold: script.steps = [.wait(third), .hold, .wait(third), .resume]
        case .dtmf: script.steps = [.wait(min(third, .milliseconds(500))), .press(plan.keys)]
        case .reinvite: script.steps = [.wait(third), .reinvite]
        }
        if script.steps.last == .hangUp { script.duration = nil }
        return script
    }

    /// Those who are not listened to share one recording.
    private func source(_ signature: SoundSignature) -> MediaSource {
        if signature.call == 0, let common = commonSound { return common }
        let source = MediaSource.samples(signature.samples(), sampleRate: SoundSignature.sampleRate, loops: true)
        if signature.call == 0 { commonSound = source }
        return source
    }
}

// The other end.
extension LoadClient {
    /// An INVITE: to which call of ours does it belong?
    func receive(_ session: InviteSession, at now: Instant) {
        guard let number = number(of: session.request) else { return take(session, at: now) }
        guard let call = open[number] else { return }
        let began: (PhoneCall) -> Void = { [self] phoneCall in
            ends[phoneCall.leg] = End(number: number, isCallee: true)
            open[number]?.callee = phoneCall.leg
        }
        answer(session, as: call, at: now, began: began)
        guard open[number]?.callee == nil else { return }
        progress.withoutPort += 1
        let peer = session.request.from.uri.text
        open[number]?.loaded.callee = CallRecord(withoutPort: peer, isOutgoing: false, began: now)
    }

    private func answer(_ session: InviteSession, as call: OpenCall, at now: Instant, began: (PhoneCall) -> Void) {
        if call.loaded.kind == .busy { return phone.refuse(session, status: 486, at: now, began: began) }
        var script = CallScript()
        script.listens = call.loaded.isListenedTo
        if plan.expects != .nothing { script.source = source(call.loaded.signatures.callee) }
        let delay = call.loaded.kind == .cancel ? nil : plan.answersAfter
        phone.ring(session, answeringAfter: delay, script: script, at: now, began: began)
    }

    /// A call of somebody else's.
    private func take(_ session: InviteSession, at now: Instant) {
        if isAbandoned {
            session.respond(status: 480, at: now)
            return
        }
        let began: (PhoneCall) -> Void = { [self] in ends[$0.leg] = End(number: 0, isCallee: true) }
        guard let policy = plan.answering, !isStopping else {
            progress.strangers += 1
            return phone.refuse(session, status: 480, at: now, began: began)
        }
        callsTaken += 1
        switch policy.verdict(onCall: callsTaken, calls: phone.calls.count) {
        case .ring: phone.ring(session, answeringAfter: policy.answersAfter, script: policy.script, at: now, began: began)
        case .refuse(let status): phone.refuse(session, status: status, at: now, began: began)
        }
        leaveIfDone(at: now)   // where there was no port for it nobody hears of its end
    }

    /// As many as it was to take have come.
    var hasTakenAll: Bool { plan.answering?.totalCalls.map { callsTaken >= $0 } ?? false }

    /// By the header where it was passed on, else by who calls whom: the oldest call that waits.
    private func number(of request: Message) -> UInt32? {
        if let tag = request.headers[Self.header] {
            let parts = tag.bytes.split(separator: UInt8(ascii: "-")).map { Text($0) }
            guard parts.count == 2, parts[0] == Text("\(plan.seed)"), let number = parts[1].integer(UInt32.self) else { return nil }
            return take(number)
        }
        let pair = CallParties(caller: request.from.uri.user ?? .empty, callee: request.requestURI?.user ?? .empty)
        return (awaited[pair]?.first).flatMap(take)
    }

    /// Once: a fork of the same call is a stranger.
    private func take(_ number: UInt32) -> UInt32? {
        guard let call = open[number], call.callee == nil, forget(number, call.parties) else { return nil }
        return number
    }

    /// It is waited for no more; false when it was not.
    @discardableResult
    private func forget(_ number: UInt32, _ pair: CallParties) -> Bool {
        guard var numbers = awaited[pair], let place = numbers.firstIndex(of: number) else { return false }
        numbers.remove(at: place)
        awaited[pair] = numbers.isEmpty ? nil : numbers
        return true
    }
}

// Events of the calls.
extension LoadClient {
    func receive(_ event: PhoneCall.Event, of call: PhoneCall, at now: Instant) {
        if plan.tellsLegs { onEvent?(.leg(call.leg, event), now) }
        guard let end = ends[call.leg] else { return }
        switch event {
        case .ringing where !end.isCallee && open[end.number]?.loaded.kind == .cancel: call.hangUp(at: now)
        case .connected where !end.isCallee: progress.answered += 1
        case .ended(let record): receive(record, of: end, call.leg, at: now)
        default: break
        }
    }

    private func receive(_ record: CallRecord, of end: End, _ leg: MediaLegID, at now: Instant) {
        ends[leg] = nil
        guard end.number > 0, open[end.number] != nil else { return leaveIfDone(at: now) }
        if end.isCallee { open[end.number]?.loaded.callee = record } else { open[end.number]?.loaded.caller = record }
        self.end(end.number, isCallee: end.isCallee, at: now)
    }

    /// One end of a call is over; with the other one it is done.
    private func end(_ number: UInt32, isCallee: Bool, at now: Instant) {
        guard var call = open[number] else { return }
        if isCallee { call.calleeIsOver = true } else { call.callerIsOver = true }
        open[number] = call
        guard call.callerIsOver else { return }
        forget(number, call.parties)
        if call.callee == nil || call.calleeIsOver { return conclude(number, at: now) }
        halfOver.append((number, now + Self.timeoutForCallee))
    }

    /// The other end has not heard of the end in time.
    func forgetCallee(of number: UInt32, at now: Instant) {
        guard let call = open[number], let leg = call.callee, !call.calleeIsOver else { return }
        open[number]?.loaded.calleeWasForgotten = true
        phone.calls[leg]?.hangUp(at: now)
    }

    private func conclude(_ number: UInt32, at now: Instant) {
        guard let call = open.removeValue(forKey: number) else { return }
        progress.over += 1
        progress.active = open.count
        if call.loaded.isListenedTo { listened.remove(number) }
        onEvent?(.call(call.loaded), now)
        leaveIfDone(at: now)
    }
}
