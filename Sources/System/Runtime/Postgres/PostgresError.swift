/// Why PostgreSQL, or the way to it, did not do what was asked.
public struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The SQLSTATE, five characters; nil: it did not come from the server.
    public var code: String?
    /// One line for a person. No password and no value of a statement is in it.
    public var description: String
    /// The connection is gone, or never stood.
    public var isLoss: Bool

    /// - Parameters:
    ///   - code: the SQLSTATE; nil where no server said so.
    ///   - description: one line.
    ///   - isLoss: no further statement can be run on the connection.
    public init(code: String? = nil, _ description: String, isLoss: Bool) {
        (self.code, self.description, self.isLoss) = (code, description, isLoss)
    }

    /// libpq.so.5 cannot be loaded.
    public static let noLibrary = PostgresError("libpq.so.5 is not there: apt-get install libpq5", isLoss: true)

    /// The code of an error about the parameters of a connection; none of PostgreSQL's.
    public static let invalidParameters = "HSURL"

    /// Reads what libpq says at once: of parameters, or of a server that is not there.
    init(ofStart lines: String) {
        self.init(ofConnection: lines)
        if code == nil, !["connection to server", "could not "].contains(where: description.hasPrefix) { code = Self.invalidParameters }
    }

    /// Reads libpq's lines about a connection, which have the SQLSTATE before the server's words (`PQERRORS_VERBOSE`):
    /// `connection to server at "db", port 5432 failed: FATAL:  28P01: password authentication failed for user "u"`.
    init(ofConnection lines: String) {
        let told = lines.split(whereSeparator: \.isNewline).map(String.init).filter { !$0.hasPrefix("LOCATION:") }
        for line in told.reversed() {
            guard let (code, words) = Self.serverWords(line) else { continue }
            self.init(code: code, words, isLoss: true)
            return
        }
        self.init(told.first ?? "the connection was lost", isLoss: true)
    }

    private static func serverWords(_ line: String) -> (code: String, words: String)? {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        let isCode = { (word: Substring) in
            word.utf8.count == 6 && word.last == ":" && word.contains(where: \.isNumber)
                && word.dropLast().allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
        }
        guard let index = words.indices.dropFirst().first(where: { words[$0 - 1].hasSuffix(":") && isCode(words[$0]) }) else { return nil }
        return (String(words[index].dropLast()), words[(index + 1)...].joined(separator: " "))
    }
}
