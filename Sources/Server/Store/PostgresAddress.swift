import Foundation

/// The place of a PostgreSQL database: a URL as libpq takes it (PostgreSQL 15, §34.1.1.2), without a password.
public struct PostgresAddress: Sendable, Equatable, CustomStringConvertible {
    /// As it was written, for libpq.
    public let url: String
    /// Without its parameters.
    public let description: String

    /// The fault of a URL. The description is one line, in which no part of the URL is: there may be a password in it.
    public struct Fault: Error, CustomStringConvertible, Sendable {
        public let description: String
    }

    /// Whether a text is meant as such a URL.
    public static func isMeant(by text: String) -> Bool { schemes.contains(where: text.hasPrefix) }

    private static let schemes = ["postgres://", "postgresql://"]

    /// - Throws: where it is no such URL, or has a password: a URL is shown in lists of processes and in logs.
    public init(_ url: String) throws(Fault) {
        guard let scheme = Self.schemes.first(where: url.hasPrefix) else {
            throw Fault(description: "takes postgres://user@host:port/database")
        }
        let rest = url.dropFirst(scheme.count), parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let authority = parts[0].prefix { $0 != "/" }
        let names = (parts.dropFirst().first ?? "").split(separator: "&").map { $0.prefix { $0 != "=" } }
        guard !(authority.lastIndex(of: "@").map { authority[..<$0].contains(":") } ?? false), !names.contains(where: Self.isSecret) else {
            throw Fault(
                description: "has a password in its URL, where others can read it: give it by data-password-file, passfile= or PGPASSWORD")
        }
        guard !url.contains(where: { $0.isWhitespace || $0 == "\0" }), parts.count < 2 || names.allSatisfy({ !$0.isEmpty }) else {
            throw Fault(description: "takes postgres://user@host:port/database")
        }
        (self.url, description) = (url, scheme + parts[0])
    }

    private static func isSecret(_ name: Substring) -> Bool {
        ["password", "sslpassword"].contains(name.removingPercentEncoding ?? String(name))
    }
}
