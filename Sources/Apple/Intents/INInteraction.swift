import Dispatch
import Foundation

public enum INInteractionDirection: Int, Sendable {
    case unspecified = 0, outgoing = 1, incoming = 2
}

/// An intent with what came of it.
open class INInteraction: NSObject, @unchecked Sendable {
    public let intent: INIntent
    public let intentResponse: INIntentResponse?
    open var direction = INInteractionDirection.unspecified
    /// Now, unless the app says otherwise.
    open var dateInterval: DateInterval? = DateInterval(start: Date(), duration: 0)
    open var identifier = UUID().uuidString
    open var groupIdentifier: String?

    public init(intent: INIntent, response: INIntentResponse?) {
        (self.intent, intentResponse) = (intent, response)
        super.init()
    }

    /// Nobody here suggests calls: always succeeds, on a queue of the system, and keeps nothing.
    open func donate(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        guard let completion else { return }
        DispatchQueue.global().async { completion(nil) }
    }

    open func donate() async throws {}
}
