import Foundation

/// The package's own text, for requirements that are about it.
enum Sources {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ path: String) throws -> String { try String(contentsOf: root.appending(path: "Sources/\(path)"), encoding: .utf8) }

    /// The modules that the files of a folder import.
    static func imports(of folder: String) throws -> Set<String> {
        let files =
            FileManager.default.enumerator(at: root.appending(path: "Sources/\(folder)"), includingPropertiesForKeys: nil)?.compactMap {
                $0 as? URL
            } ?? []
        var modules: Set<String> = []
        for file in files where file.pathExtension == "swift" {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            where line.contains("import ") && !line.hasPrefix("//") && !line.hasPrefix(" ") {
                modules.insert(String(line.split(separator: " ").last ?? "").components(separatedBy: ".")[0])
            }
        }
        return modules
    }
}
