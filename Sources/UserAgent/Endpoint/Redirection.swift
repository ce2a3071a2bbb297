import Primitives
import SIP

extension Message {
    /// Where a 3xx sends a request, the most preferred first, as Request-URIs (RFC 3261 §8.1.3.4).
    var redirections: [URI] {
        contacts.sorted { $0.parameters.preference > $1.parameters.preference }.map(\.uri.asRequestURI)
    }
}

extension URI {
    /// Without headers and method, which have no place in a Request-URI (RFC 3261 §19.1.1).
    fileprivate var asRequestURI: URI {
        guard isSIP else { return self }
        var uri = self
        if headers != nil { uri.headers = nil }
        if parameters.contains("method" as StaticString) { uri.parameters["method"] = nil }
        return uri
    }
}
