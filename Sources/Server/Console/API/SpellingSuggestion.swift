/// The valid name that is nearest to a mistyped one.
package enum SpellingSuggestion {
    /// ` (did you mean 'x'?)`, or nothing where no name is near.
    ///
    /// - Parameter most: mistakes that a near name may have; nil: half of its letters.
    package static func hint(for name: String, among names: some Sequence<String>, within most: Int? = nil) -> String {
        self.name(for: name, among: names, within: most).map { " (did you mean '\($0)'?)" } ?? ""
    }

    /// Nil where no name is near.
    package static func name(for name: String, among names: some Sequence<String>, within most: Int? = nil) -> String? {
        let ranked = names.map { (name: $0, distance: distance(name, $0)) }.min { $0.distance < $1.distance }
        guard let ranked, ranked.distance <= max(2, most ?? name.count / 2) else { return nil }
        return ranked.name
    }

    /// Levenshtein's distance, where two neighbours that have changed places count as one mistake.
    static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().utf8.prefix(64)), right = Array(right.lowercased().utf8.prefix(64))
        var rows = [Array(0...right.count)]
        for (i, byte) in left.enumerated() {
            var row = [i + 1]
            for (j, other) in right.enumerated() {
                var least = min(rows[i][j] + (byte == other ? 0 : 1), row[j] + 1, rows[i][j + 1] + 1)
                if i > 0, j > 0, byte == right[j - 1], other == left[i - 1] { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
