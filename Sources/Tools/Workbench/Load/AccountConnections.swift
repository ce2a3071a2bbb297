import Primitives
import SIP
import UserAgent

/// The WebSockets of accounts: one for each, as each browser has its own (RFC 7118), opened at a bounded rate.
struct AccountConnections {
    /// The time from one to the next; nil: all accounts share what leads to the server.
    let interval: Duration?
    /// The next may be opened.
    private(set) var due = Instant.zero
    private var flows: [Text: Flow] = [:]

    /// - Parameter rate: connections a second; nil: accounts have none of their own.
    init(rate: Double?) { interval = rate.map { .seconds(fraction: 1 / $0) } }

    /// Whether accounts have connections of their own.
    var areOwn: Bool { interval != nil }

    /// The way of the account's requests.
    subscript(user: Text) -> Flow? { flows[user] }

    /// Whether the rate lets one more be opened now.
    func mayOpen(at now: Instant) -> Bool { !areOwn || due <= now }

    /// Opens one for the account, in place of the one that it had. Nil where the kernel has none to give.
    mutating func open(for user: Text, to server: Flow, by agent: UserAgent, at now: Instant) -> Flow? {
        guard let interval else { return server }
        due = max(due, now) + interval
        flows[user] = agent.connect(server)
        return flows[user]
    }
}
