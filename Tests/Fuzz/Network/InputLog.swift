import Foundation
import Primitives

/// The last inputs, for when something breaks.
final class InputLog {
    struct Entry {
        var surface: Surface, number: Int
        var destination: String
        var bytes: [UInt8]
    }

    private static let kept = 200
    private var entries: [Entry] = []
    /// The input that is being made.
    var surface = Surface.udp, number = 0

    /// Called before the bytes are sent; more than once for an input of several datagrams.
    func note(_ bytes: [UInt8], to remote: SocketAddress, over transport: String = "UDP") {
        if entries.count >= 2 * Self.kept { entries.removeFirst(Self.kept) }
        entries.append(Entry(surface: surface, number: number, destination: "\(transport) \(remote)", bytes: bytes))
    }

    /// The last so many, the youngest last.
    func text(last count: Int, bytes limit: Int) -> String {
        let texts = entries.suffix(count).map { entry in
            let head = "\(entry.surface.rawValue) \(entry.number), \(entry.bytes.count) bytes to \(entry.destination)"
            return "\(head)\n\(Self.hexadecimal(entry.bytes, atMost: limit))"
        }
        return texts.joined(separator: "\n")
    }

    /// Sixteen bytes a line, with what they spell.
    static func hexadecimal(_ bytes: [UInt8], atMost limit: Int = 1_024) -> String {
        let rows = stride(from: 0, to: min(bytes.count, limit), by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let digits = row.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined(separator: " ")
            let letters = row.map { 0x20...0x7E ~= $0 ? Character(UnicodeScalar($0)) : "." }
            let offset = String(start + 0x10000, radix: 16).dropFirst()
            return "  \(offset)  \(digits.padding(toLength: 48, withPad: " ", startingAt: 0)) \(String(letters))"
        }
        return rows.joined(separator: "\n") + (bytes.count > limit ? "\n  … \(bytes.count - limit) more" : "")
    }

    /// Keeps all of them in a file of that folder.
    /// - Returns: its path.
    func keep(in folder: String, seed: UInt64, saying what: String) -> String? {
        let path = "\(folder)/seed-\(seed)-\(surface.rawValue)-\(number).txt"
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try "\(what)\n\n\(text(last: Self.kept, bytes: 65_536))\n".write(toFile: path, atomically: true, encoding: .utf8)
            return path
        } catch { return nil }
    }
}
