import Dispatch
import Gateway
import Primitives
import Runtime
import Synchronization
import UserAgent

/// A name for the address that peers outside are told: asked for again and again, for behind a dial-up line or in a cluster the address
/// changes.
final class AdvertisedName: Sendable {
    enum News: Equatable {
        case moved(from: IPAddress, to: IPAddress)
        /// Nobody knows it at the moment; the address stays. Told once.
        case lost
    }

    private let queue = DispatchQueue(label: "advertised name")
    private let interval: DispatchTimeInterval
    private let resolve: @Sendable () -> IPAddress?
    private let onNews: @Sendable (News) -> Void
    private let state: Mutex<(address: IPAddress, isLost: Bool)>

    /// Asks for as long as it is kept.
    init(
        _ address: IPAddress, every interval: DispatchTimeInterval = .seconds(60), resolve: @escaping @Sendable () -> IPAddress?,
        onNews: @escaping @Sendable (News) -> Void
    ) {
        (self.interval, self.resolve, self.onNews) = (interval, resolve, onNews)
        state = Mutex((address, false))
        wait()
    }

    private func wait() {
        queue.asyncAfter(deadline: .now() + interval) { [weak self] in
            self?.look()
            self?.wait()
        }
    }

    /// Asks once, and tells what is new.
    func look() {
        let found = resolve()
        let news = state.withLock { state -> News? in
            guard let found else {
                defer { state.isLost = true }
                return state.isLost ? nil : .lost
            }
            defer { state = (found, false) }
            return found == state.address ? nil : .moved(from: state.address, to: found)
        }
        if let news { onNews(news) }
    }
}

extension ServeConfiguration {
    /// The address of the name in `advertise.address` now; nil where the name leads nowhere.
    var addressOfAdvertisedName: IPAddress? {
        guard let advertisedName else { return nil }
        let resolver = nameServers.isEmpty ? nil : TrunkLookup.resolver(self)
        let ask = resolver.map { resolver in { @Sendable in HostLookup.answer(to: $0, resolver) } } ?? HostLookup.ask
        return HostLookup.$ask.withValue(ask) { try? HostLookup.address(of: Text(advertisedName), port: 5060, over: .udp) }?.address
    }

    /// - Throws: that a name leads nowhere, with code 3.
    func findingAdvertisedName() throws -> ServeConfiguration {
        guard let advertisedName else { return self }
        var found = self
        found.gateway.advertise.address = addressOfAdvertisedName
        guard found.gateway.advertise.address != nil else {
            throw ConfigurationError(
                place: place(of: "advertise.address"), message: "the name '\(advertisedName)' has no address here", kind: .environment)
        }
        return found
    }
}
