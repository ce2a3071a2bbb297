import Foundation
import Synchronization
import Workbench

/// The files that calls are recorded into. Thread-safe; writing waits for the disk.
final class CallRecordings: Sendable {
    private let path: String
    private let files = Mutex<[UInt64: WAVFile]>([:])

    /// - Throws: exit code 3, when nothing can be written there.
    init(path: String) throws {
        self.path = path
        guard let complaint = WritablePlace.complaint(path) else { return }
        throw Failure.cannotRun(WAVFileError.cannotWrite(path, complaint).description)
    }

    /// The first call's file is the one that was asked for; further ones have their number before the extension.
    func path(of call: UInt64) -> String {
        guard call > 1 else { return path }
        let name = path as NSString
        return name.deletingPathExtension + "-\(call)" + (name.pathExtension.isEmpty ? "" : "." + name.pathExtension)
    }

    func append(_ samples: [Int16], sampleRate: Int, of call: UInt64) {
        files.withLock { files in
            if files[call] == nil { files[call] = try? WAVFile(path: path(of: call)) }
            files[call]?.append(samples, sampleRate: sampleRate)
        }
    }

    /// Closes a call's file. What went wrong, if something did; a call without sound has a file without samples.
    func finish(_ call: UInt64) -> WAVFileError? {
        files.withLock { files -> WAVFileError? in
            do throws(WAVFileError) {
                let file = if let begun = files.removeValue(forKey: call) { begun } else { try WAVFile(path: path(of: call)) }
                file.finish()
                return file.failure
            } catch { return error }
        }
    }
}
