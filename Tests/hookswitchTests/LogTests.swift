import Foundation
import Logging
import Primitives
import Synchronization
import Testing
import UserAgent

@testable import hookswitch

/// Lines of the log for people and for programs.
@Suite struct LogTests {
    @Test func `a line in JSON has time, level, message and the fields that are known`() throws {
        let line = LogLine(
            .info, "call \"A\" ended",
            [("from", "1001"), ("status", .whole(486)), ("duration", .init(Duration.milliseconds(1_500))), ("to", .init(nil as String?))],
            at: 1_700_000_000_123_000_000)
        #expect(
            try jsonLine(line)
                == #"{"duration":1.5,"from":"1001","level":"info","message":"call \"A\" ended","status":486,"time":"2023-11-14T22:13:20.123Z"}"#
                + "\n")
    }

    @Test func `a message in the log is its first line, its peer and its Call-ID alone`() {
        let lines = Mutex<[(String, [String])]>([])
        let log = NoticeLog { level, line, fields in lines.withLock { $0.append(("\(level) \(line)", fields.map(\.name))) } }
        let message = TracedMessage(
            .received, .tcp, local: SocketAddress("192.0.2.1:5060")!, remote: SocketAddress("192.0.2.7:4000")!, wall: 1,
            bytes: Array("REGISTER sip:b SIP/2.0\r\nCall-ID: x\r\nAuthorization: Digest secret\r\n\r\n".utf8))
        #expect(TraceLog(log).take([message], missed: 2) == 0)
        log.finish()
        let said = lines.withLock(\.self)
        #expect(
            said.map(\.0) == [
                "warning 2 messages are missing here: there were too many",
                "debug tcp from 192.0.2.7:4000: REGISTER sip:b SIP/2.0, Call-ID x",
            ])
        #expect(said[1].1 == ["event", "direction", "transport", "remote", "line", "callID"])
    }
}
