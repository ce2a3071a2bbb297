import Primitives

/// Writes the messages for a program, in the words of its format.
struct StreamWriter {
    private let format: StreamFormat
    private let call: StreamCall
    /// `MZ` and 32 digits, as Twilio has it.
    private let stream: String
    /// Of messages of the format `twilio`, and of those of sound.
    private var sequence = 0, chunk = 0

    private let tracks: [StreamTrack]

    init(_ format: StreamFormat, _ call: StreamCall, _ tracks: [StreamTrack]) {
        (self.format, self.call, self.tracks) = (format, call, tracks)
        stream = "MZ" + Self.digits(call.call)
    }

    private static func digits(_ uuid: String) -> String { uuid.lowercased().filter { $0 != "-" } }

    /// The messages with which a stream begins, in their order.
    /// - Parameter position: milliseconds from the answer to the first sound.
    mutating func start(position: Int64) -> [[UInt8]] {
        switch format {
        case .raw(let encoding): return [rawStart(encoding, position)]
        case .twilio:
            let account = "AC" + String(repeating: "0", count: 32), id = "CA" + Self.digits(call.call)
            let names = tracks.map { Self.quoted($0.rawValue) }.joined(separator: ",")
            let ids = #""accountSid":"\#(account)","streamSid":"\#(stream)","callSid":"\#(id)","tracks":[\#(names)]"#
            let media = #""mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1}"#
            let parameters = ([("caller", call.caller), ("called", call.called)] + call.headers.map { ($0.name, $0.value) })
                .map { Self.quoted($0.0) + ":" + Self.quoted($0.1) }.joined(separator: ",")
            return [
                Array(#"{"event":"connected","protocol":"Call","version":"1.0.0"}"#.utf8),
                twilio("start", #""start":{\#(ids),\#(media),"customParameters":{\#(parameters)}}"#),
            ]
        }
    }

    private func rawStart(_ encoding: StreamEncoding, _ position: Int64) -> [UInt8] {
        let headers = call.headers.map { Self.quoted($0.name) + ":" + Self.quoted($0.value) }.joined(separator: ",")
        let parties = #""caller":\#(Self.quoted(call.caller)),"called":\#(Self.quoted(call.called))"#
        let sound = #""encoding":"\#(encoding.name)","rate":\#(encoding.sampleRate),"channels":\#(tracks.count)"#
        let text =
            #"{"event":"start","call":\#(Self.quoted(call.call)),\#(parties),\#(sound),"headers":{\#(headers)},"position":\#(position)}"#
        return Array(text.utf8)
    }

    /// A message of the format `twilio` that carries sound; made of bytes, as there are fifty a second.
    /// - Parameter milliseconds: from the start of the stream to the sound.
    mutating func media(_ payload: [UInt8], of track: StreamTrack, at milliseconds: Int64) -> [UInt8] {
        (sequence, chunk) = (sequence + 1, chunk + 1)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(220 + payload.count * 4 / 3)
        bytes.append(contentsOf: #"{"event":"media","sequenceNumber":""#.utf8)
        bytes.append(contentsOf: String(sequence).utf8)
        bytes.append(contentsOf: #"","media":{"track":""#.utf8)
        bytes.append(contentsOf: track.rawValue.utf8)
        bytes.append(contentsOf: #"","chunk":""#.utf8)
        bytes.append(contentsOf: String(chunk).utf8)
        bytes.append(contentsOf: #"","timestamp":""#.utf8)
        bytes.append(contentsOf: String(milliseconds).utf8)
        bytes.append(contentsOf: #"","payload":""#.utf8)
        Base64.encode(payload.span, to: &bytes)
        bytes.append(contentsOf: #""},"streamSid":""#.utf8)
        bytes.append(contentsOf: stream.utf8)
        bytes.append(contentsOf: #""}"#.utf8)
        return bytes
    }

    mutating func digit(_ digit: Character) -> [UInt8] {
        let shown = Self.quoted(String(digit))
        return switch format {
        case .twilio: twilio("dtmf", #""dtmf":{"track":"inbound_track","digit":\#(shown)}"#)
        case .raw: Array(#"{"event":"digits","digits":\#(shown)}"#.utf8)
        }
    }

    mutating func mark(_ name: String) -> [UInt8] {
        switch format {
        case .twilio: twilio("mark", #""mark":{"name":\#(Self.quoted(name))}"#)
        case .raw: Array(#"{"event":"mark","name":\#(Self.quoted(name))}"#.utf8)
        }
    }

    /// The call is held, or no more: no sound comes meanwhile. Twilio has no word for it; its programs pass over what they do not know.
    mutating func paused(_ isPaused: Bool) -> [UInt8] { word(isPaused ? "pause" : "resume") }

    /// Silence was put in where the program's sound came too late, so many milliseconds.
    mutating func underrun(_ milliseconds: Int) -> [UInt8]? {
        if case .twilio = format { return nil }
        return Array(#"{"event":"underrun","milliseconds":\#(milliseconds)}"#.utf8)
    }

    /// Sound that found no room: so many bytes.
    mutating func overflow(_ bytes: Int) -> [UInt8]? {
        if case .twilio = format { return nil }
        return Array(#"{"event":"overflow","bytes":\#(bytes)}"#.utf8)
    }

    mutating func stop(_ cause: String) -> [UInt8] {
        switch format {
        case .twilio:
            let account = "AC" + String(repeating: "0", count: 32)
            return twilio("stop", #""stop":{"accountSid":"\#(account)","callSid":"CA\#(Self.digits(call.call))"}"#)
        case .raw: return Array(#"{"event":"stop","cause":\#(Self.quoted(cause))}"#.utf8)
        }
    }

    private mutating func word(_ event: String) -> [UInt8] {
        if case .twilio = format { return twilio(event, "") }
        return Array(#"{"event":"\#(event)"}"#.utf8)
    }

    private mutating func twilio(_ event: String, _ members: String) -> [UInt8] {
        sequence += 1
        let rest = members.isEmpty ? "" : members + ","
        return Array(#"{"event":"\#(event)","sequenceNumber":"\#(sequence)",\#(rest)"streamSid":"\#(stream)"}"#.utf8)
    }

    /// A JSON string of a text.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += #"\""#
            case "\\": quoted += #"\\"#
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
