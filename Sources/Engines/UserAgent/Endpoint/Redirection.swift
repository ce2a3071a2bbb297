import Primitives
import SIP

extension Message {
    /// The targets to which a 3xx sends a request, the most preferred first, as Request-URIs (RFC 3261 §8.1.3.4). 305 names none: it wants
    /// the same request to go through another proxy, which only a proxy may ask for (§21.3.4).
    /// - Parameter domain: the domain of the numbers in tel URIs; nil: none.
    func redirections(numbersOf domain: Text?) -> [URI] {
        guard status != 305 else { return [] }
        return contacts.sorted { $0.parameters.preference > $1.parameters.preference }.map { $0.uri.number(of: domain).asRequestURI }
    }
}

extension URI {
    /// A tel URI as a number of a domain (RFC 3261 §19.1.6); any other as it is.
    fileprivate func number(of domain: Text?) -> URI {
        guard scheme == .tel, let domain, let user else { return self }
        return URI(user: user, host: domain, parameters: ["user": "phone"])
    }
}
