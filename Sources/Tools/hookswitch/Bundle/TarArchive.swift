import Foundation

/// An archive of plain files in the form of POSIX.1-1988 (ustar), as `tar` reads it. A value: bytes in, bytes out.
struct TarArchive: Equatable {
    /// A plain file.
    struct File: Equatable {
        /// Letters, digits, `.`, `-` and `_`; 100 bytes at most.
        var name: String
        var content: Data
    }

    /// Why bytes are no archive of ours.
    enum ParseError: Error, Equatable {
        case truncated, brokenHeader
        /// A folder, a link, or a name that leads somewhere else.
        case foreignEntry(String)
        case tooManyFiles
    }

    /// The most files; ours has fewer.
    static let mostFiles = 64
    private static let block = 512

    var files: [File] = []

    // MARK: Writing

    /// - Parameter time: of all files, in seconds since 1970.
    func bytes(time: Int) -> Data {
        var data = Data()
        for file in files {
            data += Self.header(file, time)
            data += file.content
            data += Data(count: Self.padding(file.content.count))
        }
        return data + Data(count: 2 * Self.block)
    }

    private static func padding(_ size: Int) -> Int { (block - size % block) % block }

    private static func header(_ file: File, _ time: Int) -> [UInt8] {
        var header = [UInt8](repeating: 0, count: block)
        func put(_ text: String, at place: Int) { header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8) }
        func octal(_ value: Int, _ digits: Int) -> String {
            let text = String(value, radix: 8)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        precondition(isName(file.name) && file.content.count < 1 << 33, "the name and the size fit into the header")
        put(file.name, at: 0)
        put(octal(0o644, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(file.content.count, 11), at: 124)
        put(octal(max(0, time), 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\0 ", at: 148)
        return header
    }

    // MARK: Reading

    /// Reads an archive of plain files; nothing is written anywhere.
    init(parsing data: Data) throws(ParseError) {
        var rest = data[...]
        while true {
            guard rest.count >= Self.block else { throw .truncated }
            let header = Array(rest.prefix(Self.block))
            rest = rest.dropFirst(Self.block)
            if header.allSatisfy({ $0 == 0 }) { return }
            let (name, size) = try Self.entry(header)
            guard rest.count >= size + Self.padding(size) else { throw .truncated }
            guard files.count < Self.mostFiles else { throw .tooManyFiles }
            files.append(File(name: name, content: Data(rest.prefix(size))))
            rest = rest.dropFirst(size + Self.padding(size))
        }
    }

    init(files: [File] = []) { self.files = files }

    private static func entry(_ header: [UInt8]) throws(ParseError) -> (name: String, size: Int) {
        func text(_ place: Range<Int>) -> String { String(decoding: header[place].prefix { $0 != 0 && $0 != 0x20 }, as: UTF8.self) }
        var blank = header
        blank.replaceSubrange(148..<156, with: repeatElement(0x20, count: 8))
        guard let sum = Int(text(148..<156), radix: 8), sum == blank.reduce(0, { $0 + Int($1) }), text(257..<262) == "ustar",
            let size = Int(text(124..<136), radix: 8), size >= 0
        else { throw .brokenHeader }
        let name = text(0..<100), kind = header[156], prefix = text(345..<500)
        guard kind == 0x30 || kind == 0, prefix.isEmpty, isName(name) else { throw .foreignEntry(name) }
        return (name, size)
    }

    private static func isName(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count) && !name.hasPrefix(".")
            && name.utf8.allSatisfy {
                $0 == 0x2D || $0 == 0x2E || $0 == 0x5F || ($0 < 0x80 && Character(UnicodeScalar($0)).isLetter) || (0x30...0x39).contains($0)
            }
    }
}
