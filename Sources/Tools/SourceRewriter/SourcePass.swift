/// One way through the tokens of a source, which notes what is to stand in their places.
struct SourcePass {
    let bytes: [UInt8]
    let tokens: [SourceToken]
    private var edits: [(range: Range<Int>, text: String)] = []
    /// The types that are open, innermost last; nil for any other pair of braces.
    private var scopes: [String?] = []
    private var typeThatOpens: String?
    /// Modules that the source imports and that have another name here.
    var imports: Set<String> = []

    init(bytes: [UInt8]) { (self.bytes, tokens) = (bytes, SourceLexer.tokens(of: bytes)) }

    /// The innermost type around the token that is being looked at.
    var enclosingType: String? { scopes.lazy.compactMap { $0 }.last }

    mutating func rewrite(with rewriter: SourceRewriter) {
        for index in tokens.indices where tokens[index].kind != .string { rewrite(at: index, with: rewriter) }
    }

    private mutating func rewrite(at index: Int, with rewriter: SourceRewriter) {
        switch tokens[index].text {
        case "{":
            scopes.append(typeThatOpens)
            typeThatOpens = nil
        case "}": _ = scopes.popLast()
        case "class":
            noteType(at: index)
            rewriteDelegateClass(at: index)
        case "struct", "enum", "extension", "actor": noteType(at: index)
        case "protocol":
            noteType(at: index)
            rewriteProtocol(at: index)
        case "import": rewriteImport(at: index)
        case "#if", "#elseif": rewriteCondition(at: index)
        case "?": rewriteOptionalCall(at: index, rewriter.optionalMembers)
        case "catch": rewriteCatch(at: index)
        case "as": rewriteCast(at: index)
        case "dynamic": rewriteDynamic(at: index)
        case let text where text.hasPrefix("@"): rewriteAttribute(at: index, keepsEntryPoint: rewriter.keepsEntryPoint)
        case let text where text.hasPrefix("#"): rewriteExpression(at: index)
        case let text where imports.contains(text): rewriteQualifiedName(at: index)
        default: break
        }
    }

    private mutating func noteType(at index: Int) {
        let others: Set = [".", "import", "(", ",", "let", "var", "func", "case"]
        guard !others.contains(self[index - 1]), let name = typeName(after: index) else { return }
        typeThatOpens = name
    }

    /// Modules whose names Apple's Foundation has.
    var modulesOfFoundation: [String] {
        let networking = [
            "URLSession", "URLRequest", "HTTPURLResponse", "URLResponse", "URLCredential", "URLAuthenticationChallenge", "HTTPCookie",
        ]
        let combine = ["ObservableObject", "@Published", "AnyCancellable", "AnyPublisher", "PassthroughSubject", "CurrentValueSubject"]
        return (uses(networking) ? ["FoundationNetworking"] : []) + (uses(combine) ? ["HookswitchCombine"] : [])
    }

    private func uses(_ names: [String]) -> Bool {
        tokens.contains { token in token.kind == .word && names.contains { token.text.hasPrefix($0) } }
    }
}

// MARK: - Reading

extension SourcePass {
    /// The text of a token; empty outside of the source, and for a literal.
    subscript(index: Int) -> String { tokens.indices.contains(index) && tokens[index].kind != .string ? tokens[index].text : "" }

    func isWord(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .word }

    func startsLine(_ index: Int) -> Bool { !tokens.indices.contains(index) || tokens[index].startsLine }

    /// The index of the bracket that closes the one at an index; nil when none does.
    func closing(_ index: Int) -> Int? {
        var depth = 0
        for next in index..<max(index, tokens.count) {
            switch self[next] {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            default: continue
            }
            if depth == 0 { return next }
        }
        return nil
    }

    /// The name in the declaration of a type whose keyword is at an index, with dots; nil when it declares none.
    func typeName(after keyword: Int) -> String? {
        let others: Set = ["func", "var", "let", "init", "subscript", "override", "final", "private", "public", "internal", "fileprivate"]
        guard isWord(keyword + 1), !others.contains(self[keyword + 1]) else { return nil }
        var name = self[keyword + 1], index = keyword + 2
        while self[index] == ".", isWord(index + 1) {
            name += "." + self[index + 1]
            index += 2
        }
        return name
    }

    /// Tokens with one space for whatever stands between them: code on one line.
    func line(_ range: Range<Int>) -> String {
        var text = ""
        for index in range {
            let token = tokens[index]
            if index > range.lowerBound, tokens[index - 1].range.upperBound < token.range.lowerBound { text += " " }
            text += token.text
        }
        return text
    }
}

// MARK: - Writing

extension SourcePass {
    /// Puts a text in the place of tokens. Lines that they take more than the text does follow it, so that later ones stay where they are.
    mutating func replace(_ range: Range<Int>, with text: String) {
        let old = tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
        let lines = bytes[old].count { $0 == UInt8(ascii: "\n") }
        edits.append((old, text + String(repeating: "\n", count: lines)))
    }

    /// Puts spaces in the place of tokens: what follows keeps its column.
    mutating func blank(_ range: Range<Int>) {
        for index in range { edits.append((tokens[index].range, String(repeating: " ", count: tokens[index].range.count))) }
    }

    mutating func insert(_ text: String, after index: Int) {
        let end = tokens[index].range.upperBound
        edits.append((end..<end, text))
    }

    /// The source with all edits. Of two that overlap the first stands.
    var result: String {
        var copy: [UInt8] = [], position = 0
        let inOrder = edits.enumerated().sorted { ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset) }
        for (_, edit) in inOrder where edit.range.lowerBound >= position {
            copy += bytes[position..<edit.range.lowerBound]
            copy += Array(edit.text.utf8)
            position = edit.range.upperBound
        }
        return String(decoding: copy + bytes[position...], as: UTF8.self)
    }
}
