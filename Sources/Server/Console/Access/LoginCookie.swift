import HTTP
import Primitives

/// The cookie of a login (RFC 6265).
enum LoginCookie {
    static let name = "hookswitch"

    /// The first of its name.
    static func secret(in fields: HTTPFields) -> String? {
        let pairs = (fields[.cookie] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        guard let pair = pairs.first(where: { $0.hasPrefix(name + "=") }), pair.utf8.count < 512 else { return nil }
        return String(pair.dropFirst(name.utf8.count + 1))
    }

    /// The value of Set-Cookie: scripts cannot read it, and pages of other sites do not send it.
    ///
    /// - Parameters:
    ///   - secret: nil takes the cookie back.
    ///   - isSecure: the browser sends it over TLS alone.
    static func field(_ secret: String?, lifetime: Duration, isSecure: Bool) -> String {
        let age = secret == nil ? 0 : lifetime.wholeMilliseconds / 1_000
        return "\(name)=\(secret ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "")
    }
}
