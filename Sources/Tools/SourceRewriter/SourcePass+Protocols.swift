// Protocols of Objective-C: of classes alone, and with members that an object may lack.

extension SourcePass {
    /// A member that is `optional`: the tokens of its declaration, from `func` or `var` on.
    private struct OptionalMember {
        let keyword: Int
        let declaration: Range<Int>
        /// The type of the value that a call or a read of it gives.
        let type: String
    }

    /// The names of members that objects may lack, in the protocols of the source.
    func optionalMembers() -> [String] {
        tokens.indices.filter { self[$0] == "protocol" }.flatMap { index in
            members(ofProtocolAt: index).map { self[$0.declaration.lowerBound + 1] }
        }
    }

    /// Makes the protocol one of classes, and gives a default to each member that an object may lack.
    mutating func rewriteProtocol(at index: Int) {
        guard attributes(before: index).contains("@objc"), let name = typeName(after: index), let open = body(ofProtocolAt: index),
            let close = closing(open)
        else { return }
        let header = (index + 2..<open).map { self[$0] }
        if !header.contains("AnyObject"), !header.contains("class") {
            insert(header.first == ":" ? " AnyObject," : ": AnyObject", after: header.first == ":" ? index + 2 : index + 1)
        }
        let members = members(ofProtocolAt: index)
        guard !members.isEmpty else { return }
        for member in members { blank(member.keyword..<member.keyword + 1) }
        let access = attributes(before: index).contains("public") ? "public " : ""
        insert("; \(access)extension \(name) { \(members.map(defaultOf).joined(separator: "; ")) }", after: close)
    }

    /// Attributes and modifiers of a declaration.
    private func attributes(before index: Int) -> [String] {
        var found: [String] = [], next = index - 1
        while next >= 0 {
            if self[next] == ")" {
                while next >= 0, self[next] != "(" { next -= 1 }
            } else if isWord(next),
                self[next].hasPrefix("@") || ["public", "private", "fileprivate", "internal", "package"].contains(self[next])
            {
                found.append(self[next])
            } else {
                break
            }
            next -= 1
        }
        return found
    }

    private func body(ofProtocolAt index: Int) -> Int? {
        var next = index + 1
        while tokens.indices.contains(next), self[next] != "{" {
            guard self[next] != "}" else { return nil }
            next += 1
        }
        return tokens.indices.contains(next) ? next : nil
    }

    private func members(ofProtocolAt index: Int) -> [OptionalMember] {
        guard attributes(before: index).contains("@objc"), let open = body(ofProtocolAt: index), let close = closing(open) else {
            return []
        }
        return (open..<close).filter { self[$0] == "optional" }.compactMap { member(at: $0, before: close) }
    }

    private func member(at keyword: Int, before close: Int) -> OptionalMember? {
        guard let start = (keyword + 1..<close).first(where: { self[$0] == "func" || self[$0] == "var" }), isWord(start + 1) else {
            return nil
        }
        return self[start] == "func" ? method(keyword, start, before: close) : property(keyword, start, before: close)
    }

    private func property(_ keyword: Int, _ start: Int, before close: Int) -> OptionalMember? {
        guard let open = (start..<close).first(where: { self[$0] == "{" }), open > start + 3, let end = closing(open) else { return nil }
        return OptionalMember(keyword: keyword, declaration: start..<end + 1, type: line(start + 3..<open))
    }

    private func method(_ keyword: Int, _ start: Int, before close: Int) -> OptionalMember? {
        guard let open = (start..<close).first(where: { self[$0] == "(" }), var end = closing(open).map({ $0 + 1 }) else { return nil }
        while ["async", "throws", "rethrows"].contains(self[end]) { end += 1 }
        guard self[end] == "-", self[end + 1] == ">" else { return OptionalMember(keyword: keyword, declaration: start..<end, type: "") }
        let type = end + 2
        end = endOfType(from: type, before: close)
        return OptionalMember(keyword: keyword, declaration: start..<end, type: line(type..<end))
    }

    /// A type ends with its line, unless a bracket of it is open.
    private func endOfType(from start: Int, before close: Int) -> Int {
        var end = start, depth = 0
        while end < close {
            if end > start, depth == 0, startsLine(end) || self[end] == ";" { break }
            switch self[end] {
            case "(", "[", "<": depth += 1
            case ")", "]": depth -= 1
            case ">" where self[end - 1] != "-": depth -= 1
            default: break
            }
            end += 1
        }
        return end
    }

    private func defaultOf(_ member: OptionalMember) -> String {
        let value = Self.defaultValue(of: member.type)
        guard self[member.declaration.lowerBound] == "var" else { return "\(line(member.declaration)) { \(value) }" }
        let start = member.declaration.lowerBound, accessors = line(member.declaration).contains("set }") ? " set { }" : ""
        return "var \(self[start + 1]): \(member.type) { get { \(value) }\(accessors) }"
    }

    /// Nothing for Void, else the type's nil, false, zero or empty value; a type that has none of them ends the process.
    private static func defaultValue(of type: String) -> String {
        let numbers: Set = ["Int", "UInt", "Int32", "UInt32", "Int64", "UInt64", "Double", "Float", "CGFloat", "TimeInterval", "NSInteger"]
        switch type {
        case "", "Void", "()": return ""
        case "Bool": return "false"
        case "String": return "\"\""
        case _ where type.hasSuffix("?") || type.hasSuffix("!"): return "nil"
        case _ where numbers.contains(type): return "0"
        case _ where type.hasPrefix("[") && type.hasSuffix("]"): return type.contains(":") ? "[:]" : "[]"
        default: return "fatalError(\"an optional member that this object does not have\")"
        }
    }
}
