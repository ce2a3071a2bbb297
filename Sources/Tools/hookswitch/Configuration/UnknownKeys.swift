import Console
import Yams

extension Node.Mapping {
    /// A key that is mistyped says more than that another one is missing: ask first.
    ///
    /// - Throws: the first that is none of these, with the nearest valid one.
    func refuseUnknown(among keys: [String], at place: (_ key: Node) -> String) throws(ConfigurationError) {
        for (key, _) in self where !keys.contains(key.string ?? "") {
            throw ConfigurationError(
                place: place(key), message: "unknown setting\(SpellingSuggestion.hint(for: key.string ?? "", among: keys))")
        }
    }

    /// One stands here and another in a file.
    var hasTwoPasswords: Bool { self[Node("password")] != nil && self[Node("password-file")] != nil }
}
