import Primitives
import SIP
import Testing

@testable import UserAgent

/// What becomes of dialogs and transactions when the connection is gone that they came over.
@Suite struct LostConnectionTests {
    /// A network that notes what is sent and over what.
    private final class Notes: SignallingNetwork {
        var sent: [(message: Message, flow: Flow)] = []
        var closed: Set<UInt64> = []
        var hasUDP = true
        /// A connection to the peer stands already.
        var stands = false
        /// The connection that what is sent goes over; 0: nobody knows.
        var carrier: UInt64 = 0

        func send(_ bytes: [UInt8], over flow: Flow) { if let message = try? Message(parsing: bytes) { sent.append((message, flow)) } }
        func isOpen(_ flow: Flow) -> Bool { !closed.contains(flow.connection) }
        func carrier(of flow: Flow) -> UInt64 { flow.connection == 0 ? carrier : flow.connection }
        func isConnected(_ flow: Flow) -> Bool { stands && flow.connection == 0 && flow.transport.isReliable }
        func speaksUDP(with address: IPAddress) -> Bool { hasUDP }
        func last(_ summary: String) -> (message: Message, flow: Flow)? { sent.last { $0.message.summary == summary } }
    }

    private final class Callee: UserAgentDelegate {
        var session: InviteSession?
        var status = 180
        func userAgent(_ agent: UserAgent, incoming session: InviteSession, at now: Instant) {
            self.session = session
            session.respond(status: status, at: now)
        }
    }

    private let notes = Notes(), callee = Callee(), agent: UserAgent
    private let peer = IPAddress(v4: 0xC633_6407), ours = SocketAddress(IPAddress(v4: 0xC000_0202), port: 5060)

    init() {
        agent = makeAgent(UserAgentConfiguration(), notes, SeededRandom(seed: 3))
        agent.delegate = callee
    }

    private func flow(_ transport: Transport, port: UInt16 = 5070, connection: UInt64 = 0) -> Flow {
        Flow(transport: transport, local: ours, remote: SocketAddress(peer, port: port), connection: connection)
    }

    private func receive(_ request: RawRequest, over flow: Flow) { agent.receive(Array(request.text.utf8), over: flow, at: .zero) }

    private func lose(_ flow: Flow) {
        notes.closed.insert(flow.connection)
        agent.failed(flow, at: .zero)
    }

    @Test(arguments: [200, 486])
    func `an answer is owed over the connection that a request came by last, until the final one`(status: Int) {
        let first = flow(.tcp, connection: 7), second = flow(.tcp, port: 5071, connection: 8)
        let request = RawRequest(via: "SIP/2.0/TCP 198.51.100.7:5070;branch=z9hG4bKinvite")
        receive(request, over: first)
        #expect(agent.owesAnswer(over: first) && !agent.owesAnswer(over: second))
        receive(request, over: second)
        #expect(!agent.owesAnswer(over: first) && agent.owesAnswer(over: second))
        callee.session?.respond(status: status, at: .zero)
        receive(RawRequest(method: "OPTIONS", via: "SIP/2.0/TCP 198.51.100.7:5070;branch=z9hG4bKoptions"), over: first)
        #expect(!agent.owesAnswer(over: first) && !agent.owesAnswer(over: second))
    }

    /// An incoming call that is answered and acknowledged.
    private func answered(over way: Flow, contact: String, acknowledgedOver: Flow) throws -> InviteSession {
        var request = RawRequest()
        request.via = "SIP/2.0/\(way.transport.name) 198.51.100.7:5070;branch=z9hG4bKinvite"
        request.contact = contact
        receive(request, over: way)
        let session = try #require(callee.session)
        session.respond(status: 200, body: Array("v=0".utf8), at: .zero)
        (request.method, request.via) = ("ACK", "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKack")
        request.to += ";tag=\(session.localTag)"
        receive(request, over: acknowledgedOver)
        #expect(session.state == .confirmed)
        return session
    }

    private func inDialog(_ method: String, _ session: InviteSession, _ transport: Transport, contact: String? = nil) -> RawRequest {
        var request = RawRequest()
        (request.method, request.sequence, request.contact) = (method, 2, contact)
        request.via = "SIP/2.0/\(transport.name) 198.51.100.7:5070;branch=z9hG4bKagain"
        request.to += ";tag=\(session.localTag)"
        return request
    }

    @Test func `one long request over TCP does not take a call away from UDP`() throws {
        let session = try answered(over: flow(.udp), contact: "<sip:g1@10.0.0.1:32200>", acknowledgedOver: flow(.udp))
        let connection = flow(.tcp, port: 40_000, connection: 7)
        receive(inDialog("INFO", session, .tcp), over: connection)
        lose(connection)
        session.bye(at: .zero)
        #expect(notes.last("BYE")?.flow == flow(.udp), "behind a NAT only the way back works")
    }

    @Test func `who says by its Contact that it has moved to TCP has moved`() throws {
        let session = try answered(over: flow(.udp), contact: "<sip:g1@198.51.100.7:5070>", acknowledgedOver: flow(.udp))
        let connection = flow(.tcp, port: 40_000, connection: 7)
        receive(inDialog("UPDATE", session, .tcp, contact: "<sip:g1@10.0.0.1;transport=tcp>"), over: connection)
        session.bye(at: .zero)
        #expect(notes.last("BYE")?.flow == connection)
    }

    @Test(
        arguments: [
            ("<sip:g1@198.51.100.7:32200>", Transport.udp, 32_200), ("<sip:g1@198.51.100.7>", .udp, 5_060),
            ("<sip:g1@198.51.100.7:32200;transport=tcp>", .tcp, 32_200),
            ("<sip:g1@198.51.100.7:32200;transport=udp>", .udp, 32_200), ("<sip:g1@10.0.0.1:32200>", .tcp, 40_000),
        ] as [(String, Transport, UInt16)])
    func `a call that came over a connection is gone on with where its Contact says, once that is gone`(
        contact: String, transport: Transport, port: UInt16
    ) throws {
        let connection = flow(.tcp, port: 40_000, connection: 7)
        let session = try answered(over: connection, contact: contact, acknowledgedOver: flow(.udp))
        session.info(contentType: "text/plain", body: [0x61], at: .zero)
        #expect(notes.last("INFO")?.flow == connection, "as long as it lives it is used")
        lose(connection)
        session.bye(at: .zero)
        let bye = try #require(notes.last("BYE"))
        #expect(bye.flow == flow(transport, port: port))
        #expect(bye.message.via.transport == transport.name)
    }

    @Test(arguments: ["<sip:g1@198.51.100.7:32200>", "<sip:g1@198.51.100.7:32200;transport=udp>"])
    func `where no UDP is listened for, such a call is gone on with over another connection`(contact: String) throws {
        notes.hasUDP = false
        let connection = flow(.tcp, port: 40_000, connection: 7)
        let session = try answered(over: connection, contact: contact, acknowledgedOver: connection)
        lose(connection)
        session.bye(at: .zero)
        let bye = try #require(notes.last("BYE"))
        #expect(bye.flow == flow(.tcp, port: 32_200) && bye.message.via.transport == "TCP")
    }

    @Test func `a BYE whose peer has closed its side is tried once over a new connection`() throws {
        let session = try answered(
            over: flow(.tcp, port: 40_000, connection: 7), contact: "<sip:caller@198.51.100.7:5070;transport=tcp>",
            acknowledgedOver: flow(.tcp, port: 40_000, connection: 7))
        notes.closed = [7]
        notes.carrier = 9
        session.bye(at: .zero)
        agent.failed(flow(.tcp, connection: 9), at: .zero)
        #expect(notes.sent.count { $0.message.summary == "BYE" } == 1 && session.state == .ended)
    }

    private func ring(over way: Flow, via: String = "SIP/2.0/TCP 198.51.100.7:32300;branch=z9hG4bKring") -> RawRequest {
        var request = RawRequest()
        request.via = via
        receive(request, over: way)
        return request
    }

    @Test(
        arguments: [("198.51.100.7:32300", Transport.tcp, 32_300), ("198.51.100.7", .tcp, 5_060), ("198.51.100.7", .tls, 5_061)]
            as [(String, Transport, UInt16)])
    func `an answer goes to the sent-by port when the connection is gone`(sentBy: String, transport: Transport, port: UInt16) throws {
        let connection = flow(transport, port: 40_000, connection: 7)
        _ = ring(over: connection, via: "SIP/2.0/\(transport.name) \(sentBy);branch=z9hG4bKring")
        #expect(notes.last("180 INVITE")?.flow == connection)
        lose(connection)
        try #require(callee.session).respond(status: 486, at: .zero)
        #expect(notes.last("486 INVITE")?.flow == flow(transport, port: port))
    }

    @Test(arguments: [200, 180])
    func `what is repeated goes to the sent-by port when the connection is gone`(status: Int) throws {
        let connection = flow(.tcp, port: 40_000, connection: 7)
        var request = RawRequest()
        (request.via, request.headers) = ("SIP/2.0/TCP 198.51.100.7:32300;branch=z9hG4bKring", ["Require: 100rel"])
        receive(request, over: connection)
        if status == 200 { try #require(callee.session).respond(status: 200, at: .zero) }
        #expect(notes.last("\(status) INVITE")?.flow == connection)
        lose(connection)
        let count = notes.sent.count
        agent.advance(to: .zero + .milliseconds(500))
        #expect(notes.sent.count == count + 1 && notes.last("\(status) INVITE")?.flow == flow(.tcp, port: 32_300))
    }

    @Test func `an INVITE that comes again is answered over the connection that it came by`() throws {
        let (old, new) = (flow(.tcp, port: 40_000, connection: 7), flow(.tcp, port: 40_001, connection: 8))
        let request = ring(over: old)
        lose(old)
        receive(request, over: new)
        #expect(notes.last("180 INVITE")?.flow == new)
        let session = try #require(callee.session)
        session.respond(status: 200, body: Array("v=0".utf8), at: .zero)
        #expect(notes.last("200 INVITE")?.flow == new)
    }

    @Test func `a datagram from elsewhere does not take the answer away`() throws {
        let request = ring(over: flow(.udp), via: "SIP/2.0/UDP 198.51.100.7:5070;branch=z9hG4bKring")
        receive(request, over: flow(.udp, port: 6_666))
        try #require(callee.session).respond(status: 486, at: .zero)
        #expect(notes.last("486 INVITE")?.flow == flow(.udp))
    }

    @Test(arguments: [true, false])
    func `the answer to a CANCEL over a new connection does not stay behind with the old one`(isLost: Bool) throws {
        let (old, new) = (flow(.tcp, port: 40_000, connection: 7), flow(.tcp, port: 40_001, connection: 8))
        var request = ring(over: old)
        if isLost { lose(old) } else { notes.closed = [7] }
        request.method = "CANCEL"
        receive(request, over: new)
        #expect(notes.last("487 INVITE")?.flow == new)
    }

    private func call(over way: Flow, to target: Text) throws -> InviteSession {
        let us = NameAddress(uri: URI(user: "us", address: ours)), uri = try URI(parsing: target)
        return agent.invite(OutgoingInvite(target: uri, flow: way, from: us, to: NameAddress(uri: uri)), delegate: Events(), at: .zero)
    }

    private final class Events: InviteSessionDelegate {
        func session(_ session: InviteSession, did event: SessionEvent, at now: Instant) {}
    }

    private func answer(
        _ status: Int, over way: Flow, contact: Text = "<sip:device@198.51.100.7:5070;transport=tcp>", _ change: (String) -> String = { $0 }
    ) throws {
        let invite = try #require(notes.last("INVITE")).message
        var response = Message.response(to: invite, status: status, toTag: "device")
        response.append(.contact, contact)
        agent.receive(Array(change(response.description).utf8), over: way, at: .zero)
    }

    @Test func `a device whose connection goes while it rings still rings, and is cancelled over a new one`() throws {
        let (old, new) = (flow(.tcp, port: 40_000, connection: 7), flow(.tcp, port: 40_001, connection: 8))
        let session = try call(over: old, to: "sip:device@198.51.100.7:5070;transport=tcp")
        try answer(180, over: old)
        lose(old)
        #expect(session.state == .inviting)
        session.cancel(at: .zero)
        #expect(notes.last("CANCEL")?.flow == flow(.tcp))
        try answer(200, over: new)
        #expect(session.state == .answered)
    }

    @Test(arguments: ["sip:device@198.51.100.7:5070;transport=tcp", "sip:device@198.51.100.7:5070"] as [Text])
    func `a device that has closed its side of the connection is cancelled over a new one at once`(target: Text) throws {
        let old = flow(.tcp, port: 40_000, connection: 7), session = try call(over: old, to: target)
        try answer(180, over: old)
        notes.closed = [7]
        session.cancel(at: .zero)
        let cancel = try #require(notes.last("CANCEL"))
        #expect(cancel.flow == flow(.tcp) && cancel.message.via.transport == "TCP")
    }

    @Test(
        arguments: [("<sip:device@198.51.100.7:5070;transport=tcp>", .tcp), ("<sip:device@198.51.100.7:5070>", .udp)]
            as [(Text, Transport)], [true, false])
    func `a 200 that comes again over a new connection is acknowledged again where the device takes requests`(
        contact: (Text, Transport), isLost: Bool
    ) throws {
        let (old, new) = (flow(.tcp, port: 40_000, connection: 7), flow(.tcp, port: 40_001, connection: 8))
        let session = try call(over: old, to: "sip:device@198.51.100.7:5070;transport=tcp")
        try answer(200, over: old, contact: contact.0)
        session.acknowledge(at: .zero)
        #expect(notes.last("ACK")?.flow == old)
        if isLost { lose(old) } else { notes.closed = [7] }
        try answer(200, over: new, contact: contact.0)
        let again = try #require(notes.last("ACK"))
        #expect(again.flow == flow(contact.1) && again.message.via.transport == contact.1.name)
        #expect(notes.sent.count { $0.message.summary == "ACK" } == 2)
    }

    @Test func `without any response a lost connection ends the call`() throws {
        let way = flow(.tcp, port: 40_000, connection: 7), session = try call(over: way, to: "sip:device@198.51.100.7:5070;transport=tcp")
        lose(way)
        #expect(session.state == .ended)
    }

    /// Anybody can open and close many.
    @Test func `a connection that carried nothing of ours is not searched for when it is gone`() throws {
        let stranger = flow(.tcp, port: 40_000, connection: 7), caller = flow(.tcp, port: 40_001, connection: 8),
            ours = flow(.tcp, connection: 9)
        callee.status = 401
        for method in ["OPTIONS", "INVITE", "BYE"] {
            var request = RawRequest()
            (request.method, request.via) = (method, "SIP/2.0/TCP 198.51.100.7;branch=z9hG4bK\(method)")
            receive(request, over: stranger)
        }
        #expect(notes.sent.compactMap(\.message.status) == [200, 401, 481] && !agent.isInUse(stranger))
        callee.status = 180
        _ = ring(over: caller)
        notes.carrier = 9
        _ = try call(over: flow(.tcp), to: Self.trunk)
        #expect(agent.isInUse(caller) && agent.isInUse(ours) && !agent.isInUse(stranger))
        lose(caller)
        #expect(!agent.isInUse(caller) && agent.isInUse(ours))
    }

    /// As of a connection that breaks while a request is given to it.
    @Test func `of a request that nobody says the carrier of any connection may be the one, and of none when it is done`() throws {
        let stranger = flow(.tcp, port: 40_000, connection: 7), trunk = flow(.tcp, connection: 9)
        let session = try call(over: flow(.tcp), to: Self.trunk)
        #expect(agent.isInUse(stranger))
        lose(stranger)
        #expect(session.state == .inviting)
        lose(trunk)
        #expect(session.state == .ended && !agent.isInUse(stranger))
    }

    private static let trunk: Text = "sip:1002@198.51.100.7:5070;transport=tcp"

    @Test func `a request over a connection that its peer has given up is sent again over a new one, under its name`() throws {
        notes.stands = true
        let session = try call(over: flow(.tcp), to: Self.trunk), first = try #require(notes.last("INVITE")).message
        notes.stands = false
        lose(flow(.tcp, connection: 7))
        #expect(session.state == .inviting && notes.sent.count == 2)
        let again = try #require(notes.last("INVITE"))
        #expect(again.message.serialized() == first.serialized() && again.flow == flow(.tcp))
        try answer(200, over: flow(.tcp, connection: 8))
        #expect(session.state == .answered)
    }

    @Test
    func
        `a request over a connection that its peer has closed goes over a new one at once, though an answer is still owed over the old one`()
        throws
    {
        let old = flow(.tcp, connection: 7)
        (notes.stands, notes.carrier) = (true, 7)
        let session = try call(over: flow(.tcp), to: Self.trunk), first = try #require(notes.last("INVITE")).message
        _ = ring(over: old)
        (notes.closed, notes.carrier) = ([7], 9)
        agent.peerHalfClosed(old, at: .zero)
        let again = try #require(notes.last("INVITE"))
        #expect(
            notes.sent.count { $0.message.summary == "INVITE" } == 2 && again.message.serialized() == first.serialized()
                && again.flow == flow(.tcp))
        try #require(callee.session).respond(status: 486, at: .zero)
        #expect(notes.last("486 INVITE")?.flow == old)
        lose(old)
        #expect(session.state == .inviting && notes.sent.count { $0.message.summary == "INVITE" } == 2)
        try answer(200, over: flow(.tcp, connection: 9))
        #expect(session.state == .answered)
    }

    @Test
    func
        `an older connection that ends takes nothing with it that was sent over the next, and that one does, whatever address it came from`()
        throws
    {
        notes.carrier = 9
        let session = try call(over: flow(.tcp), to: Self.trunk)
        lose(flow(.tcp, connection: 7))
        #expect(session.state == .inviting && notes.sent.count == 1)
        lose(flow(.tcp, port: 40_000, connection: 9))
        #expect(session.state == .ended)
    }

    @Test func `a long request of a flow without connections keeps its name, too`() throws {
        let long = makeAgent(UserAgentConfiguration(), notes, SeededRandom(seed: 4)) { $0.longestDatagram = 300 }
        notes.stands = true
        let us = NameAddress(uri: URI(user: "us", address: ours)), uri = try URI(parsing: Self.trunk)
        let session = long.invite(
            OutgoingInvite(target: uri, flow: flow(.udp), from: us, to: NameAddress(uri: uri)), delegate: Events(), at: .zero)
        let first = try #require(notes.last("INVITE"))
        #expect(first.flow == flow(.tcp))
        long.failed(flow(.tcp, connection: 7), at: .zero)
        let again = try #require(notes.last("INVITE"))
        #expect(notes.sent.count == 2 && again.message.via == first.message.via && again.flow == first.flow && session.state == .inviting)
    }

    @Test func `a long request that a connection took goes to the next server, and not to the same one as a datagram`() throws {
        let long = makeAgent(UserAgentConfiguration(), notes, SeededRandom(seed: 4)) { $0.longestDatagram = 300 }
        notes.stands = true
        let us = NameAddress(uri: URI(user: "us", address: ours)), uri = try URI(parsing: Self.trunk)
        var invite = OutgoingInvite(target: uri, flow: flow(.udp), from: us, to: NameAddress(uri: uri))
        invite.alternatives = [NextHop(flow(.udp, port: 5_080))]
        let session = long.invite(invite, delegate: Events(), at: .zero), first = try #require(notes.last("INVITE"))
        long.advance(to: .zero + .seconds(4))
        let next = try #require(notes.last("INVITE"))
        #expect(notes.sent.count == 2 && next.flow == flow(.tcp, port: 5_080) && next.message.cseq.number > first.message.cseq.number)
        #expect(session.state == .inviting)
    }

    @Test func `what is no INVITE is not sent again: whoever has answered it remembers nothing`() throws {
        notes.stands = true
        var status: Int?
        let us = NameAddress(uri: URI(user: "us", address: ours)), uri = try URI(parsing: Self.trunk)
        agent.message(OutgoingMessage(target: uri, flow: flow(.tcp), from: us, to: NameAddress(uri: uri)), at: .zero) { answered, _, _ in
            status = answered
        }
        lose(flow(.tcp, connection: 7))
        #expect(status == 503 && notes.sent.count == 1)
    }

    @Test func `the new connection is no better: that is said`() throws {
        notes.stands = true
        let session = try call(over: flow(.tcp), to: Self.trunk)
        notes.stands = false
        lose(flow(.tcp, connection: 7))
        lose(flow(.tcp))
        #expect(session.state == .ended && notes.sent.count == 2 && agent.counts.clientTransactions == 0)
    }

    @Test func `a peer that ends every connection hears a request five times at most`() throws {
        notes.stands = true
        let session = try call(over: flow(.tcp), to: Self.trunk)
        for connection in 7...20 as ClosedRange<UInt64> { lose(flow(.tcp, connection: connection)) }
        #expect(session.state == .ended && notes.sent.count == 5)
    }

    @Test(arguments: [true, false])
    func `what was cancelled, or answered provisionally, is not sent again`(isCancelled: Bool) throws {
        notes.stands = true
        let session = try call(over: flow(.tcp), to: Self.trunk)
        if isCancelled { session.cancel(at: .zero) } else { try answer(180, over: flow(.tcp, connection: 7)) }
        lose(flow(.tcp, connection: 7))
        #expect(notes.sent.count { $0.message.summary == "INVITE" } == 1)
        #expect(session.state == (isCancelled ? .ended : .inviting))
    }

    @Test func `a flow is living as long as the network has its connection`() {
        let way = flow(.tcp, port: 40_000, connection: 7)
        #expect(agent.living(way) == way)
        lose(way)
        #expect(agent.living(way).connection == 0)
    }

    @Test(arguments: [
        ("CSeq: ", "CSeq: 1"), ("192.0.2.2:5060;branch", "192.0.2.2:5066;branch"),
        ("UDP 192.0.2.2:5060;branch", "UDP 203.0.113.9:5060;branch"),
        ("\r\nFrom:", "\r\nVia: SIP/2.0/UDP 203.0.113.9;branch=z9hG4bKother\r\nFrom:"),
    ])
    func `a response of another number, or with another Via than ours, is no answer`(old: String, new: String) throws {
        let session = try call(over: flow(.udp), to: "sip:device@198.51.100.7:5070")
        try answer(200, over: flow(.udp)) {
            #expect($0.contains(old))
            return $0.replacing(old, with: new)
        }
        #expect(session.state == .inviting)
        try answer(200, over: flow(.udp))
        #expect(session.state == .answered)
    }

    @Test func `a request that is refused without a transaction gets the same tag whenever it comes`() {
        var broken = RawRequest()
        broken.maxForwards = "many"
        receive(broken, over: flow(.udp))
        receive(broken, over: flow(.udp))
        broken.callID = "another"
        receive(broken, over: flow(.udp))
        let tags = notes.sent.compactMap { $0.message.to.tag }
        #expect(tags.count == 3 && tags[0] == tags[1] && tags[1] != tags[2])
    }
}
