import Media
import Primitives

@testable import Gateway
@testable import UserAgent

extension GatewayFigures {
    /// A gateway that has done nothing yet.
    static let idle = GatewayFigures(
        now: .init(agent: .init(), media: MediaCounts(ports: .init())),
        registrar: .init(users: 0, contacts: 0, silent: 0, nonces: 0, timers: 0, webSockets: 0),
        transports: .init(), watchedSources: 0, isDraining: false, questions: 0, refusals: [], throttled: [], events: [], ends: [:],
        media: MediaTotals(), violations: 0, journal: nil)
}
