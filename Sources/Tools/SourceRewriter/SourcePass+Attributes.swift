// Attributes and modifiers that need Objective-C.

extension SourcePass {
    mutating func rewriteAttribute(at index: Int, keepsEntryPoint: Bool) {
        switch self[index] {
        case "@objc": blank(index..<(endOfArguments(after: index) ?? index + 1))
        case "@objcMembers", "@nonobjc", "@IBAction", "@IBSegueAction", "@IBInspectable", "@IBDesignable", "@GKInspectable", "@NSCopying":
            blank(index..<index + 1)
        case "@IBOutlet": rewriteOutlet(at: index)
        case "@UIApplicationMain", "@NSApplicationMain", "@main":
            replace(index..<index + 1, with: keepsEntryPoint ? "@main" : "")
        default: break
        }
    }

    private func endOfArguments(after index: Int) -> Int? {
        guard self[index + 1] == "(", !startsLine(index + 1) else { return nil }
        return closing(index + 1).map { $0 + 1 }
    }

    /// An outlet becomes a wrapped property, which cannot be weak: there is no view that would hold it.
    private mutating func rewriteOutlet(at index: Int) {
        replace(index..<index + 1, with: "@HookswitchOutlet")
        var next = index + 1
        while tokens.indices.contains(next), self[next] != "var", self[next] != "{" {
            if self[next] == "weak" || self[next] == "unowned" { blank(next..<(endOfArguments(after: next) ?? next + 1)) }
            next += 1
        }
    }

    /// The delegate of an app or a scene is made when the program runs: for that it is a `UIResponder` here.
    mutating func rewriteDelegateClass(at index: Int) {
        guard isWord(index + 1), self[index + 2] == ":", self[index + 3] == "NSObject" else { return }
        let delegates: Set = ["UIApplicationDelegate", "UISceneDelegate", "UIWindowSceneDelegate"]
        var next = index + 4
        while tokens.indices.contains(next), self[next] != "{" {
            if delegates.contains(self[next]) { return replace(index + 3..<index + 4, with: "UIResponder") }
            next += 1
        }
    }

    /// The word is a name too: it is a modifier where another or a declaration follows.
    mutating func rewriteDynamic(at index: Int) {
        let followers: Set = [
            "var", "let", "func", "init", "class", "static", "public", "private", "internal", "fileprivate", "open", "final", "override",
            "lazy", "weak", "subscript", "required", "convenience",
        ]
        if self[index - 1] != ".", followers.contains(self[index + 1]) { blank(index..<index + 1) }
    }
}
