import Primitives
import SIP
import Testing

@Suite struct DialogTests {
    static func invite(
        recordRoutes: [Text] = [], contact: Text? = "<sip:alice@192.0.2.1>", uri: Text = "sip:bob@example.com", fromTag: Text? = "alice-tag"
    ) throws -> Message {
        var from = try NameAddress(parsing: "Alice <sip:alice@example.com>")
        from.tag = fromTag
        var message = Message.request(
            .invite, uri: try URI(parsing: uri), via: Via(transport: "UDP", host: "192.0.2.1", port: nil, branch: "z9hG4bK1"), from: from,
            to: try NameAddress(parsing: "Bob <sip:bob@example.com>"), callID: "call", cseq: 7)
        for route in recordRoutes { message.headers.append(.recordRoute, route) }
        if let contact { message.headers.append(.contact, contact) }
        return message
    }

    static func response(_ status: Int, to invite: Message, recordRoutes: [Text] = [], contact: Text? = "<sip:bob@192.0.2.2>") -> Message {
        var message = Message.response(to: invite, status: status, toTag: "bob-tag")
        message.headers.remove(.recordRoute)
        for route in recordRoutes { message.headers.append(.recordRoute, route) }
        if let contact { message.headers.append(.contact, contact) }
        return message
    }

    let via = Via(transport: "UDP", host: "192.0.2.9", port: nil, branch: "z9hG4bK9")

    @Test func `a callee's dialog is made of the INVITE and its own tag`() throws {
        let invite = try Self.invite(recordRoutes: ["<sip:p1;lr>, <sip:p2;lr>", "<sip:p3;lr>"])
        let dialog = try #require(Dialog(callee: invite, localTag: "bob-tag", sequence: 100, overTLS: false))
        #expect(dialog.state == .early)
        #expect(dialog.callID == "call" && dialog.localTag == "bob-tag" && dialog.remoteTag == "alice-tag")
        #expect(dialog.local.uri.text == "sip:bob@example.com" && dialog.local.displayName == "Bob")
        #expect(dialog.remoteTarget.text == "sip:alice@192.0.2.1")
        #expect(dialog.routeSet.map(\.uri.text) == ["sip:p1;lr", "sip:p2;lr", "sip:p3;lr"])
        #expect(dialog.remoteSequence == 7 && dialog.localSequence == 100)
        #expect(!dialog.isSecure)
    }

    @Test func `an INVITE without Contact makes no dialog`() throws {
        #expect(Dialog(callee: try Self.invite(contact: nil), localTag: "b", sequence: 1, overTLS: false) == nil)
    }

    @Test(
        arguments: ["<http://a.b>", "<tel:+1>", "<mailto:a@b>", Text("<sip:a@b;x=\(String(repeating: "y", count: Limits.requestURI))>")]
            as [Text])
    func
        `only a SIP URI that fits in a request is a target: an INVITE with another makes no dialog, and a response and a refresh with another move none`(
            contact: Text
        ) throws
    {
        #expect(Dialog(callee: try Self.invite(contact: contact), localTag: "b", sequence: 1, overTLS: false) == nil)
        let invite = try Self.invite()
        var dialog = Dialog(caller: invite, response: Self.response(200, to: invite, contact: contact), overTLS: false)
        #expect(dialog.remoteTarget.text == "sip:bob@example.com")
        dialog.refreshTarget(by: try Self.invite(contact: contact))
        #expect(dialog.remoteTarget.text == "sip:bob@example.com")
    }

    @Test(arguments: ["garbage<;", "<http://x>", "<sip:p1;lr>, <tel:1>"] as [Text])
    func `a Record-Route that names no proxy makes no dialog for a callee, and none of the way for a caller`(route: Text) throws {
        #expect(Dialog(callee: try Self.invite(recordRoutes: [route]), localTag: "b", sequence: 1, overTLS: false) == nil)
        let invite = try Self.invite(),
            dialog = Dialog(caller: invite, response: Self.response(200, to: invite, recordRoutes: [route]), overTLS: false)
        #expect(dialog.routeSet.allSatisfy { $0.uri.isSIP })
    }

    @Test func `a caller of RFC 2543 without Contact is called back at its From`() throws {
        var invite = try Self.invite(contact: nil)
        invite.via = try Via(parsing: "SIP/2.0/UDP 192.0.2.1")
        #expect(Dialog(callee: invite, localTag: "b", sequence: 1, overTLS: false)?.remoteTarget.text == invite.from.uri.text)
    }

    @Test func `a caller's dialog is made of the response, its route set in reverse`() throws {
        let invite = try Self.invite()
        let dialog = Dialog(
            caller: invite, response: Self.response(180, to: invite, recordRoutes: ["<sip:p2;lr>", "<sip:p1;lr>"]), overTLS: false)
        #expect(dialog.state == .early)
        #expect(dialog.localTag == "alice-tag" && dialog.remoteTag == "bob-tag")
        #expect(dialog.remoteTarget.text == "sip:bob@192.0.2.2")
        #expect(dialog.routeSet.map(\.uri.text) == ["sip:p1;lr", "sip:p2;lr"])
        #expect(dialog.localSequence == 7 && dialog.remoteSequence == nil)
    }

    @Test func `the 2xx confirms the early dialog and replaces route set and target`() throws {
        let invite = try Self.invite()
        var dialog = Dialog(
            caller: invite, response: Self.response(180, to: invite, recordRoutes: ["<sip:old;lr>"], contact: nil), overTLS: false)
        #expect(dialog.remoteTarget.text == "sip:bob@example.com")
        dialog.confirm(by: Self.response(200, to: invite, recordRoutes: ["<sip:new;lr>"]))
        #expect(dialog.state == .confirmed)
        #expect(dialog.routeSet.map(\.uri.text) == ["sip:new;lr"])
        #expect(dialog.remoteTarget.text == "sip:bob@192.0.2.2")
    }

    @Test func `only sips over TLS makes a dialog secure`() throws {
        for (uri, overTLS, secure) in [
            ("sips:bob@example.com", true, true), ("sips:bob@example.com", false, false), ("sip:bob@example.com", true, false),
        ] as [(Text, Bool, Bool)] {
            let invite = try Self.invite(uri: uri)
            #expect(try #require(Dialog(callee: invite, localTag: "b", sequence: 1, overTLS: overTLS)).isSecure == secure)
            #expect(Dialog(caller: invite, response: Self.response(200, to: invite), overTLS: overTLS).isSecure == secure)
        }
    }

    @Test(arguments: [
        ([] as [Text], "sip:bob@192.0.2.2", [] as [Text], "sip:bob@192.0.2.2"),
        (["<sip:p2;lr>", "<sip:p1;lr>"], "sip:bob@192.0.2.2", ["<sip:p1;lr>", "<sip:p2;lr>"], "sip:p1;lr"),
        (["<sip:p2;lr>", "<sip:p1>"], "sip:p1", ["<sip:p2;lr>", "<sip:bob@192.0.2.2>"], "sip:p1"),
    ])
    func `requests go by the route set: none, loose, strict`(recordRoutes: [Text], uri: Text, routes: [Text], nextHop: Text) throws {
        let invite = try Self.invite()
        var dialog = Dialog(caller: invite, response: Self.response(200, to: invite, recordRoutes: recordRoutes), overTLS: false)
        let bye = dialog.request(.bye, sequence: dialog.takeSequence(), via: via)
        #expect(bye.requestURI?.text == uri)
        #expect(bye.routes.map(\.text) == routes)
        #expect(dialog.nextHop.text == nextHop)
        #expect(bye.from.tag == "alice-tag" && bye.to.tag == "bob-tag" && bye.callID == "call")
        #expect(bye.cseq == CSeq(number: 8, method: .bye))
        #expect(bye.maxForwards == 70)
    }

    /// RFC 3261 §19.1.1 table 1.
    @Test(arguments: [[], ["<sip:p1;lr>"], ["<sip:p1>"]] as [[Text]])
    func `headers and method of a Contact stand in no request of the dialog`(recordRoutes: [Text]) throws {
        let invite = try Self.invite(contact: "<sip:alice@192.0.2.1;x=1?Subject=a>"),
            contact = "<sip:bob@192.0.2.2;method=INVITE;x=1?Replaces=b>" as Text
        var caller = Dialog(
            caller: invite, response: Self.response(200, to: invite, recordRoutes: recordRoutes, contact: contact), overTLS: false)
        let callee = try #require(Dialog(callee: invite, localTag: "b", sequence: 1, overTLS: false))
        #expect(caller.remoteTarget.text == "sip:bob@192.0.2.2;x=1" && callee.remoteTarget.text == "sip:alice@192.0.2.1;x=1")
        caller.refreshTarget(by: try Self.invite(contact: "<sip:bob@192.0.2.3?Subject=a>"))
        let ack = caller.request(.ack, sequence: 7, via: via)
        #expect(!ack.description.contains("?") && ack.description.contains("sip:bob@192.0.2.3"))
    }

    @Test func `an ACK has the number of its INVITE and takes none`() throws {
        let invite = try Self.invite()
        let dialog = Dialog(caller: invite, response: Self.response(200, to: invite), overTLS: false)
        #expect(dialog.request(.ack, sequence: 7, via: via).cseq == CSeq(number: 7, method: .ack))
        #expect(dialog.localSequence == 7)
    }

    @Test(arguments: [(7, false), (6, false), (8, true), (500, true)] as [(UInt32, Bool)])
    func `a request of the peer is in order when its number is higher`(number: UInt32, inOrder: Bool) throws {
        var dialog = try #require(Dialog(callee: try Self.invite(), localTag: "b", sequence: 1, overTLS: false))
        var request = try Self.invite()
        request.startLine = .request(.info, try URI(parsing: "sip:bob@192.0.2.2"))
        request.cseq = CSeq(number: number, method: .info)
        let admitted = dialog.admit(request)
        #expect(admitted == inOrder)
        #expect(dialog.remoteSequence == (inOrder ? number : 7))
    }

    @Test func `Call-ID and both tags decide which requests belong to a dialog`() throws {
        let dialog = try #require(Dialog(callee: try Self.invite(), localTag: "bob-tag", sequence: 1, overTLS: false))
        var request = try Self.invite()
        #expect(!dialog.matches(request))
        request.to.tag = "bob-tag"
        #expect(dialog.matches(request))
        request.from.tag = "somebody"
        #expect(!dialog.matches(request))
        request.from.tag = "alice-tag"
        request.callID = "other"
        #expect(!dialog.matches(request))
    }

    @Test func `a peer of RFC 2543 without a tag has a dialog too`() throws {
        let dialog = try #require(Dialog(callee: try Self.invite(fromTag: nil), localTag: "bob-tag", sequence: 1, overTLS: false))
        var request = try Self.invite(fromTag: nil)
        request.to.tag = "bob-tag"
        #expect(dialog.remoteTag.isEmpty && dialog.matches(request))
    }

    @Test func `a target refresh moves the peer, without Contact it stays`() throws {
        var dialog = try #require(Dialog(callee: try Self.invite(), localTag: "b", sequence: 1, overTLS: false))
        dialog.refreshTarget(by: try Self.invite(contact: nil))
        #expect(dialog.remoteTarget.text == "sip:alice@192.0.2.1")
        dialog.refreshTarget(by: try Self.invite(contact: "<sip:alice@192.0.2.77:5080>"))
        #expect(dialog.remoteTarget.text == "sip:alice@192.0.2.77:5080")
    }
}
