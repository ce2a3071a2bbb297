import Console
import Dispatch
import Foundation
import HTTP
import Primitives
import Runtime
import Synchronization

/// Posts the events of webhooks, each over one of a few threads of its own, which keep their connections.
final class WebhookPoster: WebhookClient {
    /// A thread and its connection.
    private final class Slot: @unchecked Sendable {
        let queue = DispatchQueue(label: "webhook.post")
        /// Used on `queue` alone.
        let kept = KeptConnection()
    }

    /// nil until an address needs it, or where it cannot be made.
    private let trust: Mutex<TLSContexts?>
    /// The slots that are free, for each receiver: the last one used is first, for its connection is warm.
    private let free = Mutex<[String: [Slot]]>([:])

    /// - Parameter trust: whose certificates an `https` address may show; nil only for `http`.
    init(trusting trust: TLSContexts?) { self.trust = Mutex(trust) }

    func use(_ trust: TLSContexts?) { self.trust.withLock { $0 = trust } }

    func post(_ request: WebhookRequest, then: @escaping @Sendable (WebhookAnswer) -> Void) {
        let receiver = "\(request.url.host() ?? ""):\(request.url.port ?? 0)"
        let slot = free.withLock { $0[receiver]?.popLast() } ?? Slot()
        slot.queue.async { [self] in
            let answer = Self.post(request, keeping: slot.kept, trusting: trust.withLock(\.self))
            free.withLock { free in if free[receiver, default: []].count < 8 { free[receiver]?.append(slot) } }
            then(answer)
        }
    }

    private static func post(_ request: WebhookRequest, keeping kept: KeptConnection, trusting trust: TLSContexts?) -> WebhookAnswer {
        let isSecure = request.url.scheme == "https"
        let seconds = Double(request.timeout.wholeMilliseconds) / 1_000
        let post = HTTPPost(
            request.url, trusting: isSecure ? trust : nil, timeout: seconds, to: "the receiver", fields: request.fields)
        do throws(HTTPPost.Failure) {
            guard !isSecure || trust != nil else { throw .init(description: "no certificates are trusted", cause: .unreachable) }
            let answer = try post.ask(Data(request.content), keeping: kept)
            return .answered(status: answer.status, retryAfter: answer.fields[.retryAfter])
        } catch {
            return switch error.cause {
            case .unreachable: .unreachable(error.description)
            case .timeout: .timeout(error.description)
            case .broken, .unanswered: .broken(error.description)
            }
        }
    }
}
