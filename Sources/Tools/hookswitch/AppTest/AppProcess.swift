import Calls
import Foundation
import Primitives
import Runtime
import Synchronization

/// The process of an app under test, and the connection to it. What it prints goes to our standard error.
final class AppProcess: Sendable {
    private let process: Process
    private let listener: LineSocketListener
    private let socket = Mutex<LineSocket?>(nil)
    private let folder: String

    /// Starts the app. What comes of it is in `watch`.
    ///
    /// - Throws: exit code 3 where it cannot be started.
    init(_ words: [String], _ setUp: AppLink.Order, _ watch: AppWatch) throws {
        folder = try Self.makeFolder()
        let path = folder + "/app"
        do throws(SocketError) { listener = try LineSocketListener(path: path) } catch { throw Failure.cannotRun(error.description) }
        process = Process()
        process.executableURL = try Self.find(words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.merging([AppLink.variable: path]) { $1 }
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.standardError)
        process.terminationHandler = { process in
            let isSignal = process.terminationReason == .uncaughtSignal, status = process.terminationStatus
            watch.change { $0.end = isSignal ? "by signal \(status)" : "with exit code \(status)" }
        }
        accept(setUp, watch)
        do { try process.run() } catch { throw Failure.cannotRun("\(words[0]) cannot be started: \(error.localizedDescription)") }
    }

    private static func makeFolder() throws -> String {
        var path = Array((NSTemporaryDirectory() + "/hookswitch-app-XXXXXX").utf8CString)
        guard mkdtemp(&path) != nil else {
            throw Failure.cannotRun("no folder in \(NSTemporaryDirectory()): \(String(cString: strerror(errno)))")
        }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// A path, or the name of a product that was built here, or a program of the PATH.
    static func find(_ word: String) throws -> URL {
        let search = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        let places = word.contains("/") ? [word] : ([".build/debug", ".build/release"] + search).map { "\($0)/\(word)" }
        guard let path = places.first(where: FileManager.default.isExecutableFile) else {
            throw Failure.usage(
                "there is no program \(word)" + (word.contains("/") ? "" : " in .build/debug, in .build/release or on the PATH"))
        }
        return URL(filePath: path)
    }

    private func accept(_ setUp: AppLink.Order, _ watch: AppWatch) {
        Thread.detachNewThread { [listener, self] in
            guard let socket = listener.accept() else { return }
            self.socket.withLock { $0 = socket }
            socket.write(AppLink.line(setUp))
            watch.change { $0.isConnected = true }
            socket.read(watch.read)
            watch.change { $0.isRead = true }
        }
    }

    func send(_ order: AppLink.Order) { _ = socket.withLock { $0 }?.write(AppLink.line(order)) }

    /// Ends the process where it has not ended by itself.
    func close(_ watch: AppWatch) {
        if watch.wait(.seconds(5), until: { $0.end }) == nil { process.terminate() }
        if watch.wait(.seconds(2), until: { $0.end }) == nil { kill(process.processIdentifier, SIGKILL) }
        listener.close()
        socket.withLock { $0 }?.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
