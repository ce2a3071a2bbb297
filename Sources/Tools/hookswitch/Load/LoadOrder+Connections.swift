import Primitives
import Runtime
import UserAgent
import Workbench

// WebSockets of accounts.
extension LoadOptions {
    /// Connections a second, where accounts have their own: over WebSockets, as browsers have them.
    func connectionRate(_ transport: Transport, accounts: Int) throws -> Double? {
        guard transport.isWebSocket, accounts > 0 else {
            guard connectRate == nil else {
                throw Failure.usage("--connect-rate needs WebSockets of accounts: --transport ws or wss, and --accounts")
            }
            return nil
        }
        return try connectRate.map(Self.rate) ?? 100
    }

    static func rate(_ rate: Double) throws -> Double {
        guard (0.1...10_000).contains(rate) else {
            throw Failure.usage("--connect-rate takes connections a second from 0.1 to 10000, got \(Bounded.short(rate))")
        }
        return rate
    }

    /// Descriptors for the WebSockets of the plan's accounts, beside those for its media.
    func provideConnections(_ settings: inout LivePhoneSettings, _ plan: LoadPlan) throws {
        guard plan.connectionRate != nil else { return }
        let connections = plan.accounts.count, sockets = settings.mediaPorts.count, limit = ProcessResources.raiseDescriptorLimit()
        settings.maximumConnections = max(settings.maximumConnections, connections + 16)
        guard limit == 0 || limit >= connections + sockets + 64 else {
            throw Failure.cannotRun(
                "\(connections) WebSockets and \(sockets) media sockets need more descriptors than the limit of \(limit) (ulimit -n)")
        }
    }
}
