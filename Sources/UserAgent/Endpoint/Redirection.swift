import Primitives
import SIP

extension Message {
    /// Where a 3xx sends a request, the most preferred first, as Request-URIs (RFC 3261 §8.1.3.4).
    var redirections: [URI] {
        contacts.sorted { $0.parameters.preference > $1.parameters.preference }.map(\.uri.asRequestURI)
    }
}
