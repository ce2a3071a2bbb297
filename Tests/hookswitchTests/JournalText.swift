import Foundation

/// A journal, written by hand.
struct JournalText {
    /// 2026-11-26 18:24:00 UTC.
    static let begin = 1_795_717_440_000

    private(set) var lines: [String] = []
    private var sequence = 0
    /// Milliseconds since `begin`.
    var now = 0

    /// Begins a run.
    init(version: String = "hookswitch 1", run: String? = nil) { start(version: version, run: run) }

    mutating func start(version: String = "hookswitch 1", run: String? = nil) {
        sequence = 0
        add("gateway.started", nil, #""version":"\#(version)""# + (run.map { #","run":"\#($0)""# } ?? ""))
    }

    mutating func add(_ kind: String, _ call: String?, _ details: String = "", after milliseconds: Int = 0, line: String = "1002") {
        now += milliseconds
        sequence += 1
        let place = call.map { #","call":"\#($0)","line":"\#(line)""# } ?? ""
        let told = details.isEmpty ? "" : #","details":{\#(details)}"#
        lines.append(
            #"{"seq":\#(sequence),"t":\#(now)000000,"wall":\#(Self.begin + now)000000\#(place),"lane":"s0","kind":"\#(kind)"\#(told)}"#)
    }

    /// Leaves out so many events.
    mutating func skip(_ count: Int) { sequence += count }

    /// A call of 2 seconds that an application answers at once.
    mutating func answered(
        _ call: String, id: String, from: String? = nil, to: String? = nil, heard: (String, String) = ("heard", "heard"),
        line: String = "1002"
    ) {
        invite(call, id: id, from: from, to: to, line: line)
        add("report.incoming", call, line: line)
        add("report.incoming.ok", call, line: line)
        add("sip.tx", call, #""method":"INVITE","status":180,"phrase":"Ringing","cseq":1,"callid":"\#(id)""#, after: 100, line: line)
        add("sip.tx", call, #""method":"INVITE","status":200,"phrase":"OK","cseq":1,"callid":"\#(id)""#, after: 400, line: line)
        add("media.opened", call, #""port":20000,"codec":"opus""#, line: line)
        add("media.started", call, line: line)
        add("sip.rx", call, #""method":"ACK","cseq":1,"callid":"\#(id)""#, line: line)
        add("sip.rx", call, #""method":"BYE","cseq":2,"callid":"\#(id)""#, after: 2_000, line: line)
        add("sip.tx", call, #""method":"BYE","status":200,"cseq":2,"callid":"\#(id)""#, line: line)
        add(
            "media.stopped", call,
            #""packets":100,"received":99,"incoming":"\#(heard.0)","outgoing":"\#(heard.1)","loss":67,"mos":437,"jitter":900,"roundTrip":4000"#,
            line: line)
        add("report.ended", call, #""reason":"remoteEnded""#, line: line)
        add("call.ended", call, #""reason":"remoteEnded""#, line: line)
    }

    mutating func invite(_ call: String, id: String, from: String?, to: String?, line: String = "1002") {
        if let from {
            let whom = to.map { #","to":"\#($0)","uri":"\#($0)""# } ?? ""
            add("invite.received", call, #""callid":"\#(id)","from":"\#(from)"\#(whom),"agent":"Phone 1""#, after: 1_000, line: line)
        }
        add(
            "sip.rx", call, #""method":"INVITE","cseq":1,"callid":"\#(id)","transport":"udp","remote":"127.0.0.1:5070""#,
            after: from == nil ? 1_000 : 0, line: line)
        add("sip.tx", call, #""method":"INVITE","status":100,"cseq":1,"callid":"\#(id)""#, line: line)
    }

    /// A call of an app, which has it under a UUID of its own.
    mutating func adopted(_ call: String, as own: String, id: String) {
        invite(call, id: id, from: nil, to: nil)
        add("report.adopted", call, #""with":"\#(own)","count":1"#)
        add("report.incoming", call)
        add("report.incoming.ok", call)
        add("sip.tx", call, #""method":"INVITE","status":486,"cseq":1,"callid":"\#(id)""#)
        add("call.ended", call)
    }

    /// An INVITE that became no call.
    mutating func refused(_ call: String, id: String, from: String, to: String, status: Int, _ reason: String) {
        add("invite.received", call, #""callid":"\#(id)","from":"\#(from)","to":"\#(to)","uri":"\#(to)""#, after: 1_000, line: "")
        add("call.refused", call, #""callid":"\#(id)","status":\#(status),"reason":"\#(reason)""#, line: "")
    }

    var data: Data { Data(lines.map { $0 + "\n" }.joined().utf8) }

    func write(to path: String) throws { try data.write(to: URL(filePath: path)) }

    /// Four calls: one answered, one to an unknown number, one in which the callee is not heard, one without From.
    static let four: JournalText = {
        var text = JournalText()
        text.answered(names[0], id: "id-0", from: "sip:1001@a.test", to: "sip:9196@a.test")
        text.refused(names[1], id: "id-1", from: "sip:1001@a.test", to: "sip:777@a.test", status: 404, "no line has this number")
        text.answered(names[2], id: "id-2", from: "sip:zoe@b.test", to: "sip:9196@a.test", heard: ("heard", "nothing"))
        text.answered(names[3], id: "id-3")
        return text
    }()

    static let names = [
        "AAAA0000-0000-0000-0000-000000000001", "BBBB0000-0000-0000-0000-000000000002", "BBBB0001-0000-0000-0000-000000000003",
        "CCCC0000-0000-0000-0000-000000000004",
    ]
}
