import Dispatch
import Media
import Primitives
import SIP
import UserAgent
import Workbench

/// An echo of the tool's own, to find out how many calls it can drive in time when nobody else is there to blame.
final class Calibration {
    private let echo: LivePhone<LoadClient>

    /// - Throws: exit code 3 where there are no ports.
    init(_ order: LoadOrder) throws {
        var settings = LivePhoneSettings(user: "echo", server: SocketAddress(.loopback, port: 5060))
        (settings.address, settings.codecs, settings.srtp, settings.mediaLanes) = (
            .loopback, order.settings.codecs, order.settings.srtp, order.settings.mediaLanes
        )
        settings.mediaPorts = order.echoPorts ?? settings.mediaPorts
        var policy = AnswerPolicy()
        (policy.answersAfter, policy.maximumCalls, policy.script.source, policy.script.listens) = (.zero, .max, .echo, false)
        var plan = LoadPlan.answering(policy)
        plan.tellsLegs = false
        let made = plan
        do throws(LivePhoneError) { echo = try LivePhone(settings) { LoadClient(phone: $0, plan: made) } } catch {
            throw Failure.cannotRun(error.description)
        }
    }

    /// The order, with the echo for its target.
    func aimed(_ order: LoadOrder) -> LoadOrder {
        var order = order
        (order.settings.server, order.plan.target) = (echo.address, URI(user: "echo", address: echo.address))
        return order
    }

    func close() { echo.close() }
}

extension LoadOptions {
    /// As many calls as `--concurrent` in 20 s, each of 20 s: their number rises to it and falls again.
    func calibrationOrder(_ outputs: LoadOutputs) throws -> LoadOrder {
        if let other = notForCalibration { throw Failure.usage("--calibrate calls an echo of its own: leave \(other) out") }
        var plan = LoadPlan(), time = Duration.seconds(20)
        try shape(&plan)
        if let duration = pace.duration { time = try Bounded.seconds(duration, option: "--duration", in: 1...600) }
        (plan.concurrent, plan.listening, plan.duration) = (pace.concurrent == nil ? 2_000 : plan.concurrent, .share(0), nil)
        (plan.calls, plan.hold) = (plan.concurrent, .fixed(time))
        plan.arrivals = ArrivalPlan(rate: Double(plan.concurrent) * 1e9 / Double(time.wholeNanoseconds))
        plan.playsBothEnds = true   // for its ports
        let place = try CallTarget("sip:echo@127.0.0.1", server: nil, transport: .udp)
        var settings = try settings(place, &plan)
        guard settings.mediaPorts.count >= 4 else {
            throw Failure.usage("--calibrate needs four media ports or more: a pair for each end; got '\(phone.ports ?? "")'")
        }
        let ports = settings.mediaPorts, middle = (ports.lowerBound + UInt16(ports.count / 2)) & ~1
        settings.mediaPorts = ports.lowerBound...(middle - 1)
        plan.playsBothEnds = false
        return LoadOrder(
            plan: plan, settings: settings, slo: nil, findsKnee: false, targetJournal: nil, outputs: outputs,
            targetText: "an echo of the tool's own",
            echoPorts: middle...ports.upperBound)
    }

    /// The first thing that was typed and would go for nothing.
    private var notForCalibration: String? {
        let values = [
            ("a target", target ?? scenarioTarget), ("--accounts", accounts), ("--agents", agents.agents), ("--ramp", pace.ramp),
            ("--server", phone.server),
            ("--mix", mix),
            ("--steps", steps), ("--slo", slo), ("--transport", phone.transport), ("--talk-time", talkTime), ("--hold", hold),
            ("--listen", listen),
            ("--target-journal", targetJournal), ("--baseline", results.baseline), ("--metrics", results.metrics),
            ("--web", results.web), ("--bundle", results.bundle),
        ]
        let flags = [
            ("--tcp", phone.tcp), ("--dry-run", dryRun), ("--find-knee", findKnee), ("--both-ends", bothEnds), ("--poisson", pace.poisson),
            ("--rate", pace.rate != nil),
            ("--calls", pace.calls != nil), ("--target-pid", targetPid != nil),
            ("--witness", witness),
        ]
        return values.first { $0.1 != nil }?.0 ?? flags.first(where: \.1)?.0
    }
}
