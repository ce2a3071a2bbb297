import Primitives
import Testing

@Suite struct SanitizedTests {
    @Test(arguments: [
        ("plain\nlines, é 漢 🙂", "plain\nlines, é 漢 🙂"), ("", ""),
        // A terminal obeys ESC, and CR overwrites a line.
        ("\u{1B}[2Ja", "\u{FFFD}[2Ja"), ("a\rb", "a\u{FFFD}b"), ("a\r\nb", "a\u{FFFD}\nb"),
        ("\u{0}\u{7}\u{7F}", "\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("\ta", "\u{FFFD}a"), ("\u{9B}31m", "\u{FFFD}31m"),
        // Turns the direction of what follows, or is not seen.
        ("\u{202E}cod", "\u{FFFD}cod"), ("a\u{200B}b", "a\u{FFFD}b"), ("\u{FEFF}", "\u{FFFD}"), ("a\u{2066}b", "a\u{FFFD}b"),
    ])
    func `a stranger's text commands no terminal`(text: String, sanitized: String) {
        #expect(text.sanitized == sanitized)
        #expect(text.sanitized.sanitized == sanitized)
    }

    @Test func `every control character of ASCII is a command`() {
        for value in 0..<128 as Range<UInt8> { #expect(Unicode.Scalar(value).isControlCharacter == (value < 0x20 || value == 0x7F)) }
    }
}
