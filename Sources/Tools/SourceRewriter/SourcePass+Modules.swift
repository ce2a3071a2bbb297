// Modules whose names other packages look for, and which are called otherwise here.

extension SourcePass {
    private static let moduleNames = [
        "Combine": "HookswitchCombine", "Network": "HookswitchNetwork", "os": "HookswitchOS", "OSLog": "HookswitchOS",
        "SwiftUI": "HookswitchSwiftUI", "ObjectiveC": "HookswitchObjectiveC", "Darwin": "Glibc",
    ]

    /// The name here; a part of a module (`os.log`) is the whole.
    mutating func rewriteImport(at index: Int) {
        let kinds: Set = ["class", "struct", "enum", "protocol", "func", "var", "let", "typealias"]
        let isOfOne = kinds.contains(self[index + 1])
        let start = isOfOne ? index + 2 : index + 1
        guard isWord(start), !startsLine(start) else { return }
        let name = self[start], here = Self.moduleNames[name]
        if here != nil, name != "OSLog" { imports.insert(name) }
        var end = start + 1
        while !isOfOne, self[end] == ".", isWord(end + 1), !startsLine(end) { end += 2 }
        if here != nil || end > start + 1 { replace(start..<end, with: here ?? name) }
    }

    /// `Combine.Publisher`, where the module is imported.
    mutating func rewriteQualifiedName(at index: Int) {
        guard self[index + 1] == ".", self[index - 1] != ".", self[index - 1] != "import", let here = Self.moduleNames[self[index]] else {
            return
        }
        replace(index..<index + 1, with: here)
    }

    /// Sources for iOS are built as they are for iOS.
    mutating func rewriteCondition(at index: Int) {
        var next = index + 1
        while !startsLine(next) {
            if self[next - 1] == "(", self[next - 2] == "os", self[next] == "iOS" { replace(next..<next + 1, with: "Linux") }
            if self[next - 1] == "(", self[next - 2] == "canImport", let here = Self.moduleNames[self[next]] {
                replace(next..<next + 1, with: here)
            }
            next += 1
        }
    }
}
