import Primitives
import SIP

// Rules about media and the audio session.
extension AuditRule {
    private static let making: [JournalEvent.Kind] = [.mediaConfigured, .mediaOpened, .mediaStarted]

    /// Media is configured, opened and started only after `perform.answer` (incoming) or `perform.start` (outgoing) began.
    static let m1 = AuditRule(
        .M1, "no media before perform.answer or perform.start", on: making,
        check: { event, facts in
            let call = facts.current
            let began = call.direction == .incoming ? call.actions.beganAnswer : call.actions.beganStart
            return began ? nil : "\(event.kind.rawValue) needs perform.\(call.direction == .incoming ? "answer" : "start")"
        })

    /// `media.started` when the media is configured and open, the session of the call is active, and it does not run yet.
    static let m2 = AuditRule(
        .M2, "media starts once it is open and the session is active", on: [.mediaStarted],
        check: { event, facts in
            let call = facts.current
            if !call.media.isConfigured || !call.media.isOpen { return "media must be configured and opened before it starts" }
            if call.media.runningSince != nil { return "media must be stopped before it starts again" }
            return facts.session(of: call) == nil && facts.knowsSessions(event) ? "the session must be activated before media starts" : nil
        })

    /// Nothing of media is configured, opened or started when the call has ended or its end has begun, by whomever. So a 2xx that crosses
    /// a CANCEL opens nothing.
    static let m3 = AuditRule(
        .M3, "no media is made when the end has begun", on: making,
        check: { event, facts in facts.current.isEnding ? "the call was ending: no \(event.kind.rawValue)" : nil })

    /// Running media is stopped before our BYE leaves, before the call ends and before anything is closed or released. A reset ends the
    /// calls before anybody can act on it: then the stop comes after `call.ended`.
    static let m4 = AuditRule(
        .M4, "media stops before BYE, end, close and release", on: [.sipSent, .callEnded, .mediaClosed, .mediaReleased],
        check: { event, facts in
            let call = facts.current
            guard call.media.runningSince != nil, call.resetAt == nil || event.kind != .callEnded else { return nil }
            if event.kind == .sipSent {
                guard let message = facts.message, message.isRequest(.bye), !call.isLostFork(message) else { return nil }
                return "media stops before the BYE"
            }
            return "media stops before \(event.kind.rawValue)"
        })

    /// Closed and released only when the end has begun (`perform.end`, `report.ended`, a refused or never made report, a failed action, a
    /// reset), and released only when closed.
    static let m5 = AuditRule(
        .M5, "closed and released only after the end", on: [.mediaClosed, .mediaReleased],
        check: { event, facts in
            let call = facts.current
            guard call.isEnding || call.wasRefusedUnreported else { return "the call must end before \(event.kind.rawValue)" }
            return event.kind == .mediaReleased && call.media.isOpen ? "media is closed before its number is released" : nil
        })

    /// (strict) Closed only after the session was deactivated, unless another connected call that is not on hold needs it.
    static let m5s = AuditRule(
        .M5s, "closed after the session was deactivated, when no other call needs it", on: [.mediaClosed],
        check: { event, facts in
            guard let session = facts.session(of: facts.current) else { return nil }
            return facts.isNeeded(session, besides: event.call) ? nil : "the session is deactivated first"
        })

    /// Media is opened in its place. Incoming: before the 200 leaves. Outgoing: before the ACK of the 2xx leaves. Configured before
    /// opened; an answered or connected call is open.
    static let m6 = AuditRule(
        .M6, "media is opened before the 200 or the ACK leaves", on: [.mediaOpened, .sipSent, .actionFulfilled, .reportConnected],
        check: { event, facts in
            let call = facts.current
            switch event.kind {
            case .mediaOpened:
                if !call.media.isConfigured { return "media is configured before it is opened" }
                return call.sentOK != nil || call.sentACK ? "media is opened before the 200 or the ACK" : nil
            case .sipSent:
                guard let message = facts.message, message.isInviteResponse(200..<300), call.isOfInvite(message) else { return nil }
                return call.media.wasOpened || call.sentOK != nil || !call.actions.beganAnswer ? nil : "media is opened before the 200"
            case .actionFulfilled:
                guard facts.action?.kind == .answer else { return nil }
                return call.media.wasOpened ? nil : "media is opened before answer is fulfilled"
            default: return call.media.wasOpened || !call.receivedOK ? nil : "media is opened before connected is reported"
            }
        })

    /// Early media is refused: the media of an outgoing call is not opened before a 2xx, whatever a 18x carried.
    static let m7 = AuditRule(
        .M7, "early media opens nothing", on: [.mediaOpened],
        check: { _, facts in
            let call = facts.current
            return call.direction == .outgoing && call.actions.beganStart && !call.receivedOK
                ? "media of an outgoing call is opened after the 2xx" : nil
        })

    /// Numbers and sockets balance: a number is reserved by one call, rests for the quarantine after its release, is opened by its own call
    /// only, and all that was reserved is released once. A call has one number, beside those that could not be bound (`media.refused` with
    /// their port) before it was opened.
    static let m8 = AuditRule(
        .M8, "every reservation is released once, and rests before it is used again; a call has one, beside those that another program has",
        on: [.mediaReserved, .mediaOpened, .mediaClosed, .mediaReleased, .portFree], check: balance,
        closing: { call, _ in
            if call.media.isOpen { return "media must be closed" }
            return call.media.ports.isEmpty ? nil : "port \(call.media.ports[0]) must be released"
        })

    @Sendable private static func balance(_ event: JournalEvent, _ facts: AuditFacts) -> String? {
        let call = facts.current
        if event.kind == .mediaClosed { return call.media.isOpen ? nil : "what is not open cannot be closed" }
        guard let number = event.details.number(.port) else { return "\(event.kind.rawValue) needs its port" }
        let port = facts.ports[number]
        let hasRested = port?.released.map { event.time >= $0 + facts.options.quarantine } ?? true
        switch event.kind {
        case .mediaReserved:
            if port?.owner != nil { return "port \(number) is another call's" }
            if call.media.ports.contains(where: { !call.media.takenPorts.contains($0) }) { return "a call has one port" }
            if call.media.wasOpened { return "another port is reserved before media is opened" }
            return hasRested ? nil : "port \(number) is in quarantine"
        case .mediaOpened:
            if call.media.isOpen { return "media is open already" }
            if call.media.takenPorts.contains(number) { return "port \(number) is another program's" }
            return call.media.ports.contains(number) ? nil : "port \(number) is not reserved by the call"
        case .mediaReleased: return call.media.ports.contains(number) ? nil : "port \(number) is not reserved by the call"
        default: return hasRested && port?.owner == nil ? nil : "port \(number) is not free yet"
        }
    }

    /// Activation and deactivation of a session alternate; it is activated when a connected call is not on hold, and deactivated when
    /// none is. At the end of a complete journal none is active.
    static let m9 = AuditRule(
        .M9, "session activation and deactivation alternate, as calls need it", on: [.sessionActivated, .sessionDeactivated],
        check: { event, facts in
            guard let key = facts.sessionKey(event) else { return "the session must be named" }
            let isActive = facts.sessions[key] != nil
            if event.kind == .sessionActivated {
                if isActive { return "the session is active already" }
                let line = facts.line(event.line)
                let isNeeded = line.sessionPerGroup ? facts.current.group.map { $0.isNeeded(by: line) } ?? false : line.activeCalls > 0
                return isNeeded ? nil : "a session is activated for a connected call that is not on hold"
            }
            if !isActive { return "the session is not active" }
            return facts.isNeeded(key) ? "a connected call that is not on hold needs the session" : nil
        })

    /// No packet leaves outside [started, stopped]: by the instants that `media.stopped` carries, and by `media.closed`, whose total is the
    /// sum of the intervals.
    static let m10 = AuditRule(
        .M10, "no packet leaves outside start and stop", on: [.mediaStopped, .mediaClosed],
        check: { event, facts in
            let call = facts.current
            let packets = event.details.number(.packets)
            if event.kind == .mediaClosed {
                return packets.map { $0 == call.media.packets } ?? true
                    ? nil : "\(call.media.packets) packets left between start and stop, \(packets ?? 0) in all"
            }
            guard let started = call.media.runningSince else { return "what does not run cannot be stopped" }
            guard let first = event.details.number(.firstSent), let last = event.details.number(.lastSent) else {
                return packets ?? 0 == 0 ? nil : "packets left, but not when"
            }
            let latest = event.time + facts.options.stopTolerance
            let fits = first >= Int64(clamping: started.nanoseconds) && first <= last && last <= Int64(clamping: latest.nanoseconds)
            return fits && packets ?? 1 > 0 ? nil : "packets leave between start and stop"
        })

    /// A recorder is media: it begins when the media is open and the call has not begun to end, and it is gone before the media is closed.
    static let m11 = AuditRule(
        .M11, "a recording lies within the open media of a call that is not ending",
        on: [.recordingStarted, .recordingEnded, .mediaClosed],
        check: { event, facts in
            let call = facts.current
            switch event.kind {
            case .recordingStarted:
                if call.media.isRecorded { return "the call is recorded already" }
                return call.media.isOpen && !call.isEnding ? nil : "media must be open, and the call not ending, before it is recorded"
            case .recordingEnded: return call.media.isRecorded ? nil : "nothing was recorded"
            default: return call.media.isRecorded ? "the recording ends before the media is closed" : nil
            }
        })

    /// A stream to a program is media: it begins when the call is answered, its media open and its end not begun; it is over before the call
    /// and its media are. A reset ends the calls before anybody can act on it.
    static let m13 = AuditRule(
        .M13, "a stream lies within the open media of an answered call that is not ending",
        on: [.streamStarted, .streamPaused, .streamStopped, .callEnded, .mediaClosed],
        check: { event, facts in
            let call = facts.current
            switch event.kind {
            case .streamStarted:
                if call.media.isStreamed { return "the call has a stream already" }
                return call.isAnswered && call.media.isOpen && !call.isEnding
                    ? nil : "the call must be answered, its media open, and its end not begun, before it is streamed"
            case .streamPaused, .streamStopped: return call.media.isStreamed ? nil : "there was no stream"
            case .callEnded where call.resetAt != nil: return nil
            default: return call.media.isStreamed ? "the stream stops before \(event.kind.rawValue)" : nil
            }
        })

    /// While a call is on hold, by its own side or by the far end, its stream is paused.
    static let m14 = AuditRule(
        .M14, "the stream of a held call is paused", on: [.actionFulfilled, .remoteHold, .streamPaused],
        check: { event, facts in
            let call = facts.current
            guard call.media.isStreamed else { return nil }
            switch event.kind {
            case .streamPaused:
                let isHeld = call.actions.wantsHold || call.media.isHeldByRemote
                return isHeld && !event.details.flag(.on) ? "the call is on hold: its stream stays paused" : nil
            case .remoteHold: return event.details.flag(.on) && !call.media.isStreamPaused ? "the stream is paused before" : nil
            default:
                guard facts.action?.kind == .held, call.actions.wantsHold else { return nil }
                return call.media.isStreamPaused ? nil : "the stream is paused before the hold is fulfilled"
            }
        })

    /// The kernel has the packets of a far end only while the media runs: it is given them after the start, once at a time, and they are taken
    /// back before the stop.
    static let m15 = AuditRule(
        .M15, "the kernel relays between start and stop", on: [.mediaArmed, .mediaTaken, .mediaStopped],
        check: { event, facts in
            let media = facts.current.media
            switch event.kind {
            case .mediaArmed:
                if media.isArmed { return "the kernel has them already" }
                return media.runningSince == nil ? "media must run before the kernel relays it" : nil
            case .mediaTaken: return media.isArmed ? nil : "the kernel had none"
            default: return media.isArmed ? "what the kernel relays is taken back before the stop" : nil
            }
        })

    /// On the line of an app: a call that was open for a second, and is not on hold, has sent a packet before it is closed. Always advice:
    /// nothing is wrong with the signalling, but nobody hears the app.
    static let m12 = AuditRule(
        .M12, "a connected call of an app sends sound", on: [.mediaClosed],
        check: { event, facts in
            let call = facts.current
            guard facts.line(event.line).isOfApp, let opened = call.media.openedAt, event.time >= opened + .seconds(1) else { return nil }
            let isSilent = call.media.packets == 0 && event.details.number(.packets) ?? 0 == 0 && !call.actions.isHeld
            return isSilent ? "no packet left in a connected call: start its sound in didActivate, and give it a microphone" : nil
        },
        isAdvice: { _, _ in true })
}
