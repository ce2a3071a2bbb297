/// The text that a person types behind `/`: lines without it are left out.
struct TypedFilter {
    private(set) var text = ""
    /// Keys are for the text, and not for the screen.
    private(set) var isTyping = false

    mutating func begin() { isTyping = true }
    mutating func clear() { text = "" }

    mutating func type(_ key: TerminalKey) {
        switch key {
        case .character(let character): text.append(character)
        case .erase: if text.popLast() == nil { isTyping = false }
        case .escape: (text, isTyping) = ("", false)
        case .enter: isTyping = false
        default: break
        }
    }
}
