import Foundation

extension JournalReader {
    /// Reads a whole file. Throws when it cannot be read; broken lines are in the result.
    public static func read(path: String) throws(JournalFileError) -> Result {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw JournalFileError(operation: "read", path: path, code: access(path, R_OK) == 0 ? EIO : errno)
        }
        return parse(Array(data), name: path)
    }
}
