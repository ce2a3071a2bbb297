import Primitives
import Runtime
import Workbench

// The parts of a load that agents make.
extension LoadOptions {
    /// The part of an agent.
    func part(_ index: Int, of count: Int, _ plan: LoadPlan) throws -> LoadPlan {
        guard let last = LoadShare(count - 1, of: count), let share = LoadShare(index, of: count), plan.share(last) != nil,
            var part = plan.share(share)
        else {
            throw Failure.usage(
                "--agents: \(count) agents need \(count) calls or more (--calls), as many at a time (--concurrent), and with --accounts \(plan.target == nil ? "two lines" : "a line") each"
            )
        }
        if pace.concurrent == nil { part.concurrent = part.expectedConcurrency }
        return part
    }

    /// The way that the agents take: each has sockets of its own.
    func agentsSettings(_ place: CallTarget) throws -> LivePhoneSettings {
        if phone.local != nil {
            throw Failure.usage("--local and --agents exclude each other: each agent has its own (hookswitch agent --local)")
        }
        _ = try (phone.codecs(default: "pcmu"), phone.security(), phone.portRange(), phone.caller())
        var settings = LivePhoneSettings(user: "hookswitch", server: place.server)
        settings.transport = place.transport
        return settings
    }
}
