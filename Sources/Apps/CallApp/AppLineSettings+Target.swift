import Primitives
import SIP
import UserAgent

extension AppLineSettings {
    /// Gives the target that a handle names: a number of the line's domain, written as people write it or as `tel:`, or an address, `sip:`
    /// and `sips:` before it or not. nil where it is none of them, or cannot be called over the line's flow.
    func target(_ handle: String) -> URI? {
        guard let (scheme, rest) = Self.scheme(of: handle), !rest.isEmpty else { return nil }
        let isAddress = scheme != .tel && rest.contains("@")
        let address = isAddress ? String(rest) : Self.dialled(String(rest)) + "@\(URI(host: domain).host)"
        let uri = try? URI(parsing: Text((scheme == .sips ? "sips:" : "sip:") + address))
        guard let uri, uri.password == nil, uri.mayGo(over: flow) else { return nil }
        return uri
    }

    /// The scheme, `sip` where there is none, and what follows it; nil for one that we cannot call by. A colon behind an "@" begins a port
    /// or is in an address.
    private static func scheme(of handle: String) -> (URI.Scheme, rest: Substring)? {
        guard let colon = handle.firstIndex(of: ":"), !handle[..<colon].contains("@") else { return (.sip, handle[...]) }
        let schemes: [String: URI.Scheme] = ["sip": .sip, "sips": .sips, "tel": .tel]
        return schemes[handle[..<colon].lowercased()].map { ($0, handle[handle.index(after: colon)...]) }
    }

    /// A number without what only makes it easier to read (RFC 3966 §5.1.1, and spaces); anything else as it is.
    private static func dialled(_ handle: String) -> String {
        let number = handle.filter { !"-.()/".contains($0) && !$0.isWhitespace }
        let digits = number.drop { $0 == "+" }
        let isNumber = number.count - digits.count < 2 && !digits.isEmpty && digits.allSatisfy { ("0"..."9").contains($0) }
        return isNumber ? number : handle
    }
}

extension URI {
    /// Nothing is sent to a sips URI but over TLS (RFC 3261 §26.2.2).
    func mayGo(over flow: Flow) -> Bool { scheme != .sips || flow.transport.isSecure }
}
