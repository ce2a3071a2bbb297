import Foundation
import Primitives
import Runtime

/// A token as it is kept: what it permits, and its SHA-256. The token itself is nowhere.
public struct AccessToken: Codable, Equatable, Sendable {
    /// For people, and to take it back by.
    public var name: String
    /// 64 hexadecimal digits.
    public var sha256: String
    public var scopes: [AccessScope]
    /// Numbers of the lines that it is for; nil: all.
    public var lines: [String]?
    /// nil: it does not end.
    public var expires: Date?

    /// Draws a token of 32 random bytes.
    ///
    /// - Parameters:
    ///   - name: for people.
    ///   - scopes: what it permits.
    ///   - lines: nil: all.
    ///   - expires: nil: it does not end.
    /// - Returns: what is kept, and the token, which is shown once.
    public static func make(name: String, scopes: [AccessScope], lines: [String]?, expires: Date?) -> (kept: AccessToken, secret: String) {
        let secret = prefix + draw()
        return (AccessToken(name: name, sha256: digest(secret), scopes: scopes, lines: lines, expires: expires), secret)
    }

    /// 32 random bytes, as text that may stand in a URL and in a cookie (RFC 4648 §5).
    static func draw() -> String {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// By which a scanner for secrets knows it.
    private static let prefix = "hsw_"

    static func digest(_ secret: some StringProtocol) -> String {
        String(decoding: OpenSSLDigest.lowercaseHexadecimal(OpenSSLDigest.sha256(Array(secret.utf8))), as: UTF8.self)
    }
}

/// The file of a gateway's tokens.
public struct AccessTokenFile: Sendable {
    /// Why it cannot be used: one line for a person.
    public struct Failure: Error, CustomStringConvertible { public let description: String }

    public let path: String

    public init(path: String) { self.path = path }

    /// None where there is no file.
    public func read() throws(Failure) -> [AccessToken] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do { return try decoder.decode([AccessToken].self, from: Data(contentsOf: URL(filePath: path))) } catch {
            throw Failure(description: "\(path): not a file of tokens")
        }
    }

    /// Replaces the file as a whole; this user alone may read it.
    public func write(_ tokens: [AccessToken]) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let fresh = path + ".new"
        guard let data = try? encoder.encode(tokens),
            FileManager.default.createFile(atPath: fresh, contents: data, attributes: [.posixPermissions: 0o600]), rename(fresh, path) == 0
        else { throw Failure(description: "\(path): cannot be written") }
    }

    /// By which another content is known.
    struct Version: Equatable {
        let inode: UInt, size: Int, seconds: Int, nanoseconds: Int
    }

    /// nil where there is no file.
    var version: Version? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Version(
            inode: UInt(status.st_ino), size: Int(status.st_size), seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
    }
}
