import Audio
import Primitives
import Testing

@testable import Streaming

@Suite struct StreamSessionTests {
    private static let call = StreamCall(
        call: "1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB", caller: "al\"ice", called: "9200", headers: [StreamHeader("X-Ticket", "42")])

    private static func session(_ format: StreamFormat) throws -> StreamSession { try StreamSession(format, call) }

    private static func texts(_ outputs: [StreamSession.Output]) -> [String] {
        outputs.compactMap { if case .text(let text) = $0 { String(decoding: text, as: UTF8.self) } else { nil } }
    }

    @Test func `a stream of twilio begins with connected and start, numbers its messages, and ends with stop`() throws {
        let session = try Self.session(.twilio), digits = "1b4e28ba2fa111d2883fb9a761bde3fb"
        session.start(position: 12)
        session.hear([Int16](repeating: 0, count: 160).span)
        session.hear([Int16](repeating: 0, count: 160).span)
        session.press("5")
        session.stop("ended")
        session.press("6")
        let texts = Self.texts(session.takeOutputs())
        let account = "AC" + String(repeating: "0", count: 32), silence = String(repeating: "////", count: 53) + "/w=="
        #expect(
            texts == [
                #"{"event":"connected","protocol":"Call","version":"1.0.0"}"#,
                #"{"event":"start","sequenceNumber":"1","start":{"accountSid":"\#(account)","streamSid":"MZ\#(digits)","callSid":"CA\#(digits)","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},"customParameters":{"caller":"al\"ice","called":"9200","X-Ticket":"42"}},"streamSid":"MZ\#(digits)"}"#,
                #"{"event":"media","sequenceNumber":"2","media":{"track":"inbound","chunk":"1","timestamp":"0","payload":"\#(silence)"},"streamSid":"MZ\#(digits)"}"#,
                #"{"event":"media","sequenceNumber":"3","media":{"track":"inbound","chunk":"2","timestamp":"20","payload":"\#(silence)"},"streamSid":"MZ\#(digits)"}"#,
                #"{"event":"dtmf","sequenceNumber":"4","dtmf":{"track":"inbound_track","digit":"5"},"streamSid":"MZ\#(digits)"}"#,
                #"{"event":"stop","sequenceNumber":"5","stop":{"accountSid":"\#(account)","callSid":"CA\#(digits)"},"streamSid":"MZ\#(digits)"}"#,
            ])
    }

    @Test func `a raw stream says what it is of, and its sound is little-endian`() throws {
        let session = try Self.session(.raw(.l16(sampleRate: 16_000)))
        session.start(position: 12)
        session.hear(([0x0102, -2] as [Int16]).span)
        session.hold(true)
        session.hold(false)
        session.press("#")
        let outputs = session.takeOutputs()
        #expect(
            Self.texts(outputs) == [
                #"{"event":"start","call":"1B4E28BA-2FA1-11D2-883F-B9A761BDE3FB","caller":"al\"ice","called":"9200","encoding":"l16","rate":16000,"channels":1,"headers":{"X-Ticket":"42"},"position":12}"#,
                #"{"event":"pause"}"#, #"{"event":"resume"}"#, ##"{"event":"digits","digits":"#"}"##,
            ])
        #expect(outputs.contains(.binary([2, 1, 0xFE, 0xFF])))
    }

    @Test func `both directions that are listened to are two channels, and one that is missing is silent after a fifth of a second`() throws
    {
        let session = try StreamSession(.raw(.l16(sampleRate: 8_000)), Self.call, tap: .both)
        session.start(position: 0)
        #expect(Self.texts(session.takeOutputs()).first?.contains(#""channels":2"#) == true)
        session.hear(([1, 2, 3] as [Int16]).span, of: .outbound)
        #expect(session.takeOutputs().isEmpty)
        session.hear(([4, 5] as [Int16]).span, of: .inbound)
        #expect(session.takeOutputs() == [.binary([4, 0, 1, 0, 5, 0, 2, 0])])
        session.hear([Int16](repeating: 9, count: 1_600).span, of: .outbound)
        #expect(session.takeOutputs() == [.binary([0, 0, 3, 0])])
    }

    @Test func `of twilio each direction is a track of its own`() throws {
        let session = try StreamSession(.twilio, Self.call, tap: .both)
        session.start(position: 0)
        session.hear([Int16](repeating: 0, count: 160).span, of: .outbound)
        session.hear([Int16](repeating: 0, count: 160).span, of: .inbound)
        let texts = Self.texts(session.takeOutputs())
        #expect(texts.dropFirst().first?.contains(#""tracks":["inbound","outbound"]"#) == true)
        #expect(texts.suffix(2).first?.contains(#"{"track":"outbound","chunk":"1","timestamp":"0""#) == true)
        #expect(texts.last?.contains(#"{"track":"inbound","chunk":"2","timestamp":"0""#) == true)
    }

    @Test func `a program that listens has no say`() throws {
        let session = try StreamSession(.raw(.l16(sampleRate: 8_000)), Self.call, tap: .in)
        session.receive(binary: [1, 2, 3, 4])
        for word in ["hang-up", "clear", "pause"] { session.receive(text: Array(#"{"event":"\#(word)"}"#.utf8)) }
        session.receive(text: Array("nonsense".utf8))
        #expect(session.takeOutputs().isEmpty && session.waiting == 0)
        #expect(session.counts.unknown == 4 && session.counts.malformed == 1)
    }

    @Test func `marks come back when their sound was played, all of them at clear, which forgets the rest`() throws {
        let session = try Self.session(.raw(.l16(sampleRate: 8_000)))
        session.receive(binary: [UInt8](repeating: 1, count: 320))
        session.receive(text: Array(#"{"event":"mark","name":"one"}"#.utf8))
        session.receive(binary: [UInt8](repeating: 1, count: 320))
        session.receive(text: Array(#"{"event":"mark","name":"two"}"#.utf8))
        #expect(session.takeOutputs().isEmpty && session.waiting == 320)
        var room = [Int16](repeating: 0, count: 200)
        let handed = room.withUnsafeMutableBufferPointer { session.hand(into: $0) }
        #expect(handed == 200)
        session.played(159, underruns: 0, missing: 0)
        #expect(session.takeOutputs().isEmpty)
        session.played(160, underruns: 0, missing: 0)
        #expect(Self.texts(session.takeOutputs()) == [#"{"event":"mark","name":"one"}"#])
        session.receive(text: Array(#"{"event":"clear"}"#.utf8))
        #expect(session.takeOutputs() == [.forget, .text(Array(#"{"event":"mark","name":"two"}"#.utf8))])
        #expect(session.waiting == 0)
    }

    @Test func `under-runs are told with the silence that they cost, and counted`() throws {
        let session = try Self.session(.raw(.l16(sampleRate: 8_000)))
        session.played(160, underruns: 1, missing: 320)
        session.played(160, underruns: 1, missing: 320)
        session.played(320, underruns: 3, missing: 800)
        #expect(
            Self.texts(session.takeOutputs()) == [
                #"{"event":"underrun","milliseconds":40}"#, #"{"event":"underrun","milliseconds":60}"#,
            ])
        #expect(session.counts.underruns == 3 && session.counts.missing == 100)
    }

    @Test func `sound beyond the bound is counted and told once`() throws {
        let session = try Self.session(.raw(.l16(sampleRate: 8_000)))
        let minute = [UInt8](repeating: 0, count: 960_000)
        for _ in 0..<17 { session.receive(binary: minute) }
        #expect(session.counts.overflow == 2 * 960_000 && session.waiting == 15 * 60 * 8_000)
        #expect(Self.texts(session.takeOutputs()) == [#"{"event":"overflow","bytes":960000}"#])
    }

    @Test func `a program that talks nonsense fails after twenty messages, and one that knows more words does not`() throws {
        let session = try Self.session(.twilio)
        for _ in 0..<100 { session.receive(text: Array(#"{"event":"new"}"#.utf8)) }
        for _ in 0..<StreamSession.mostMalformed { session.receive(text: Array("hello".utf8)) }
        #expect(session.takeOutputs().isEmpty)
        session.receive(binary: [1])
        session.receive(text: Array("hello".utf8))
        #expect(session.takeOutputs() == [.failed])
        #expect(session.counts.malformed == 21 && session.counts.unknown == 100)
    }

    @Test func `its wishes are told`() throws {
        let session = try Self.session(.raw(.opus))
        for text in [
            #"{"event":"pause"}"#, #"{"event":"resume"}"#, #"{"event":"digits","digits":"1"}"#, #"{"event":"transfer","to":"1002"}"#,
            #"{"event":"hang-up"}"#,
        ] { session.receive(text: Array(text.utf8)) }
        #expect(session.takeOutputs() == [.pause(true), .pause(false), .digits("1"), .transfer("1002"), .hangUp])
    }

    @Test func `sound for a program that does not read is counted, and its time goes on`() throws {
        let session = try Self.session(.twilio)
        session.hear([Int16](repeating: 0, count: 800).span, isSent: false)
        session.hear([Int16](repeating: 0, count: 8).span)
        #expect(session.counts.unsent == 1)
        #expect(Self.texts(session.takeOutputs()).first?.contains(#""timestamp":"100""#) == true)
    }

    @Test func `heard samples become whole packets of Opus`() throws {
        let session = try Self.session(.raw(.opus))
        for _ in 0..<10 { session.hear([Int16](repeating: 500, count: 480).span) }
        #expect(session.takeOutputs().count == 5)
    }
}
