import Primitives
import SIP
import UserAgent

/// The plan of a run: what is played, and its target.
public struct TorturePlan: Sendable {
    /// In the order in which they are played.
    public var cases: [TortureCase]
    /// The callee: somebody who answers by himself.
    public var target: URI
    /// From our SIP socket to the target.
    public var flow: Flow
    /// A line of the target's that is ours, so that it calls us.
    public var line: Line?
    /// Messages leave byte for byte; their answers go to where their Via says.
    public var isExact = false
    /// The time that the target has for an answer.
    public var timeout = Duration.seconds(4)
    /// The time for which nothing has to come, where nothing may come.
    public var silence = Duration.milliseconds(300)
    /// The port at which our descriptions say that we listen; nothing of it is read.
    public var mediaPort: UInt16 = 9

    /// A line of the target's that our second telephone registers for.
    public struct Line: Sendable {
        /// The user part of its address of record.
        public var user: Text
        /// For challenges; nil gives up at the first one.
        public var password: Text?

        /// - Parameter user: of the address of record.
        public init(user: Text, password: Text? = nil) { (self.user, self.password) = (user, password) }
    }

    /// - Parameters:
    ///   - target: somebody who answers by itself.
    ///   - flow: from our SIP socket to the target.
    public init(_ cases: [TortureCase], target: URI, flow: Flow) { (self.cases, self.target, self.flow) = (cases, target, flow) }

    /// An answer that goes to the port that its Via implies does not come to us.
    var losesStrayAnswers: Bool { !flow.transport.isReliable && flow.local.port != 5060 }
}

/// Plays cases on a target, one after the other, the slow ones beside them, and judges each.
///
/// The client that `hookswitch torture` runs. Lives on one lane, and is told the time.
public final class TortureClient: SignallingEndpoint {
    /// Events of a run, in their order.
    public enum Event: Sendable {
        /// A case begins.
        case began(TortureCase)
        /// A case is over.
        case judged(TortureResult)
        /// The last event: why it could not run, if it could not.
        case finished(failure: String?)
    }

    /// Hears of everything.
    public var onEvent: ((Event, Instant) -> Void)?
    private let plan: TorturePlan
    private let network: any SignallingNetwork
    private let hash: DigestHash?
    private var random: any RandomNumberGenerator
    private var waiting: [TortureCase] = []
    private var plays: [TorturePlay] = []
    /// The one that is not slow.
    private var current: TorturePlay?
    /// Registers the line, and asks whether anybody is there.
    private var opening: (phone: TorturePhone, method: Method, until: Instant)?
    private var line: TorturePhone?
    /// The case that was the first with each transaction, of the cases whose bytes left unchanged.
    private var transactions: [Text: String] = [:]
    private var isOver = false
    private var isStopped = false
    /// The registration is being taken back.
    private var isLeaving = false
    /// Since when nothing at all is heard.
    private var isDead = false

    /// - Parameter hash: for answers to challenges; nil: a challenge is an answer like any other.
    public init(_ plan: TorturePlan, network: any SignallingNetwork, random: any RandomNumberGenerator, hash: DigestHash?) {
        (self.plan, self.network, self.random, self.hash) = (plan, network, random, hash)
    }

    /// Asks whether the target is there, and then plays the cases.
    public func start(at now: Instant) {
        waiting = plan.cases
        let phone = makePhone(.caller)
        opening = (phone, .options, now + plan.timeout)
        phone.send(TortureRequest(method: .options), at: now)
    }

    /// Begins no more; what is under way is ended in good order.
    public func stop(at now: Instant) {
        isStopped = true
        if opening != nil { return finish("stopped before the first case", at: now) }
        for play in plays { play.stop(at: now) }
        settle(at: now)
    }

    private func makePhone(_ party: TortureParty, calling target: URI? = nil) -> TorturePhone {
        let secret = plan.line.flatMap { line in line.password.map { (line.user, DigestSecret.password($0)) } }
        let credentials = secret.flatMap { secret in hash.map { DigestClient(user: secret.0, secret: secret.1, hash: $0) } }
        let setting = TortureSetting(
            target: target ?? plan.target, flow: plan.flow, mediaPort: plan.mediaPort, network: network, credentials: credentials)
        return TorturePhone(
            setting, user: party == .callee ? plan.line?.user ?? "torture" : "torture", random: SeededRandom(seed: random.next()))
    }

    // MARK: The opening

    private func opened(_ method: Method, _ status: Int, at now: Instant) {
        if method == .options, let line = plan.line, plan.cases.contains(where: \.needsLine) { return register(line, at: now) }
        if isLeaving { return conclude(nil, at: now) }
        if method == .register, status >= 300 {
            return finish("the registration of \(plan.line?.user ?? "the line") failed with \(status)", at: now)
        }
        opening = nil
        let slow = waiting.filter(\.isSlow)
        waiting.removeAll(where: \.isSlow)
        for test in slow { begin(test, at: now) }
        beginNext(at: now)
    }

    private func register(_ line: TorturePlan.Line, at now: Instant) {
        let phone = makePhone(.callee, calling: URI(host: plan.target.host, port: plan.target.port))
        let address = NameAddress(uri: URI(user: line.user, host: plan.target.host))
        phone.register(address, at: now)
        (self.line, opening) = (phone, (phone, .register, now + plan.timeout))
    }

    // MARK: Cases

    private func beginNext(at now: Instant) {
        current = nil
        while current == nil, !isDead, !isStopped, !waiting.isEmpty { begin(waiting.removeFirst(), at: now) }
        guard current == nil else { return }
        for test in waiting { judge(.notJudged(test, isDead ? "the target answers nothing any more" : "stopped before it"), at: now) }
        waiting = []
        if plays.isEmpty { finish(nil, at: now) }
    }

    private func begin(_ test: TortureCase, at now: Instant) {
        if test.needsLine, plan.line == nil {
            return judge(.notJudged(test, "it needs a line of the target's: --register LINE --password PASSWORD"), at: now)
        }
        if test.isForDatagrams, plan.flow.transport.isReliable {
            return judge(.notJudged(test, "it is for datagrams: over a stream nothing is repeated or cut short"), at: now)
        }
        if let other = takenBranch(test) {
            return judge(
                .notJudged(test, "byte for byte it has the branch of \(other), and is the same request to a server: without --exact"),
                at: now)
        }
        let number = test.needsLine ? plan.line?.user : nil
        let caller = makePhone(.caller, calling: number.map { URI(user: $0, host: plan.target.host, port: plan.target.port) })
        let callee = test.needsLine ? makePhone(.callee) : nil
        let probe = makePhone(.caller, calling: URI(host: plan.target.host, port: plan.target.port))
        let play = TorturePlay(test, caller: caller, callee: callee, probe: probe, settings: plan, at: now)
        plays.append(play)
        if !test.isSlow { current = play }
        onEvent?(.began(test), now)
        play.proceed(at: now)
        settle(at: now)
    }

    /// The case whose branch this one has too; nil where nobody had it before, or each gets one of its own.
    private func takenBranch(_ test: TortureCase) -> String? {
        guard plan.isExact, case .message(let message)? = test.steps.first else { return nil }
        guard let transaction = TortureDressing(message.bytes, mark: nil, asksForPort: false).transaction else { return nil }
        defer { transactions[transaction] = transactions[transaction] ?? test.name }
        return transactions[transaction]
    }

    /// Takes down what is over, and goes on.
    private func settle(at now: Instant) {
        let over = plays.filter { $0.phase == .over }
        guard !over.isEmpty else { return }
        plays.removeAll { $0.phase == .over }
        for play in over {
            isDead = isDead || play.foundDead
            judge(play.result, at: now)
        }
        if let current, current.phase == .over { return beginNext(at: now) }
        if current == nil, plays.isEmpty, opening == nil, waiting.isEmpty { finish(nil, at: now) }
    }

    private func judge(_ result: TortureResult, at now: Instant) { onEvent?(.judged(result), now) }

    private func finish(_ failure: String?, at now: Instant) {
        guard !isOver else { return }
        isOver = true
        guard let line, failure == nil, !isDead else { return conclude(failure, at: now) }
        (isLeaving, opening) = (true, (line, .register, now + plan.timeout))
        line.unregister(at: now)
    }

    private func conclude(_ failure: String?, at now: Instant) {
        (isOver, opening) = (true, nil)
        onEvent?(.finished(failure: failure), now)
        onEvent = nil
    }

    // MARK: The wire

    public func receive(_ bytes: [UInt8], over flow: Flow, at now: Instant) {
        let message = try? Message(parsing: bytes)
        if let message, message.isRequest { return receive(message, over: flow, at: now) }
        guard let status = bytes.statusOfResponse, (100...699).contains(status) else { return }
        if let (phone, method, _) = opening {
            if phone.receive(message, status: status, bytes: bytes, at: now), let final = phone.last(method)?.final {
                opened(method, final.status, at: now)
            }
            return
        }
        // A response whose Call-ID cannot be read is taken for the answer to the request that was sent last.
        let order = plays.filter { $0 !== current } + [current].compactMap(\.self)
        _ = order.contains { $0.receive(message, status: status, bytes: bytes, at: now) }
        settle(at: now)
    }

    private func receive(_ request: Message, over flow: Flow, at now: Instant) {
        let owner = plays.lazy.flatMap { play in [play.caller, play.callee].compactMap(\.self).map { (play, $0) } }.first {
            $0.1.owns(request)
        }
        if let (play, phone) = owner {
            phone.receive(request, over: flow, holding: play.test.holds)
            play.proceed(at: now)
        } else if request.method == .invite, request.to.tag == nil, let play = current, let callee = play.callee, callee.received.isEmpty {
            callee.adopt(request)
            callee.receive(request, over: flow, holding: play.test.holds)
            play.proceed(at: now)
        } else if request.method != .ack {
            let status = request.method == .options ? 200 : request.method == .invite && request.to.tag == nil ? 480 : 481
            network.send(Message.response(to: request, status: status, toTag: "nobody").serialized(), over: flow)
        }
        settle(at: now)
    }

    public func answersMalformed(over flow: Flow, at now: Instant) -> Bool { true }

    /// No target closes a connection that it waits for an answer over.
    public func owesAnswer(over flow: Flow) -> Bool { false }

    /// `failed` follows at once: nothing is owed.
    public func peerHalfClosed(_ flow: Flow, at now: Instant) {}

    /// A target that goes down later is found out by its silence.
    public func portUnreachable(_ beginning: [UInt8], at now: Instant) {
        if opening != nil { failed(plan.flow, at: now) }
    }

    public func failed(_ flow: Flow, at now: Instant) {
        if isLeaving { return conclude(nil, at: now) }
        if opening != nil { return finish("\(plan.flow.remote) cannot be reached", at: now) }
        for play in plays { play.cut(at: now) }
        settle(at: now)
    }

    // MARK: Time

    public var deadline: Instant? {
        let openings = opening.map { [$0.until, $0.phone.deadline ?? $0.until] } ?? []
        return (openings + plays.compactMap(\.deadline)).min()
    }

    public func advance(to now: Instant) {
        if let (phone, method, until) = opening {
            guard now < until else {
                if isLeaving { return conclude(nil, at: now) }
                return finish(
                    method == .options ? "\(plan.flow.remote) does not answer OPTIONS" : "the registration was not answered", at: now)
            }
            return phone.advance(to: now)
        }
        for play in plays { play.advance(to: now) }
        settle(at: now)
    }
}
