/// Cuts a Swift source into tokens. Any bytes are taken: an unterminated literal or comment ends with its line or with the source.
///
/// Bare regular expression literals (`/…/`) are not known; a quotation mark in one begins a string. Extended ones (`#/…/#`) are.
struct SourceLexer {
    private let bytes: [UInt8]
    private var position = 0
    private var startsLine = true
    private var tokens: [SourceToken] = []

    static func tokens(of bytes: [UInt8]) -> [SourceToken] {
        var lexer = SourceLexer(bytes: bytes)
        while lexer.position < bytes.count { lexer.step() }
        return lexer.tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func step() {
        let byte = bytes[position]
        switch byte {
        case .newline:
            startsLine = true
            position += 1
        case .space, .tab, .carriageReturn: position += 1
        case .slash where isNext(.slash) || isNext(.asterisk): skipComment()
        case .quote: append(.string, to: endOfString(hashes: 0))
        case .hash: stepHash()
        case .at where byteAfter(1).isWordHead: append(.word, to: endOfWord(from: position + 1))
        case .backtick: append(.word, to: endOfQuotedWord())
        case _ where byte.isDigit: append(.number, to: endOfWord(from: position))
        case _ where byte.isWordHead: append(.word, to: endOfWord(from: position))
        default: append(.mark, to: position + 1)
        }
    }

    private mutating func append(_ kind: SourceToken.Kind, to end: Int) {
        let text = String(decoding: bytes[position..<end], as: UTF8.self)
        tokens.append(SourceToken(kind: kind, text: text, range: position..<end, startsLine: startsLine))
        (position, startsLine) = (end, false)
    }

    private func byteAfter(_ distance: Int) -> UInt8 { position + distance < bytes.count ? bytes[position + distance] : 0 }
    private func isNext(_ byte: UInt8) -> Bool { byteAfter(1) == byte }

    private func endOfWord(from start: Int) -> Int {
        var end = start
        while end < bytes.count, bytes[end].isWord { end += 1 }
        return end
    }

    private func endOfQuotedWord() -> Int {
        var end = position + 1
        while end < bytes.count, bytes[end].isWord || bytes[end] == .space { end += 1 }
        return end < bytes.count && bytes[end] == .backtick ? end + 1 : position + 1
    }
}

// MARK: - Comments

extension SourceLexer {
    private mutating func skipComment() {
        let end = endOfComment(from: position)
        if bytes[position..<end].contains(.newline) { startsLine = true }
        position = end
    }

    /// Comments nest, but for those that end with their line.
    private func endOfComment(from start: Int) -> Int {
        var end = start + 2, depth = 1
        guard bytes[start + 1] == .asterisk else {
            while end < bytes.count, bytes[end] != .newline { end += 1 }
            return end
        }
        while end < bytes.count, depth > 0 {
            let next = end + 1 < bytes.count ? bytes[end + 1] : 0
            switch (bytes[end], next) {
            case (.slash, .asterisk): (depth, end) = (depth + 1, end + 2)
            case (.asterisk, .slash): (depth, end) = (depth - 1, end + 2)
            default: end += 1
            }
        }
        return end
    }
}

// MARK: - Literals

extension SourceLexer {
    /// A raw string, an extended regular expression, or a word with its `#`.
    private mutating func stepHash() {
        var hashes = 0
        while byteAfter(hashes) == .hash { hashes += 1 }
        switch byteAfter(hashes) {
        case .quote: append(.string, to: endOfString(hashes: hashes))
        case .slash: append(.string, to: endOfRegex(hashes: hashes))
        case let byte where hashes == 1 && byte.isWordHead: append(.word, to: endOfWord(from: position + 1))
        default: append(.mark, to: position + 1)
        }
    }

    private func endOfRegex(hashes: Int) -> Int {
        var end = position + hashes + 1
        while end < bytes.count {
            if bytes[end] == .slash, hasHashes(hashes, at: end + 1) { return end + 1 + hashes }
            end += bytes[end] == .backslash ? 2 : 1
        }
        return bytes.count
    }

    private func hasHashes(_ count: Int, at start: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == .hash }
    }

    /// A literal or an interpolation that is open. A stack, for no depth of a source may end the process.
    private enum Open {
        case string(hashes: Int, isMultiline: Bool)
        case interpolation(depth: Int)
    }

    private func endOfString(hashes: Int) -> Int {
        var end = position, open: [Open] = []
        beginString(hashes: hashes, &end, &open)
        while end < bytes.count, let last = open.last {
            switch last {
            case .string(let hashes, let isMultiline):
                if bytes[end] == .newline, !isMultiline { return end }
                stepInString(hashes, isMultiline, &end, &open)
            case .interpolation(let depth): stepInInterpolation(depth, &end, &open)
            }
        }
        return min(end, bytes.count)
    }

    private func beginString(hashes: Int, _ end: inout Int, _ open: inout [Open]) {
        end += hashes
        let isMultiline = hasQuotes(3, at: end)
        end += isMultiline ? 3 : 1
        open.append(.string(hashes: hashes, isMultiline: isMultiline))
    }

    private func hasQuotes(_ count: Int, at start: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == .quote }
    }

    private func stepInString(_ hashes: Int, _ isMultiline: Bool, _ end: inout Int, _ open: inout [Open]) {
        let quotes = isMultiline ? 3 : 1
        if bytes[end] == .backslash, hasHashes(hashes, at: end + 1) {
            let escaped = end + 1 + hashes
            if escaped < bytes.count, bytes[escaped] == .openParenthesis { open.append(.interpolation(depth: 1)) }
            // The end of a line is no escape in a string of one line.
            end = escaped < bytes.count && bytes[escaped] == .newline ? escaped : escaped + 1
        } else if hasQuotes(quotes, at: end), hasHashes(hashes, at: end + quotes) {
            open.removeLast()
            end += quotes + hashes
        } else {
            end += 1
        }
    }

    private func stepInInterpolation(_ depth: Int, _ end: inout Int, _ open: inout [Open]) {
        var hashes = 0
        while end + hashes < bytes.count, bytes[end + hashes] == .hash { hashes += 1 }
        if hasQuotes(1, at: end + hashes) { return beginString(hashes: hashes, &end, &open) }
        switch bytes[end] {
        case .openParenthesis: open[open.count - 1] = .interpolation(depth: depth + 1)
        case .closeParenthesis where depth == 1: open.removeLast()
        case .closeParenthesis: open[open.count - 1] = .interpolation(depth: depth - 1)
        case .slash where end + 1 < bytes.count && bytes[end + 1] == .asterisk:
            end = endOfComment(from: end)
            return
        default: break
        }
        end += 1
    }
}

extension UInt8 {
    fileprivate static let newline = UInt8(ascii: "\n"), carriageReturn = UInt8(ascii: "\r"), space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t"), slash = UInt8(ascii: "/"), asterisk = UInt8(ascii: "*")
    fileprivate static let quote = UInt8(ascii: "\""), hash = UInt8(ascii: "#"), at = UInt8(ascii: "@"), backtick = UInt8(ascii: "`")
    fileprivate static let backslash = UInt8(ascii: "\\"), openParenthesis = UInt8(ascii: "("), closeParenthesis = UInt8(ascii: ")")

    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    /// Every byte of a character that is not ASCII counts as one of a word.
    fileprivate var isWordHead: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || self == UInt8(ascii: "_") || self == UInt8(ascii: "$")
            || self >= 0x80
    }
    fileprivate var isWord: Bool { isWordHead || isDigit }
}
