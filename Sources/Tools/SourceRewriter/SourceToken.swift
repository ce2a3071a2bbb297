/// A word, a number, a mark or a string literal of a Swift source. Blank space and comments lie between tokens.
struct SourceToken: Equatable {
    enum Kind {
        /// An identifier or keyword; with its `@` or `#` where one stands before it, and with its backticks.
        case word
        case number
        /// One byte of punctuation.
        case mark
        /// A string or regular expression literal with its delimiters and interpolations, or what there is of one.
        case string
    }

    let kind: Kind
    let text: String
    /// Bytes of the source.
    let range: Range<Int>
    /// Whether it is the first of its line.
    let startsLine: Bool

    static func == (token: SourceToken, text: String) -> Bool { token.kind != .string && token.text == text }
}
