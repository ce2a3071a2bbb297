import Foundation
import Primitives
import Runtime

/// How far a run is, in one line that is written over, on a terminal alone.
final class Progress {
    private let total: Int?
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let began = MonotonicClock.now
    private var toldAt = Instant.zero

    /// - Parameter total: inputs of the whole run; nil: as many as there is time for.
    init(total: Int?) { self.total = total }

    func note(_ surface: Surface, done: Int) {
        let now = MonotonicClock.now
        guard isTerminal, now - toldAt > .milliseconds(500) else { return }
        toldAt = now
        let seconds = max((now - began) / .seconds(1), 0.001)
        let share = total.map { " of \($0)" } ?? ""
        say("\(done)\(share) inputs, \(Int(Double(done) / seconds)) a second, \(Int(seconds)) s: \(surface.rawValue)")
    }

    func say(_ text: String) { if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8)) } }

    deinit { if isTerminal { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) } }
}
