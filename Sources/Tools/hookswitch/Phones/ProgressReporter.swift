import ArgumentParser
import Dispatch
import Foundation
import Primitives
import Synchronization

/// Tells a person how things go: a line for each step, and on a terminal one more below them that is written over.
///
/// Thread-safe. Writing waits for nobody's lane: it has a queue of its own.
final class ProgressReporter: Sendable {
    private let queue = DispatchQueue(label: "teller")
    private let file: FileHandle?
    let isTerminal: Bool
    /// The length of the line that is to be written over. Only on the queue.
    private let pending = Mutex(0)
    private let reader = Mutex(Reader())

    private struct Reader {
        var hasGone = false
        var onGone: (@Sendable () -> Void)?
    }

    /// - Parameter file: nil tells nothing.
    init(_ file: FileHandle?) {
        self.file = file
        isTerminal = file.map { isatty($0.fileDescriptor) == 1 } ?? false
    }

    func say(_ line: String) { queue.async { self.write(line, stays: true) } }

    /// Only on a terminal: a line that the next one takes the place of. What is wider than the terminal is cut: a wrapped line could not be
    /// taken back.
    func tick(_ line: String) {
        guard isTerminal else { return }
        queue.async { self.write(String(line.prefix(self.columns - 1)), stays: false) }
    }

    /// The width of the terminal, as it is now.
    private var columns: Int {
        var size = winsize()
        guard let file, ioctl(file.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Does it when nobody reads any more what is told, at once where that was before.
    func whenReaderGoes(_ action: @escaping @Sendable () -> Void) {
        let hasGone = reader.withLock { reader in
            reader.onGone = action
            return reader.hasGone
        }
        if hasGone { action() }
    }

    /// Notes that nothing more can be told.
    func readerHasGone() {
        let action = reader.withLock { reader in
            defer { reader.hasGone = true }
            return reader.hasGone ? nil : reader.onGone
        }
        action?()
    }

    /// Returns when all is written.
    func finish() {
        queue.sync { if pending.withLock({ $0 }) > 0 { write("", stays: false) } }
    }

    private func write(_ line: String, stays: Bool) {
        guard let file else { return }
        let old = pending.withLock { length in
            defer { length = stays ? 0 : line.count }
            return length
        }
        let erased = old > 0 ? "\r\u{1B}[K" : ""   // to the end of the line, however wide it was
        do { try StandardOutput.write(erased + line.sanitized + (stays ? "\n" : ""), to: file.fileDescriptor) } catch {
            if error as? ExitCode == StandardOutput.readerHasGone { readerHasGone() }
        }
    }
}
