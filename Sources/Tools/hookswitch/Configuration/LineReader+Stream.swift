import Audio
import Foundation
import Gateway
import Primitives
import Streaming
import Yams

/// The keys of a line that streams to a program, as they are read.
struct StreamKeys {
    var place: StreamSettings.Place?
    var isRaw: Bool?
    var encoding: StreamEncoding?
    var headers: [StreamHeader] = []
    var fallback: StreamSettings.Fallback?

    var isEmpty: Bool { place == nil && isRaw == nil && encoding == nil && headers.isEmpty && fallback == nil }
}

/// Settings of a line that streams to a program.
extension LineReader {
    mutating func readStream(_ name: String, _ value: SettingValue, _ node: Node) throws {
        switch name {
        case "url": stream.place = try value.webSocketPlace
        case "format": stream.isRaw = try value.oneOf(["twilio", "raw"]) == "raw"
        case "encoding": stream.encoding = StreamEncoding.choices[try value.oneOf(StreamEncoding.choices.keys.sorted())]
        case "headers": try entries(node, value) { name, item, _ in try addHeader(name, try item.text, item) }
        case "header-files": try entries(node, value) { name, item, _ in try addHeader(name, try item.secret, item) }
        default: stream.fallback = try fallback(node, value)
        }
    }

    /// Fields that the handshake itself writes.
    private static let ours: Set<String> = ["host", "connection", "upgrade", "user-agent", "content-length", "transfer-encoding"]

    /// The value is in no error: it may be secret.
    private mutating func addHeader(_ name: String, _ text: String, _ value: SettingValue) throws {
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
            }
        let isOurs = Self.ours.contains(name.lowercased()) || name.lowercased().hasPrefix("sec-websocket-")
        guard isName, !isOurs else { throw value.fail("'\(name)' is no field that can be set in the request of a WebSocket") }
        guard !text.isEmpty, text.utf8.count <= 4_096, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw value.fail("takes one line of at most 4096 bytes")
        }
        guard stream.headers.count < 32 else { throw value.fail("there are more than 32 fields") }
        stream.headers.append(StreamHeader(name, text))
    }

    private mutating func fallback(_ node: Node, _ value: SettingValue) throws -> StreamSettings.Fallback {
        let usage = "takes 'hang-up', or { announcement: file } or { transfer: number }"
        guard case .mapping(let mapping) = node else {
            guard try value.text == "hang-up" else { throw value.fail("\(usage), got \(value.shown)") }
            return .hangUp
        }
        guard mapping.count == 1 else { throw value.fail(usage) }
        var read = StreamSettings.Fallback.hangUp
        try entries(node, value, of: "on-failure") { name, item, _ in
            read = name == "announcement" ? .announcement(try readSound(item)) : .transfer(Text(try item.text))
        }
        return read
    }

    /// nil: the line has no key of a stream, but for those that say nothing without a program.
    func streamSettings(of line: LineConfiguration) throws -> StreamSettings? {
        guard let place = stream.place else {
            if !stream.isEmpty { throw error("line \(line.number) streams to a program, and needs its 'url'") }
            return nil
        }
        guard stream.isRaw == true || stream.encoding == nil else {
            throw error("line \(line.number): 'encoding' is for the format 'raw'; that of 'twilio' is µ-law")
        }
        let format: StreamFormat = stream.isRaw == true ? .raw(stream.encoding ?? .l16(sampleRate: 16_000)) : .twilio
        return StreamSettings(place: place, format: format, headers: stream.headers, fallback: stream.fallback ?? .hangUp)
    }

    func takesNoProgram(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'url', 'format', 'headers' and 'on-failure' are for the application 'stream'")
    }
}

extension StreamEncoding {
    /// As a file names them.
    static let choices: [String: StreamEncoding] = Dictionary(
        uniqueKeysWithValues: sampleRates.map { ("l16/\($0)", .l16(sampleRate: $0)) } + [("opus", .opus)])
}

extension SettingValue {
    fileprivate var webSocketPlace: StreamSettings.Place {
        get throws {
            // Not shown: it may hold a token.
            guard let place = StreamSettings.Place(try text) else {
                throw fail("takes an address as ws://127.0.0.1:8080/calls or wss://voice.example.test/calls")
            }
            return place
        }
    }
}
