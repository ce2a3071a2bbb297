import Dispatch
import Foundation
import Runtime
import Synchronization

/// A terminal that a screen has for itself: keys come one by one and are not echoed, until it is given back as it was.
struct ScreenTerminal {
    /// The descriptor that keys come from; nil where no terminal is at hand.
    private let keys: Int32?
    private var before = termios()
    private var drawn: [String] = []

    /// Takes the terminal that standard output is.
    init() throws {
        let input = isatty(STDIN_FILENO) == 1 ? STDIN_FILENO : open("/dev/tty", O_RDONLY | O_CLOEXEC)
        keys = input >= 0 && tcgetattr(input, &before) == 0 ? input : nil
        if let keys {
            var raw = before
            raw.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
            raw.c_iflag &= ~tcflag_t(IXON)
            tcsetattr(keys, TCSADRAIN, &raw)
        }
        // The other screen, and no cursor.
        try StandardOutput.write("\u{1B}[?1049h\u{1B}[?25l", to: STDOUT_FILENO)
    }

    /// Gives the terminal back, with what was on it before.
    func giveBack() {
        try? StandardOutput.write("\u{1B}[?25h\u{1B}[?1049l", to: STDOUT_FILENO)
        var before = before
        if let keys { tcsetattr(keys, TCSADRAIN, &before) }
    }

    mutating func draw(_ lines: [String]) throws {
        guard lines != drawn else { return }
        drawn = lines
        try StandardOutput.write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J", to: STDOUT_FILENO)
    }

    /// The bytes of the keys that were pressed, after a fifth of a second at most.
    func read() -> [UInt8] {
        var input = pollfd(fd: keys ?? -1, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 200) > 0, input.revents & Int16(POLLIN) != 0, let keys else { return [] }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = Foundation.read(keys, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }
}

/// A screen that is drawn from its state: keys go in, lines come out.
protocol TerminalScreen {
    var size: TraceScreen.Size { get set }
    /// The person has seen enough.
    var isOver: Bool { get }
    /// One for each row, none wider than the screen.
    var lines: [String] { get }
    mutating func press(_ key: TerminalKey)
}

extension ScreenTerminal {
    /// Shows a screen until it is over, and no longer than until SIGINT, SIGTERM or SIGHUP. The terminal is given back, however it ends.
    ///
    /// - Parameter update: called five times a second at least, before it is drawn anew.
    static func show<Screen: TerminalScreen>(_ screen: inout Screen, update: (inout Screen) throws -> Void) throws {
        var reader = TerminalKeyReader()
        let isAsked = Mutex(false)
        let trap = SignalTrap(on: DispatchQueue(label: "screen")) { _ in isAsked.withLock { $0 = true } }
        defer { withExtendedLifetime(trap) {} }
        var terminal = try ScreenTerminal()
        defer { terminal.giveBack() }
        while !screen.isOver, !isAsked.withLock(\.self) {
            screen.size = Terminal.size
            try terminal.draw(screen.lines)
            for key in reader.feed(terminal.read()) { screen.press(key) }
            try update(&screen)
        }
    }
}
