extension Unicode.Scalar {
    /// A control character, or one that turns the direction of what follows: to a terminal a command, whoever wrote it.
    public var isControlCharacter: Bool {
        // The Unicode tables are slow, and nearly all text is ASCII.
        isASCII ? value < 0x20 || value == 0x7F : [.control, .format].contains(properties.generalCategory)
    }
}

extension String {
    /// For a terminal: newlines stay, and every other command has a replacement character in its place.
    public var sanitized: String {
        guard unicodeScalars.contains(where: { $0.isControlCharacter && $0 != "\n" }) else { return self }
        var text = UnicodeScalarView()
        for scalar in unicodeScalars { text.append(scalar.isControlCharacter && scalar != "\n" ? "\u{FFFD}" : scalar) }
        return String(text)
    }
}
