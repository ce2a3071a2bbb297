// The place that text takes on a terminal.

extension Unicode.Scalar {
    /// Blocks whose characters are two columns wide (Unicode Standard Annex #11, W and F).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x1B000...0x1B2FF,
        0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]

    fileprivate var isWide: Bool { properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } }
}

extension Character {
    /// Columns of a terminal: 2 for wide characters, 0 for a mark that stands alone.
    var columns: Int {
        guard let first = unicodeScalars.first, !first.isASCII else { return 1 }
        if [.nonspacingMark, .enclosingMark].contains(first.properties.generalCategory) { return 0 }
        // U+FE0F makes an emoji of what is none by itself.
        return unicodeScalars.contains { $0.isWide || $0 == "\u{FE0F}" } ? 2 : 1
    }
}

extension StringProtocol {
    /// Columns that it takes; without colours.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// As much of it as so many columns hold; colours take none.
    func cut(to width: Int) -> String {
        var text = "", count = 0, isColour = false, hasColour = false
        for character in self {
            if character == "\u{1B}" { (isColour, hasColour) = (true, true) }
            if isColour {
                text.append(character)
                isColour = character != "m"
            } else if count + character.columns <= width {
                text.append(character)
                count += character.columns
            } else {
                return text + (hasColour ? "\u{1B}[0m" : "")
            }
        }
        return text
    }

    /// In so many columns: cut with an ellipsis, or filled up with blanks.
    func cell(_ width: Int, isRight: Bool = false) -> String {
        let shown = columns > width ? cut(to: width - 1) + "…" : String(self),
            blank = String(repeating: " ", count: Swift.max(0, width - shown.columns))
        return isRight ? blank + shown : shown + blank
    }
}
