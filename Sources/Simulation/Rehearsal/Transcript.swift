import Gateway
import Synchronization

/// Keeps a journal in memory.
final class Transcript: JournalSink {
    private let stored = Mutex<[UInt8]>([])

    func accept(_ lines: [UInt8]) { stored.withLock { $0 += lines } }

    var bytes: [UInt8] { stored.withLock { $0 } }
}
