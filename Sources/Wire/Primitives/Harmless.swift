extension Unicode.Scalar {
    /// A control character, or one that turns the direction of what follows: to a terminal a command, whoever wrote it.
    public var isCommand: Bool { [.control, .format].contains(properties.generalCategory) }
}

extension String {
    /// For a terminal: newlines stay, and every other command has a replacement character in its place.
    public var harmless: String {
        guard unicodeScalars.contains(where: { $0.isCommand && $0 != "\n" }) else { return self }
        var text = UnicodeScalarView()
        for scalar in unicodeScalars { text.append(scalar.isCommand && scalar != "\n" ? "\u{FFFD}" : scalar) }
        return String(text)
    }
}
