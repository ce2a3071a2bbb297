import CallJournal
import Foundation
import Primitives

/// The progress of a webhook in the journal. It stands in a file of the data folder, so that a restart goes on from it.
struct WebhookPosition: Codable, Equatable {
    /// An event of the journal that was read and is not taken yet.
    struct Pending: Codable, Equatable {
        var id: String
        /// When it happened: nanoseconds since 1970.
        var wall: UInt64
        /// The event before it in this webhook's stream.
        var prev: String?
        /// When it is given up: seconds since 1970.
        var end: Int64
        /// The event itself, where it is not the journal's: it tells of a gap.
        var json: String?
    }

    /// The last event of the journal that was read; what comes behind it is new.
    var after: String
    /// When that one happened: nanoseconds since 1970.
    var wall: UInt64
    /// When the first event happened that must be read again to go on: of a call that is up, or one that is not taken.
    var from: UInt64
    /// The file by its inode and the offset where that may be read from; nil: from the oldest file on.
    var file: UInt64?, offset: Int?
    /// The last event of this webhook's stream up to there.
    var prev: String?
    var pending: [Pending] = []
}

/// The files of positions: one for each webhook.
struct WebhookPositionFile {
    let path: String

    init(folder: String, name: String) { path = "\(folder)/\(name).json" }

    var isThere: Bool { access(path, F_OK) == 0 }

    /// nil: there is none, or it cannot be read.
    func read() -> WebhookPosition? {
        (try? Data(contentsOf: URL(filePath: path))).flatMap { try? JSONDecoder().decode(WebhookPosition.self, from: $0) }
    }

    /// All of it or nothing, also where the machine dies meanwhile.
    func write(_ position: WebhookPosition) throws(JournalFileError) {
        guard let data = try? JSONEncoder().encode(position) else { preconditionFailure("a position can be encoded") }
        let temporary = path + ".new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error("open", temporary) }
        defer { close(descriptor) }
        guard data.withUnsafeBytes({ Foundation.write(descriptor, $0.baseAddress, $0.count) }) == data.count else {
            throw Self.error("write", temporary)
        }
        guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw Self.error("write", path) }
    }

    private static func error(_ operation: String, _ path: String) -> JournalFileError {
        JournalFileError(operation: operation, path: path, code: errno)
    }

    /// Forgets webhooks that the configuration has no more: under the same name another one begins anew.
    static func removeAll(in folder: String, but names: some Collection<String>) {
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where file.hasSuffix(".json") {
            guard !names.contains(String(file.dropLast(5))) else { continue }
            unlink("\(folder)/\(file)")
        }
    }
}
