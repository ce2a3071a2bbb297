/// A scenario of sipp, step by step: for flows that are too many for files of their own.
///
/// One side of one call. What sipp checks of a message is a pattern in one of its headers or in the whole of it; a step that does not come
/// as it is written ends the scenario with an error.
struct SippScript: Sendable {
    enum Side: Sendable { case caller, callee }

    enum Body: Sendable {
        case none
        /// Audio, A-law, with this direction and version of the description; further lines behind.
        case audio(String = "sendrecv", version: Int = 1, more: [String] = [])
        /// A body of another type.
        case other(String, String)
    }

    enum Check: Sendable {
        case header(String, String)
        case message(String)
        /// What matches is kept for `[$name]`.
        case keep(String, header: String, String)
    }

    private let side: Side
    /// Of the Call-ID and the tag, so that one scenario has several dialogs.
    private let name: String
    private(set) var steps: [String] = []
    private var variables: Set<String> = []

    private init(_ side: Side, _ name: String) { (self.side, self.name) = (side, name) }

    static func caller(_ name: String = "") -> SippScript { SippScript(.caller, name) }
    static func callee() -> SippScript { SippScript(.callee, "") }

    /// Another dialog of the same scenario: its steps come next.
    func then(_ other: SippScript) -> SippScript {
        var both = self
        both.steps += other.steps
        both.variables.formUnion(other.variables)
        return both
    }

    var xml: String {
        let reference = variables.isEmpty ? "" : "  <Reference variables=\"\(variables.sorted().joined(separator: ","))\"/>\n"
        return
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<scenario name=\"script\">\n\(steps.joined(separator: "\n"))\n\(reference)</scenario>\n"
    }

    // MARK: What is sent

    private var callID: String { name.isEmpty ? "[call_id]" : "\(name)///[call_id]" }
    private var tag: String { "[pid]\(side == .caller ? "a" : "b")[call_number]\(name)" }
    private static let via = via(nil)
    private static func via(_ branch: String?) -> String {
        "Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=\(branch ?? "[branch]")"
    }
    private static let contact = "Contact: <sip:[user]@[local_ip]:[local_port];transport=[transport]>"

    /// An INVITE that begins the call. - Parameter require: further headers.
    func invite(_ headers: [String] = [], cseq: Int = 1, body: Body = .audio(), to target: String = "[service]", branch: String? = nil)
        -> SippScript
    {
        let lines = [
            "INVITE sip:\(target)@[remote_ip]:[remote_port] SIP/2.0", Self.via(branch), "From: <sip:[user]@[remote_ip]>;tag=\(tag)",
            "To: <sip:\(target)@[remote_ip]>",
            "Call-ID: \(callID)", "CSeq: \(cseq) INVITE", Self.contact, "Max-Forwards: 70",
        ]
        return send(lines + headers, body, repeats: true)
    }

    /// A request in the dialog; an ACK or a PRACK too.
    func request(_ method: String, _ cseq: Int, _ headers: [String] = [], body: Body = .none, branch: String? = nil) -> SippScript {
        let parties =
            side == .caller
            ? ["From: <sip:[user]@[remote_ip]>;tag=\(tag)", "To: <sip:[service]@[remote_ip]>[peer_tag_param]"]
            : ["From:[$to];tag=\(tag)", "To:[$from]"]
        let lines =
            ["\(method) [next_url] SIP/2.0", Self.via(branch), "[routes]"] + parties + [
                "Call-ID: \(callID)", "CSeq: \(cseq) \(method)", Self.contact, "Max-Forwards: 70",
            ]
        return send(lines + headers, body, repeats: method != "ACK")
    }

    /// The ACK of a refusal.
    func acknowledgeRefusal(_ cseq: Int = 1) -> SippScript {
        send(
            [
                "ACK sip:[service]@[remote_ip]:[remote_port] SIP/2.0", "[last_Via:]", "From: <sip:[user]@[remote_ip]>;tag=\(tag)",
                "To: <sip:[service]@[remote_ip]>[peer_tag_param]", "Call-ID: \(callID)", "CSeq: \(cseq) ACK", "Max-Forwards: 70",
            ], .none)
    }

    /// Gives the INVITE up, after a response to it that came last.
    func cancel() -> SippScript {
        send(
            [
                "CANCEL sip:[service]@[remote_ip]:[remote_port] SIP/2.0", "[last_Via:]", "From: <sip:[user]@[remote_ip]>;tag=\(tag)",
                "To: <sip:[service]@[remote_ip]>",
                "Call-ID: \(callID)", "CSeq: 1 CANCEL", "Max-Forwards: 70",
            ], .none, repeats: true)
    }

    /// A request of its own, outside of every dialog.
    func outside(_ method: String, _ headers: [String] = []) -> SippScript {
        let lines = [
            "\(method) sip:[service]@[remote_ip]:[remote_port] SIP/2.0", Self.via, "From: <sip:[user]@[remote_ip]>;tag=\(tag)",
            "To: <sip:[service]@[remote_ip]>",
            "Call-ID: \(callID)", "CSeq: 1 \(method)", Self.contact, "Max-Forwards: 70",
        ]
        return send(lines + headers, .none, repeats: true)
    }

    /// The answer to the request that came last.
    func answer(_ status: String, _ headers: [String] = [], body: Body = .none) -> SippScript {
        send(
            ["SIP/2.0 \(status)", "[last_Via:]", "[last_From:]", "[last_To:]", "[last_Call-ID:]", "[last_CSeq:]", Self.contact] + headers,
            body)
    }

    /// Callee: an answer to the INVITE, whatever came since.
    func answerInvite(_ status: String, _ headers: [String] = [], body: Body = .none, tag other: String? = nil) -> SippScript {
        let to = other ?? tag
        let lines = [
            "SIP/2.0 \(status)", "Via:[$via]", "From:[$from]", "To:[$to]" + (to.isEmpty ? "" : ";tag=\(to)"), "Call-ID: [call_id]",
            "CSeq:[$cseq]", Self.contact,
        ]
        return send(lines + headers, body, repeats: status.hasPrefix("2") && other == nil)
    }

    private func send(_ lines: [String], _ body: Body, repeats: Bool = false) -> SippScript {
        var all = lines + ["Content-Length: [len]"]
        switch body {
        case .none: all.append("")
        case .audio(let direction, let version, let more):
            let audio = [
                "v=0", "o=sipp 1 \(version) IN IP[local_ip_type] [local_ip]", "s=-", "c=IN IP[media_ip_type] [media_ip]", "t=0 0",
                "m=audio [rtpstream_audio_port] RTP/AVP 8", "a=rtpmap:8 PCMA/8000", "a=\(direction)",
            ]
            all += ["Content-Type: application/sdp", ""] + audio + more
        case .other(let type, let text):
            all += ["Content-Type: \(type)", ""] + text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        let text = (all.count(where: \.isEmpty) == 0 ? all + [""] : all).map { "      " + $0 }.joined(separator: "\n")
        return adding("  <send\(repeats ? " retrans=\"500\"" : "")><![CDATA[\n\(text)\n\n  ]]></send>")
    }

    // MARK: What is waited for

    func expect(_ status: Int, _ checks: [Check] = [], optional: Bool = false) -> SippScript {
        receive("response=\"\(status)\" rrs=\"true\"\(optional ? " optional=\"true\"" : " timeout=\"15000\"")", checks)
    }

    /// What a call may be told before it is answered.
    func progress() -> SippScript { expect(100, optional: true).expect(180, optional: true) }

    /// The INVITE; its headers are kept for the answers.
    func hearInvite(_ checks: [Check] = []) -> SippScript {
        let kept = [("via", "Via:"), ("from", "From:"), ("to", "To:"), ("cseq", "CSeq:")].map { Check.keep($0.0, header: $0.1, ".*") }
        return receive("request=\"INVITE\" rrs=\"true\" timeout=\"15000\"", kept + checks)
    }

    func hear(_ method: String, _ checks: [Check] = [], optional: Bool = false) -> SippScript {
        receive("request=\"\(method)\"\(optional ? " optional=\"true\"" : " timeout=\"15000\"")", checks)
    }

    func wait(_ milliseconds: Int) -> SippScript { adding("  <pause milliseconds=\"\(milliseconds)\"/>") }

    /// Sends a file of A-law, from now on.
    func plays(_ file: String) -> SippScript { adding("  <nop><action><exec rtp_stream=\"\(file),1,8\"/></action></nop>") }

    private func receive(_ attributes: String, _ checks: [Check]) -> SippScript {
        var next = self
        let actions = checks.map { next.action(for: $0) }
        next.steps.append(
            actions.isEmpty
                ? "  <recv \(attributes)/>" : "  <recv \(attributes)><action>\n\(actions.joined(separator: "\n"))\n  </action></recv>")
        return next
    }

    private mutating func action(for check: Check) -> String {
        let (place, pattern, variable): (String, String, String) =
            switch check {
            case .header(let name, let pattern): ("search_in=\"hdr\" header=\"\(name):\"", pattern, "checked")
            case .message(let pattern): ("search_in=\"msg\"", pattern, "checked")
            case .keep(let name, let header, let pattern): ("search_in=\"hdr\" header=\"\(header)\"", pattern, name)
            }
        variables.insert(variable)
        return "    <ereg regexp=\"\(pattern)\" \(place) check_it=\"true\" assign_to=\"\(variable)\"/>"
    }

    private func adding(_ step: String) -> SippScript {
        var next = self
        next.steps.append(step)
        return next
    }
}

extension SippScript {
    /// Caller: hangs up.
    func hangUp(_ cseq: Int) -> SippScript { request("BYE", cseq).expect(200) }
    /// Is hung up.
    func isHungUp() -> SippScript { hear("BYE").answer("200 OK") }
    /// Callee: rings and answers, and has its ACK.
    func takesCall(_ headers: [String] = []) -> SippScript {
        hearInvite().answerInvite("180 Ringing").answerInvite("200 OK", headers, body: .audio()).hear("ACK")
    }
    /// Caller: calls and is answered.
    static func call(_ headers: [String] = [], name: String = "", to target: String = "[service]") -> SippScript {
        caller(name).invite(headers, to: target).progress().expect(200).request("ACK", 1)
    }
}
