import Primitives
import SDP
import Testing

@testable import Workbench

@Suite struct AnswerCheckTests {
    private static func body(_ media: String, session: String = "7 1", user: String = "-", attributes: String = "") -> [UInt8] {
        Array(
            "v=0\no=\(user) \(session) IN IP4 192.0.2.1\ns=-\nc=IN IP4 192.0.2.1\nt=0 0\n\(attributes)\(media)\n".replacing(
                "\n", with: "\r\n"
            ).utf8)
    }
    private static let audio = "m=audio 4000 RTP/AVP 0 8"

    @Test(
        arguments: [
            (AnswerCheck.audio(), audio, nil), (.audio(formats: ["8"], streams: 1), audio, nil),
            (.audio(formats: ["9"]), audio, "audio in 0 8"),
            (.audio(streams: 2), audio, "1 streams"), (.audio(streams: 2), audio + "\nm=video 0 RTP/AVP 31", nil),
            (.audio(), "m=video 4000 RTP/AVP 31", "video first"), (.audio(), "m=audio 0 RTP/AVP 0", "audio that is refused (port 0)"),
            (.removed, "m=audio 0 RTP/AVP 0", nil), (.removed, audio, "port 4000"), (.othersRemoved, audio + "\nm=video 0 RTP/AVP 31", nil),
            (.othersRemoved, audio + "\nm=video 9 RTP/AVP 31", "another stream that is not refused"), (.othersRemoved, audio, nil),
            (.direction([.recvonly, .inactive]), audio + "\na=inactive", nil), (.direction([.sendrecv]), audio, nil),
            (.direction([.recvonly]), audio + "\na=sendonly", "a=sendonly"), (.direction([.recvonly]), audio, "a=sendrecv"),
        ] as [(AnswerCheck, String, String?)])
    func `a description is as it should be, or it is said what it is instead`(check: AnswerCheck, media: String, fault: String?) {
        #expect(check.fault(of: Self.body(media), after: nil) == fault)
    }

    @Test func `the direction of the session counts where the stream has none`() {
        #expect(AnswerCheck.direction([.inactive]).fault(of: Self.body(Self.audio, attributes: "a=inactive\n"), after: nil) == nil)
        #expect(
            AnswerCheck.direction([.inactive]).fault(of: Self.body(Self.audio + "\na=sendonly", attributes: "a=inactive\n"), after: nil)
                == "a=sendonly")
    }

    @Test(
        arguments: [
            ("7 1", "7 1", nil), ("7 1", "7 2", nil), ("7 1", "7 3", "version 3 after 1"), ("7 2", "7 1", "version 1 after 2"),
            ("7 1", "8 1", "session 8 after 7"), ("7 x", "7 y", nil), ("7 18446744073709551615", "7 0", nil),
        ] as [(String, String, String?)])
    func `a session stays, and its version goes on by one at most`(before: String, now: String, fault: String?) {
        let check = AnswerCheck.sameSession
        #expect(check.fault(of: Self.body(Self.audio, session: now), after: Self.body(Self.audio, session: before)) == fault)
        #expect(check.fault(of: Self.body(Self.audio, session: now), after: nil) == nil, "there was none before")
    }

    @Test func `another user is another session`() {
        #expect(
            AnswerCheck.sameSession.fault(of: Self.body(Self.audio, user: "b"), after: Self.body(Self.audio, user: "a"))
                == "session 7 after 7")
    }

    @Test(
        arguments: [
            ([], "no description"), (Array("hello".utf8), "a body that is no session description"),
            (body("a=x"), "a body that is no session description"),
        ] as [([UInt8], String)])
    func `what is no description is told`(body: [UInt8], fault: String) {
        for check in [AnswerCheck.audio(), .removed, .sameSession, .direction([.sendrecv])] {
            #expect(check.fault(of: body, after: nil) == fault)
        }
    }

    @Test(arguments: [
        (AnswerCheck.audio(), "a description with audio"),
        (.audio(formats: ["0", "8"], streams: 1), "a description of 1 stream with audio in 0 or 8"),
        (.audio(streams: 2), "a description of 2 streams with audio"), (.direction([.recvonly, .inactive]), "a=recvonly or a=inactive"),
        (.removed, "port 0"), (.othersRemoved, "port 0 for all but the audio"),
        (.sameSession, "the o= line of before, with the same version or the next"),
    ])
    func `a check says what it asks for`(check: AnswerCheck, expected: String) { #expect(check.expected == expected) }
}
