import Audio
import Media
import Primitives
import RTP
import SDP
import SIP
import UserAgent

/// Everybody around an app under test: its registrar, who calls it, and whom it calls. It does what it is told.
///
/// Lives on its phone's lane.
package final class AppFarEnd: PhoneClient {
    /// Something that it saw.
    package enum Event: Sendable {
        /// The app's line has registered.
        case registered
        /// A call has this Call-ID and this number.
        case named(Text, String)
        case saw(AppTimeline.Entry)
        /// - `began`: when its first sample came.
        case heard(AppTimeline.Entry, began: Instant)
    }

    /// A call of the far end.
    private struct Call {
        var phoneCall: PhoneCall
        var number: String
    }

    package let phone: Phone
    package var onFinish: (() -> Void)?
    /// Hears of everything. On the lane.
    package var onEvent: (Event) -> Void = { _ in }
    private var calls: [Call] = []
    /// The way to the app, of its registration.
    private var app: (flow: Flow, user: Text)?
    private var isAway = false

    /// A tone that no app of ours has for its microphone.
    private static let voice = Tone(800)
    /// Sound below that is silence: dB below a full-scale sine.
    private static let threshold = -50.0

    package init(phone: Phone) {
        self.phone = phone
        phone.agent.delegate = self
        phone.onIncoming = { [unowned self] session, now in take(session, at: now) }
        phone.onEvent = { [unowned self] call, event, now in hear(event, of: call, at: now) }
    }

    package func start(at now: Instant) {}

    package func stop(at now: Instant) {
        isAway = false
        for call in calls { call.phoneCall.hangUp(at: now) }
    }

    package func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        if !isAway { phone.agent.receive(bytes, over: flow, at: now) }
    }
    package func advance(to now: Instant) { if !isAway { phone.advance(to: now) } }
    package var deadline: Instant? { isAway ? nil : phone.deadline }

    // MARK: Acts

    /// - Parameter number: of the call that is meant; nil: the newest.
    /// - Returns: false where there is no such call, or it is not in the state for that: try again later.
    package func perform(_ act: AppScenario.FarAct, on number: String?, at now: Instant) -> Bool {
        if case .call(let from, let name, _) = act { return invite(from, name, at: now) }
        if act == .goAway { return goAway(at: now) }
        guard let call = call(number) else { return false }
        switch act {
        case .answer:
            guard call.isRinging else { return false }
            call.answer(at: now)
            return true
        case .refuse(let status): return call.reject(status: status, at: now)
        case .hold, .resume: return call.commandHold(act == .hold, at: now)
        case .press(let digits):
            guard call.state == .connected, (try? call.press(digits, at: now)) != nil else { return false }
            return true
        case .hangUp:
            call.hangUp(at: now)
            return true
        case .call, .goAway: return false
        }
    }

    /// The newest call of a number, or of all, that is not over.
    private func call(_ number: String?) -> PhoneCall? {
        calls.last { (number == nil || $0.number == number) && $0.phoneCall.state != .ending && $0.phoneCall.state != .closed }?.phoneCall
    }

    /// The Call-ID of such a call.
    package func callID(of number: String?) -> Text? { call(number)?.record.callID }

    private func invite(_ number: String, _ name: String?, at now: Instant) -> Bool {
        guard let app else { return false }
        var identity = phone.identity
        (identity.user, identity.flow, identity.displayName) = (Text(number), app.flow, name.map { Text($0) })
        let target = URI(user: app.user, address: app.flow.remote)
        let call = try? phone.call(target, as: identity, script: Self.script, at: now) { [unowned self] in keep($0, number) }
        guard let call else { return false }
        onEvent(.named(call.record.callID, number))
        return true
    }

    private static var script: CallScript {
        var script = CallScript()
        (script.source, script.tellsRecording) = (.tone(voice), true)
        return script
    }

    private func keep(_ call: PhoneCall, _ number: String) { calls.append(Call(phoneCall: call, number: number)) }

    private func goAway(at now: Instant) -> Bool {
        for call in calls { call.phoneCall.stopMedia(at: now) }
        isAway = true
        return true
    }

    // MARK: What comes

    private func take(_ session: InviteSession, at now: Instant) {
        let number = session.request.requestURI?.plainUser?.description ?? "anonymous"
        onEvent(.named(session.callID, number))
        saw("invited", session.callID, at: now)
        phone.ring(session, answeringAfter: nil, script: Self.script, at: now) { [unowned self] in keep($0, number) }
    }

    private func saw(_ words: String, _ callID: Text, at now: Instant) {
        var entry = AppTimeline.Entry(.far, "far " + words, at: now)
        entry.callID = callID
        onEvent(.saw(entry))
    }

    private func hear(_ event: PhoneCall.Event, of call: PhoneCall, at now: Instant) {
        let callID = call.record.callID
        switch event {
        case .ringing(let status): if call.record.isOutgoing { saw("got \(status)", callID, at: now) }
        case .connected: saw("connected", callID, at: now)
        case .held: saw("held", callID, at: now)
        case .resumed: saw("resumed", callID, at: now)
        case .holdChanged(let isHolding): saw(isHolding ? "holds" : "takes back", callID, at: now)
        case .holdRefused(let status): saw("hold refused \(status)", callID, at: now)
        case .digit(let digit): saw("got key \(digit)", callID, at: now)
        case .recorded(let samples, let rate): hear(samples, rate, callID, at: now)
        case .ended(let record): saw("ended" + (record.status >= 300 ? " \(record.status)" : ""), callID, at: now)
        case .traced, .answered, .mediaStarted, .mediaStopped, .digitsSent, .muted, .transferProgress: break
        }
    }

    private func hear(_ samples: [Int16], _ rate: Int, _ callID: Text, at now: Instant) {
        guard rate > 0, LevelMeter.level(of: samples.span) > Self.threshold else { return }
        var entry = AppTimeline.Entry(.far, "far hears sound", at: now)
        (entry.callID, entry.pitch) = (callID, Self.pitch(of: samples, rate))
        let length = UInt64(samples.count) * 1_000_000_000 / UInt64(rate)
        onEvent(.heard(entry, began: Instant(nanoseconds: now.nanoseconds - min(now.nanoseconds, length))))
    }

    /// The pitch of a tone, by its zero crossings; of other sound a figure that says nothing.
    private static func pitch(of samples: [Int16], _ rate: Int) -> Double {
        let crossings = zip(samples, samples.dropFirst()).count { ($0 < 0) != ($1 < 0) }
        return (Double(crossings) * Double(rate) / Double(2 * max(1, samples.count))).rounded()
    }
}

extension AppFarEnd: UserAgentDelegate {
    package func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
        phone.userAgent(agent, incoming: session, at: now)
    }

    /// The far end takes every registration, for ten minutes.
    package func userAgent(
        _ agent: UserAgent, handle request: Message, over flow: Flow, transaction: ServerTransactionID, at now: Instant
    ) -> Bool {
        guard request.method == .register else { return false }
        let contacts = request.headers.all(.contact)
        agent.respond(to: transaction, status: 200, headers: contacts.map { (.contact, $0 + ";expires=600") }, at: now)
        guard app == nil else { return true }
        app = (flow, request.to.uri.plainUser ?? .empty)
        onEvent(.registered)
        return true
    }
}
