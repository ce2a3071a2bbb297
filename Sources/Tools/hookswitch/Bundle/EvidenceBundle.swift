import Foundation
import Gateway
import Runtime
import Workbench

/// The evidence of a run in one file, so that somebody else derives the verdict anew: `hookswitch verify`.
struct EvidenceBundle {
    /// The list of the files, with their digests.
    struct Manifest: Codable {
        struct Entry: Codable, Equatable {
            var name: String
            var bytes: Int
            /// 64 hexadecimal digits.
            var sha256: String
        }

        /// Another number means that a field has another meaning, or is gone.
        static let schema = "hookswitch.bundle/1"

        var schema = Self.schema
        /// The version of the tool that made it.
        var version: String
        /// RFC 3339, UTC.
        var made: String
        var files: [Entry]
    }

    static let manifestName = "manifest.json", reportName = "report.json", journalName = "journal.jsonl", witnessName = "witness.json",
        callsName = "calls.jsonl"
    /// The longest journal that it takes, in bytes.
    static let longestJournal = 256 << 20

    private(set) var archive = TarArchive()

    init() {}

    mutating func add(_ name: String, _ content: Data) { archive.files.append(TarArchive.File(name: name, content: content)) }

    /// Adds the report with the verdict.
    mutating func add(_ report: LoadReport) throws { add(Self.reportName, Data(try LoadOutputs.json(report).utf8)) }

    /// Adds files of a journal as one, each up to its last whole line.
    ///
    /// - Throws: exit code 3.
    mutating func add(journal paths: [String]) throws {
        var content = Data()
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else { throw Failure.cannotRun("\(path): cannot be read") }
            guard content.count + data.count <= Self.longestJournal else {
                throw Failure.cannotRun(
                    "--bundle: the journal has more than \(Self.longestJournal >> 20) MB: let the gateway begin a new one")
            }
            content += data.lastIndex(of: 0x0A).map { data[...$0] } ?? Data()
        }
        add(Self.journalName, content)
    }

    /// Adds what the kernel's sockets were held to.
    mutating func add(_ outcome: WitnessWatch.Outcome) throws {
        let lines = try outcome.findings.map { try jsonLine($0) } + [try jsonLine(outcome.report)]
        add(Self.witnessName, Data(lines.joined().utf8))
    }

    /// The whole file.
    ///
    /// - Parameter now: the time of its making.
    func bytes(at now: Date) throws -> Data {
        let entries = archive.files.map { Manifest.Entry(name: $0.name, bytes: $0.content.count, sha256: Self.digest($0.content)) }
        let manifest = Manifest(version: Hookswitch.version, made: now.formatted(.iso8601), files: entries), encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let first = TarArchive.File(name: Self.manifestName, content: try encoder.encode(manifest) + Data("\n".utf8))
        return TarArchive(files: [first] + archive.files).bytes(time: Int(now.timeIntervalSince1970))
    }

    static func digest(_ content: Data) -> String {
        String(decoding: OpenSSLDigest.lowercaseHexadecimal(OpenSSLDigest.sha256(Array(content))), as: UTF8.self)
    }
}
