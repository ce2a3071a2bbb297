// Expressions of Objective-C, and those that Linux takes but understands otherwise.

extension SourcePass {
    mutating func rewriteExpression(at index: Int) {
        guard self[index + 1] == "(", let end = closing(index + 1) else { return }
        switch self[index] {
        case "#selector": rewriteSelector(index..<end + 1)
        case "#keyPath": replace(index..<end + 1, with: "\"\(keyPath(index + 2..<end))\"")
        case "#imageLiteral": rewriteLiteral(at: index, as: "UIImage")
        case "#fileLiteral": rewriteLiteral(at: index, as: "URL")
        case "#colorLiteral": replace(index..<index + 1, with: "UIColor")
        default: break
        }
    }

    private mutating func rewriteLiteral(at index: Int, as type: String) {
        replace(index..<index + 1, with: type)
        if self[index + 2] == "resourceName" { replace(index + 2..<index + 3, with: "hookswitchLiteral") }
    }

    /// Without the type that it begins with.
    private func keyPath(_ range: Range<Int>) -> String {
        let path = range.map { self[$0] }.joined()
        guard let dot = path.firstIndex(of: "."), path.first?.isUppercase ?? false else { return path }
        return String(path[path.index(after: dot)...])
    }

    /// A reference to the method itself. One of the type around it is made a reference of the type, which holds no object.
    private mutating func rewriteSelector(_ range: Range<Int>) {
        var inner = range.lowerBound + 2..<range.upperBound - 1
        guard !inner.isEmpty else { return }
        let name = "\"\(line(inner))\""
        if (self[inner.lowerBound] == "getter" || self[inner.lowerBound] == "setter") && self[inner.lowerBound + 1] == ":" {
            return replace(range, with: "Selector(\(name))")
        }
        let isOfSelf = ["self", "Self", "super"].contains(self[inner.lowerBound]) && self[inner.lowerBound + 1] == "."
        if isOfSelf { inner = inner.lowerBound + 2..<inner.upperBound }
        var method = line(inner), isOfType = method.first?.isUppercase ?? false
        if isOfSelf || self[inner.lowerBound + 1] != ".", let type = enclosingType { (method, isOfType) = ("\(type).\(method)", true) }
        replace(range, with: "Selector(hookswitch: \(name), \(isOfType ? "of" : "bound"): \(method))")
    }

    /// `delegate.method?(…)`: the method is always there, by a default that the copy has.
    mutating func rewriteOptionalCall(at index: Int, _ members: Set<String>) {
        guard self[index + 1] == "(", self[index - 2] == ".", members.contains(self[index - 1]) else { return }
        replace(index..<index + 1, with: "")
    }

    /// `catch let error as NSError {`: on Linux it matches no other error than an `NSError`.
    mutating func rewriteCatch(at index: Int) {
        guard self[index + 1] == "let", isWord(index + 2), self[index + 3] == "as", self[index + 4] == "NSError", self[index + 5] == "{"
        else { return }
        blank(index + 1..<index + 5)
        insert(" let \(self[index + 2]) = error as NSError; _ = \(self[index + 2]);", after: index + 5)
    }

    /// `error as? NSError`: on Linux it is nil for any other error than an `NSError`.
    mutating func rewriteCast(at index: Int) {
        let operand = self[index - 1].lowercased()
        guard operand.hasSuffix("error") || operand == "err", self[index + 1] == "?", self[index + 2] == "NSError" else { return }
        replace(index + 1..<index + 3, with: " NSError?")
    }
}
