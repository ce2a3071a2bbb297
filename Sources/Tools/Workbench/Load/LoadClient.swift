import Media
import Primitives
import SIP
import UserAgent

/// Calls on one lane, one or many: registers, begins them by the plan, plays the other end where it is its own, takes those of others where
/// it is told to, and hands each one out when both ends are over.
///
/// The client that `hookswitch call`, `answer` and `load` run. Lives on its phone's lane.
public final class LoadClient: PhoneClient {
    /// Events of a run, in their order.
    public enum Event: Sendable {
        /// An account is registered.
        case registered(seconds: UInt32)
        /// It is tried again, where the plan only answers; else it is the end.
        case registrationFailed(RegistrationFailure, retryIn: Duration)
        /// The first call may begin.
        case began
        /// An event of an end of a call; only where the plan wants it.
        case leg(MediaLegID, PhoneCall.Event)
        /// Both ends of a call are over.
        case call(LoadedCall)
        /// The window of a step has closed.
        case step(StepReading)
        /// The last event: why it could not run, if it could not.
        case finished(failure: String?)
    }

    /// The telephone that plays all ends.
    public let phone: Phone
    /// As it was made.
    public let plan: LoadPlan
    /// The progress of the run, now.
    public internal(set) var progress = LoadProgress()
    /// Hears of everything.
    public var onEvent: ((Event, Instant) -> Void)?
    /// Called once, when nothing is left to do.
    public var onFinish: (() -> Void)?

    var random: SeededRandom
    var schedule: ArrivalSchedule
    var began = Instant.zero
    var numbers: UInt32 = 0
    var open: [UInt32: OpenCall] = [:]
    var ends: [MediaLegID: End] = [:]
    /// Calls whose INVITE has not come to our other end, by caller and callee, oldest first.
    var awaited: [CallParties: [UInt32]] = [:]
    /// Calls whose caller is over and whose callee is not, oldest first.
    var halfOver: [(number: UInt32, until: Instant)] = []
    /// Calls that are listened to and not over.
    var listened: Set<UInt32> = []
    /// The sound of calls that are not listened to.
    var commonSound: MediaSource?
    /// Windows of the steps to come; empty where there is only one step.
    var windows: [StepWindow] = []
    /// The statistics of each leg when the window of the step began; nil before.
    var baseline: [MediaLegID: MediaStatistics]?
    var notBegunBefore = 0
    /// The lateness of the calls that were begun since the window began.
    var windowLateness = Lateness()
    /// Calls of others that came.
    var callsTaken = 0
    private var registrations: [Registration] = []
    private var waiting: [LoadAccount] = []
    private var connections: AccountConnections
    private var failure: String?
    /// When registrars have had their time.
    private var farewell: Instant?
    /// When the plan has no more patience with the registrar.
    private var registersUntil: Instant?
    private(set) var isStopping = false

    /// The longest time until the other end hears of the end of a call.
    static let timeoutForCallee = Duration.seconds(5)
    /// Registrations that wait for their registrar; over a secure WebSocket fewer, because servers bound the handshakes of one address.
    private var registrationsAtOnce: Int { connections.areOwn && phone.identity.flow.transport.isSecure ? 16 : 50 }
    /// The run was given up. A new caller is refused without a record, because each record would be waited for.
    private(set) var isAbandoned = false
    /// The time that registrars have to hear that we leave.
    private var timeoutForRegistrars = Duration.seconds(5)

    /// Takes the phone's events for itself.
    public init(phone: Phone, plan: LoadPlan) {
        (self.phone, self.plan, random) = (phone, plan, SeededRandom(seed: plan.seed))
        connections = AccountConnections(rate: plan.connectionRate)
        schedule = ArrivalSchedule(plan.arrivals, seed: plan.seed &+ 1)
        if plan.arrivals.steps.count > 1 { windows = StepWindow.all(of: plan.arrivals, settling: plan.settling) }
        progress.accounts = plan.accounts.count
        phone.onIncoming = { [unowned self] session, now in receive(session, at: now) }
        phone.onEvent = { [unowned self] call, event, now in receive(event, of: call, at: now) }
    }

    /// Registers the accounts, if there are any, and then begins calls.
    public func start(at now: Instant) {
        waiting = plan.accounts.reversed()
        guard !waiting.isEmpty else { return becomeReady(at: now) }
        began = now
        registersUntil = plan.registrationTimeout.map { now + $0 }
        registerNext(at: now)
    }

    /// Begins no more, hangs up what is up, and finishes. Calls that are cut off by this are not the target's fault.
    public func stop(at now: Instant) {
        guard progress.phase != .over else { return }
        isStopping = true
        if progress.phase == .registering, phone.calls.isEmpty {
            return finish(plan.onlyAnswers ? nil : "stopped before the first call", at: now)
        }
        progress.phase = .ending
        // A caller that was refused before lingers a moment.
        for (number, call) in open where !call.callerIsOver {
            let status = call.caller.flatMap { phone.calls[$0]?.record.status } ?? 0
            if status < 300 { open[number]?.loaded.wasStopped = true }
        }
        for call in phone.calls.values.sorted(by: { $0.leg.rawValue < $1.leg.rawValue }) { call.hangUp(at: now) }
        leaveIfDone(at: now)
    }

    /// Waits for nobody after a `stop`: calls whose hang-up is not answered are over as they are, and registrars have heard what they were
    /// told.
    public func abandon(at now: Instant) {
        isAbandoned = true
        timeoutForRegistrars = .zero
        if farewell != nil { farewell = now }
        for call in phone.calls.values.sorted(by: { $0.leg.rawValue < $1.leg.rawValue }) { call.abandon(at: now) }
    }

    /// Begins no more; what is up goes on to its end.
    public func endArrivals(at now: Instant) {
        guard progress.phase == .running else { return }
        progress.phase = .ending
        leaveIfDone(at: now)
    }

    public var deadline: Instant? {
        [phone.deadline, nextRegistration, nextLook, nextArrival, halfOver.first?.until, farewell, registersUntil].reduce(nil) {
            earliest, due in
            due.map { min($0, earliest ?? $0) } ?? earliest
        }
    }

    public func advance(to now: Instant) {
        phone.advance(to: now)
        if let due = nextRegistration, due <= now { registerNext(at: now) }
        while let due = nextLook, due <= now { look(at: now) }
        while let due = nextArrival, due <= now { arrive(due: due, at: now) }
        while let half = halfOver.first, half.until <= now {
            halfOver.removeFirst()
            forgetCallee(of: half.number, at: now)
        }
        if let farewell, farewell <= now {
            progress.registered = 0
            conclude(at: now)
        }
        if let registersUntil, registersUntil <= now { giveUpRegistering(at: now) }
    }

    /// When the next call is due, or no more are to come.
    private var nextArrival: Instant? {
        guard progress.phase == .running, let due = schedule.due else { return nil }
        return began + min(due, plan.duration ?? due)
    }

    private func arrive(due: Instant, at now: Instant) {
        if let calls = plan.calls, progress.begun >= calls { return endArrivals(at: now) }
        if let duration = plan.duration, due - began >= duration { return endArrivals(at: now) }
        (progress.step, progress.rate) = (schedule.step, plan.arrivals.steps[schedule.step].rate)
        schedule.advance()
        if open.count >= plan.concurrent { progress.skipped += 1 } else { call(due: due, at: now) }
        let isLast = schedule.due == nil || plan.calls.map { progress.begun >= $0 } ?? false
        if isLast { endArrivals(at: now) }
    }

    func leaveIfDone(at now: Instant) {
        guard progress.phase == .ending || hasTakenAll, open.isEmpty, phone.calls.isEmpty else { return }
        finish(nil, at: now)
    }
}

// Registrations.
extension LoadClient {
    /// When the next account may open its connection; nil where nothing waits for that.
    private var nextRegistration: Instant? {
        let isWaiting = progress.phase == .registering && !waiting.isEmpty
        return isWaiting && registrations.count - progress.registered < registrationsAtOnce ? connections.due : nil
    }

    private func registerNext(at now: Instant) {
        while nextRegistration != nil, connections.mayOpen(at: now), let account = waiting.popLast() {
            guard connections.open(for: account.user, to: phone.identity.flow, by: phone.agent, at: now) != nil else {
                return finish("\(progress.connections.counted("WebSocket was", "WebSockets were")) opened, and no more can be", at: now)
            }
            if connections.areOwn { progress.connections += 1 }
            register(account, at: now)
        }
    }

    private func register(_ account: LoadAccount, at now: Instant) {
        let registration = phone.register(as: identity(of: account), at: now) { [unowned self] _, event, now in
            receive(event, of: account, at: now)
        }
        registration.otherFlow = { [unowned self] registration, _, now in otherFlow(of: account, registration, at: now) }
        registrations.append(registration)
    }

    /// The way of an account whose WebSocket is gone: a new one, as soon as the rate allows it.
    private func otherFlow(of account: LoadAccount, _ registration: Registration, at now: Instant) -> Flow? {
        guard connections.areOwn, progress.phase != .registering, connections.mayOpen(at: now),
            phone.agent.living(registration.request.flow) != registration.request.flow
        else { return nil }
        return connections.open(for: account.user, to: phone.identity.flow, by: phone.agent, at: now)
    }

    func identity(of account: LoadAccount) -> PhoneIdentity {
        var identity = phone.identity
        if account.user != identity.user { identity.displayName = nil }
        (identity.user, identity.credentials) = (account.user, account.credentials)
        if let flow = connections[account.user] { identity.flow = flow }
        return identity
    }

    private func receive(_ event: RegistrationEvent, of account: LoadAccount, at now: Instant) {
        switch event {
        case .registered(let seconds, _) where progress.phase == .registering:
            progress.registered += 1
            onEvent?(.registered(seconds: seconds), now)
            registerNext(at: now)
            guard progress.registered == plan.accounts.count else { return }
            progress.registrationTime = now - began
            becomeReady(at: now)
        case .failed(let status, let response, let retry):
            let words = response == nil ? phone.unanswered(status, over: phone.identity.flow).words : nil
            let failure = RegistrationFailure(status: response == nil ? nil : status, words: words)
            onEvent?(.registrationFailed(failure, retryIn: retry), now)
            if plan.onlyAnswers ? isStopping : progress.phase == .registering {
                finish("the registration of \(account.user) failed\(failure.suffix)", at: now)
            }
        case .unregistered:
            progress.registered -= 1
            conclude(at: now)
        case .registered: break
        }
    }

    private func giveUpRegistering(at now: Instant) {
        registersUntil = nil
        let late = plan.accounts.first.map { " of \($0.user)" } ?? ""
        if progress.phase == .registering { finish("the registration\(late) failed: no answer in time", at: now) }
    }

    private func becomeReady(at now: Instant) {
        progress.isReady = true
        if !plan.waitsForStart { begin(at: now) }
    }

    /// The first call may begin, where the plan waits for this and all is registered.
    public func go(at now: Instant) {
        if progress.isReady, progress.phase == .registering { begin(at: now) }
    }

    private func begin(at now: Instant) {
        (began, progress.phase) = (now, .running)
        onEvent?(.began, now)
        advance(to: now)
    }

    /// Takes the registrations back, and is over when all are, or no registrar answers.
    private func finish(_ failure: String?, at now: Instant) {
        guard progress.phase != .over else { return }
        closeWindow(at: now)
        (progress.phase, self.failure) = (.over, failure)
        registrations = registrations.filter(\.isRegistered)
        progress.registered = registrations.count
        if !registrations.isEmpty { farewell = now + timeoutForRegistrars }
        for registration in registrations { registration.unregister(at: now) }
        conclude(at: now)
    }

    private func conclude(at now: Instant) {
        guard progress.phase == .over, progress.registered <= 0 else { return }
        (progress.registered, farewell) = (0, nil)
        onEvent?(.finished(failure: failure), now)
        onEvent = nil
        onFinish?()
    }
}
