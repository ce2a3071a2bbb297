import Audio
import Foundation
import Gateway
import Primitives
import Streaming
import Yams

/// The keys of a line that streams to a program, as they are read.
struct StreamKeys {
    /// The outer nil: there is no `url`; the inner one: the program comes to the control interface.
    var place: StreamSettings.Place??
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
        case "url": stream.place = try value.text == "api" ? .some(nil) : value.webSocketPlace
        case "format": stream.isRaw = try value.oneOf(["twilio", "raw"]) == "raw"
        case "encoding": stream.encoding = StreamEncoding.choices[try value.oneOf(StreamEncoding.choices.keys.sorted())]
        case "headers": try entries(node, value) { name, item, _ in try addHeader(name, try item.text, item) }
        case "header-files": try entries(node, value) { name, item, _ in try addHeader(name, try item.secret, item) }
        default: stream.fallback = try fallback(node, value)
        }
    }

    /// The value is in no error: it may be secret.
    private mutating func addHeader(_ name: String, _ text: String, _ value: SettingValue) throws {
        let header = StreamHeader(name, text)
        guard header.isNameAllowed else { throw value.fail("'\(name)' is no field that can be set in the request of a WebSocket") }
        guard header.isValueAllowed else { throw value.fail("takes one line of at most 4096 bytes") }
        guard stream.headers.count < StreamHeader.most else { throw value.fail("there are more than 32 fields") }
        stream.headers.append(header)
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
        guard place != nil || stream.headers.isEmpty else {
            throw error("line \(line.number): 'headers' are for a program that is called, and this one comes to the control interface")
        }
        let format: StreamFormat = stream.isRaw == true ? .raw(stream.encoding ?? .l16(sampleRate: 16_000)) : .twilio
        return StreamSettings(place: place, format: format, headers: stream.headers, fallback: stream.fallback ?? .hangUp)
    }

    func takesNoProgram(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'url', 'format', 'headers' and 'on-failure' are for the application 'stream'")
    }
}

extension SettingValue {
    fileprivate var webSocketPlace: StreamSettings.Place? {
        get throws {
            // Not shown: it may hold a token.
            guard let place = StreamSettings.Place(try text) else {
                throw fail("takes an address as ws://127.0.0.1:8080/calls or wss://voice.example.test/calls, or 'api'")
            }
            return place
        }
    }
}
