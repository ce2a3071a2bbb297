import Foundation
import Gateway
import Runtime
import Synchronization

/// Posts each push as JSON to one web address, which knows how to reach the push services.
///
/// A 2xx is a push that was taken. Blocks only threads of its own, a few seconds at most; when too many wait, further ones fail at once.
final class WebhookPushSender: PushSender {
    private struct Body: Encodable { let provider, prid: String, param: String?, line, call, from: String, name: String? }

    private static let mostWaiting = 256
    private let address: URL
    private let timeout: TimeInterval
    private let queues = (0..<4).map { DispatchQueue(label: "push.\($0)") }
    private let state = Mutex((waiting: 0, next: 0))

    private let trust: TLSContexts?

    /// - Parameter trust: whose certificates an `https` address may show; nil only for `http`.
    init(to address: URL, trusting trust: TLSContexts? = nil, timeout: TimeInterval = 5) {
        (self.address, self.trust, self.timeout) = (address, trust, timeout)
    }

    func send(_ message: PushMessage, failed: @escaping @Sendable (String) -> Void) {
        let queue = state.withLock { state -> DispatchQueue? in
            guard state.waiting < Self.mostWaiting else { return nil }
            state.waiting += 1
            state.next = (state.next + 1) % queues.count
            return queues[state.next]
        }
        guard let queue else { return failed("too many pushes wait") }
        queue.async { [self] in
            defer { state.withLock { $0.waiting -= 1 } }
            do throws(HTTPPost.Failure) { try post(message) } catch { failed(error.description) }
        }
    }

    private func post(_ message: PushMessage) throws(HTTPPost.Failure) {
        let body = Body(
            provider: message.provider, prid: message.identifier, param: message.parameter, line: message.line,
            call: message.call.uuidString, from: message.caller,
            name: message.name)
        guard let json = try? JSONEncoder().encode(body) else { throw HTTPPost.Failure(description: "the push cannot be written as JSON") }
        let status = try HTTPPost(address, trusting: trust, timeout: timeout).send(json)
        guard (200..<300).contains(status) else { throw HTTPPost.Failure(description: "the push service answered \(status)") }
    }
}
