import Foundation

/// The messages and datagrams of Tests/Corpus.
struct Corpus {
    let messages: [[UInt8]], rtp: [[UInt8]], rtcp: [[UInt8]], stun: [[UInt8]]

    init(folder: String) throws {
        func files(_ names: [String]) throws -> [[UInt8]] {
            let paths = try names.flatMap { name in
                try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted().map { "\(folder)/\(name)/\($0)" }
            }
            return try paths.map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
        }
        do {
            messages = try files(["rfc4475", "rfc5118", "multipart"])
            (rtp, rtcp, stun) = (try files(["rtp"]), try files(["rtcp"]), try files(["stun"]))
        } catch { throw CannotRun("the corpus in \(folder) cannot be read: \(error.localizedDescription)") }
        guard [messages, rtp, rtcp, stun].allSatisfy({ !$0.isEmpty }) else { throw CannotRun("the corpus in \(folder) is not whole") }
    }
}
