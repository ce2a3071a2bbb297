import Primitives
import SIP

// Keys by INFO, for a peer that knows no telephone-event (RFC 4733): as old as `application/dtmf-relay`, and what it says in Allow.
extension InviteSession {
    /// The most keys that may wait for the answer to the one before.
    private static let mostKeys = 64

    /// Whether the peer said that it takes INFO.
    public var takesInfo: Bool { peerAllowsInfo }

    /// Tells of keys, one INFO after the other: what is sent side by side may come in another order.
    /// - Parameter completion: called when the last one is answered, or can no longer be.
    /// - Returns: false, and nothing is sent, where the peer takes no INFO or too many wait.
    public func tell(_ keys: [DTMFPress], at now: Instant, completion: @escaping (Instant) -> Void = { _ in }) -> Bool {
        guard takesInfo, state == .confirmed || state == .answered, !keys.isEmpty, keysToTell.count + keys.count <= Self.mostKeys else {
            return false
        }
        let isIdle = keysToTell.isEmpty
        keysToTell += keys.dropLast().map { ($0, nil) } + [(keys[keys.count - 1], completion)]
        if isIdle { tellNext(at: now) }
        return true
    }

    private func tellNext(at now: Instant) {
        guard let (key, _) = keysToTell.first else { return }
        let exchange = makeExchange(.info, at: now) {
            $0.headers.append(.contentType, DTMFPress.contentType)
            $0.body = key.relayBody
        }
        guard let exchange else { return forgetKeys(at: now) }
        exchange.start(at: now) { [self] outcome, now in
            loseDialog(by: outcome, at: now)
            switch outcome {
            case .response(let response, _) where (response.status ?? 0) < 200: break
            case .response, .timedOut, .transportFailed: toldKey(at: now)
            case .terminated: break
            }
        }
    }

    private func toldKey(at now: Instant) {
        guard !keysToTell.isEmpty else { return }
        let (_, completion) = keysToTell.removeFirst()
        completion?(now)
        tellNext(at: now)
    }

    private func forgetKeys(at now: Instant) {
        let completions = keysToTell.compactMap(\.completion)
        keysToTell = []
        for completion in completions { completion(now) }
    }
}
