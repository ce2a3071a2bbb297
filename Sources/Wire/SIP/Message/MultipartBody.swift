import Primitives

/// A body of several parts (RFC 2046 §5.1, RFC 5621), taken apart as far as a call needs it.
///
/// Everything in it is the peer's word: parts and the depth of parts within parts are bounded, and each byte is looked at once for each
/// depth.
struct MultipartBody {
    struct Part {
        let type: ContentType
        let disposition: ContentDisposition?
        /// Its bytes are as they are: not base64, nor anything else that would have to be decoded.
        let isPlain: Bool
        let content: Text
    }

    /// Types that are taken apart, as an Accept header lists them. A signed body, for one, is not.
    static let understood: [Text] = ["multipart/mixed", "multipart/alternative", "multipart/related"]
    static let mostParts = 32

    let parts: [Part]

    /// nil for what lacks its delimiters, or has more parts or header fields than anybody needs.
    init?(_ content: Text, boundary: Text) {
        guard !boundary.isEmpty, boundary.count <= 70 else { return nil }
        let delimiter = Text("--") + boundary
        var parts: [Part] = []
        var start: Int?
        var isClosed = false
        var line = content.bytes.startIndex
        while !isClosed, line < content.bytes.endIndex {
            let end = content.bytes[line...].firstIndex(of: 0x0A) ?? content.bytes.endIndex
            let rest = content.bytes[line..<end]
            if rest.starts(with: delimiter.bytes), let kind = Delimiter(Text(rest.dropFirst(delimiter.count))) {
                if let start {
                    let bytes = content.bytes[start..<Self.withoutLineEnd(line, from: start, in: content.bytes)]
                    guard parts.count < Self.mostParts, let part = Part(bytes) else { return nil }
                    parts.append(part)
                }
                start = min(end + 1, content.bytes.endIndex)
                isClosed = kind == .last
            }
            line = end + 1
        }
        guard isClosed else { return nil }
        self.parts = parts
    }

    /// The rest of the line behind the boundary; spaces are a gateway's doing (RFC 2046 §5.1.1).
    private enum Delimiter {
        case next, last

        init?(_ rest: Text) {
            if rest.trimmed.isEmpty { self = .next } else if rest.hasPrefix("--") { self = .last } else { return nil }
        }
    }

    /// The line end before a delimiter is the delimiter's.
    private static func withoutLineEnd(_ line: Int, from start: Int, in bytes: ArraySlice<UInt8>) -> Int {
        guard line - start >= 2, bytes[line - 2] == 0x0D else { return max(start, line - 1) }
        return line - 2
    }
}

extension MultipartBody.Part {
    private static let longestFolded = 512, mostFields = 16

    /// Its header fields to the first empty line, and what is behind that; nil where those are more than anybody needs.
    fileprivate init?(_ bytes: ArraySlice<UInt8>) {
        var (fields, line): ([(name: Text, value: Text)], Int) = ([], bytes.startIndex)
        while line < bytes.endIndex {
            let end = bytes[line...].firstIndex(of: 0x0A) ?? bytes.endIndex
            let text = Text(bytes[line..<end])
            line = min(end + 1, bytes.endIndex)
            if text.trimmed.isEmpty { break }
            if let first = text.bytes.first, first == 0x20 || first == 0x09 {
                // Each fold copies what was there: a long line of many would cost the square of it.
                guard let last = fields.last, last.value.count + text.count <= Self.longestFolded else { return nil }
                fields[fields.count - 1].value = last.value + Text(" ") + text.trimmed
            } else if let colon = text.bytes.firstIndex(of: 0x3A) {
                guard fields.count < Self.mostFields else { return nil }
                fields.append((Text(text.bytes[..<colon]).trimmed, Text(text.bytes[(colon + 1)...]).trimmed))
            }
        }
        let value = { (name: StaticString) in fields.first { $0.name.equalsIgnoringCase(name) }?.value }
        // RFC 2045 §5.2: what says nothing is text.
        type = ContentType(value("Content-Type") ?? "text/plain")
        disposition = value("Content-Disposition").map(ContentDisposition.init)
        isPlain = value("Content-Transfer-Encoding").map { encoding in ["binary", "8bit", "7bit"].contains(encoding.lowercased) } ?? true
        content = Text(bytes[line...])
    }
}

/// The value of a Content-Type.
struct ContentType {
    /// `type/subtype` in lower case.
    let name: Text
    private let parameters: Parameters?

    init(_ value: Text) {
        let type = value.bytes.prefix { $0 != 0x3B }
        name = Text(type.filter { $0 != 0x20 && $0 != 0x09 }).lowercased
        parameters = try? Parameters(parsing: Text(value.bytes[type.endIndex...]))
    }

    var boundary: Text? { parameters?.value(of: "boundary") }
}

/// The value of a Content-Disposition (RFC 3261 §20.11).
struct ContentDisposition {
    /// In lower case.
    let name: Text
    /// `handling`, in lower case; nil where nothing is said.
    let handling: Text?

    init(_ value: Text) {
        let type = value.bytes.prefix { $0 != 0x3B }
        name = Text(type).trimmed.lowercased
        handling = (try? Parameters(parsing: Text(value.bytes[type.endIndex...])))?.value(of: "handling")?.lowercased
    }
}
