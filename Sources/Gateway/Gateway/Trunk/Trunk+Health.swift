import Primitives
import SIP
import UserAgent

// Checks of a trunk's servers by OPTIONS.
extension Trunk {
    /// The first check is due at once.
    func beginChecks(at now: Instant) { nextHealth = configuration.health.map { _ in now } }

    func checkHealth(at now: Instant) {
        nextHealth = configuration.health.map { now + $0 }
        for member in pool.members {
            guard let flow = surroundings.locator.listeners.flow(to: member) else { continue }
            let (host, port) = name(of: member), target = URI(host: host, port: port)
            let from = NameAddress(uri: URI(user: configuration.contactUser(line: line), host: surroundings.context.configuration.domain))
            let options = OutgoingOptions(target: target, flow: flow, from: from, to: NameAddress(uri: target))
            surroundings.userAgent.options(options, at: now) { [weak self] status, response, now in
                self?.checked(flow, status, response, at: now)
            }
        }
    }

    /// None of its servers has answered the last check.
    private var isSilent: Bool { pool.members.allSatisfy { silent.contains($0.serverName) } }

    /// Any answer but 503 says that somebody is there.
    private func checked(_ flow: Flow, _ status: Int, _ response: Message?, at now: Instant) {
        // Meanwhile another gateway may have taken it over.
        guard isHeld else { return }
        let isDown = status == 503 || response == nil
        let wasDown = pool.members.contains { $0.server.address == flow.remote && pool.isDown($0, at: now) }
        if isDown, let health = configuration.health {
            // Until the next check but one has told otherwise.
            pool.failed(flow.remote, flow.transport, until: now + health + health)
        } else {
            note(flow, failure: isDown ? status : nil, response, at: now)
        }
        if isDown { silent.insert(flow.serverName) } else { silent.remove(flow.serverName) }
        if configuration.registration == nil { noteReach(response != nil || !isSilent, at: now) }
        guard wasDown != isDown else { return tellOthers() }
        write(isDown ? .down : .up, at: now, [.remote: .init(flow.remote.description), .status: .init(status)])
    }
}
