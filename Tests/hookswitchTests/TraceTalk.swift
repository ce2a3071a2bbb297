import Primitives
import UserAgent

@testable import hookswitch

/// Messages between a telephone and a gateway, as a trace has them.
struct TraceTalk {
    var messages: [TracedMessage] = [], wall: UInt64 = 1_700_000_000_000_000_000

    /// - Parameter start: a first line; of a response the method is said apart.
    mutating func add(
        _ direction: TracedMessage.Direction, _ start: String, _ method: String? = nil, id: String, from: String = "1001",
        to: String = "9196",
        peer: String = "192.0.2.7:5060", more: String = "", body: String = ""
    ) {
        let method = method ?? String(start.prefix { $0 != " " })
        let text =
            "\(start)\r\nVia: SIP/2.0/UDP 192.0.2.7;branch=z9hG4bK\(id)\r\nFrom: <sip:\(from)@a.test>;tag=1\r\nTo: <sip:\(to)@b.test>\r\n"
            + "Call-ID: \(id)\r\nCSeq: 1 \(method)\r\nMax-Forwards: 70\r\n\(more)"
            + (body.isEmpty ? "" : "Content-Type: application/sdp\r\n") + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        wall += 1_000_000
        messages.append(
            TracedMessage(
                direction, .udp, local: SocketAddress("192.0.2.1:5060")!, remote: SocketAddress(peer)!, wall: wall,
                bytes: Array(text.utf8)))
    }

    mutating func request(_ method: String, id: String, to: String = "9196") {
        add(.received, "\(method) sip:\(to)@b.test SIP/2.0", id: id, to: to)
    }
    mutating func answer(_ status: String, _ method: String, id: String, to: String = "9196") {
        add(.sent, "SIP/2.0 \(status)", method, id: id, to: to)
    }

    /// A call that was answered, one that was busy, one that rings, and a registration.
    static var four: TraceTalk {
        var talk = TraceTalk()
        talk.request("INVITE", id: "aaaa-1")
        talk.answer("180 Ringing", "INVITE", id: "aaaa-1")
        talk.answer("200 OK", "INVITE", id: "aaaa-1")
        talk.request("INVITE", id: "bbbb-2", to: "777")
        talk.request("INVITE", id: "bbbb-2", to: "777")
        talk.answer("486 Busy Here", "INVITE", id: "bbbb-2", to: "777")
        talk.request("BYE", id: "aaaa-1")
        talk.answer("200 OK", "BYE", id: "aaaa-1")
        talk.request("INVITE", id: "aaaa-3")
        talk.answer("180 Ringing", "INVITE", id: "aaaa-3")
        talk.request("REGISTER", id: "reg-4", to: "1001")
        talk.answer("401 Unauthorized", "REGISTER", id: "reg-4", to: "1001")
        talk.request("REGISTER", id: "reg-4", to: "1001")
        talk.answer("200 OK", "REGISTER", id: "reg-4", to: "1001")
        return talk
    }

    var history: TraceHistory {
        var history = TraceHistory(keepsMessages: true)
        for message in messages { history.note(message) }
        return history
    }

    var file: [UInt8] { Pcapng.header(program: "test 1") + messages.flatMap(Pcapng.packet) }
}
