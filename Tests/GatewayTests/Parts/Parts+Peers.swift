import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

extension Flow {
    /// Between the gateway and 192.0.2.`last`.
    static func peer(_ last: UInt32, _ transport: Transport = .udp, connection: UInt64 = 0) -> Flow {
        Flow(
            transport: transport, local: SocketAddress(Parts.address, port: transport.standardPort),
            remote: SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 5060), connection: connection)
    }
}

extension Parts {
    /// A request of a peer over UDP.
    /// - Parameters:
    ///   - sender: the From header without its tag.
    ///   - tag: the To tag of its dialog; nil: it belongs to none yet.
    static func request(
        _ method: SIP.Method = .invite, _ uri: String = "sip:2000@gateway.test", from sender: String = "<sip:1000@192.0.2.1>",
        to: String? = nil, call: Text = "call", _ sequence: UInt32 = 1, tag: Text? = nil, headers: [(HeaderName, Text)] = [],
        body: String = ""
    ) -> Message {
        var from = address(sender), recipient = address("<\(to ?? uri)>")
        from.tag = "tag-" + call
        recipient.tag = tag
        var request = Message.request(
            method, uri: try! URI(parsing: Text(uri)),
            via: Via(transport: "UDP", host: "192.0.2.1", port: 5060, branch: "z9hG4bK" + call + Text(sequence) + method.text), from: from,
            to: recipient, callID: call, cseq: sequence, contact: address("<sip:peer@192.0.2.1:5060>"))
        for (name, value) in headers { request.headers.append(name, value) }
        if !body.isEmpty { request.headers.append(.contentType, "application/sdp") }
        request.body = Array(body.utf8)
        return request
    }

    private static func address(_ text: String) -> NameAddress { try! NameAddress(parsing: Text(text)) }

    /// A session description with one stream, PCMU unless `formats` says otherwise.
    /// - Parameter attributes: further lines, each with its end.
    static func description(formats: String = "0", host: String = "192.0.2.1", _ attributes: String = "") -> String {
        "v=0\r\no=- 7 1 IN IP4 \(host)\r\ns=-\r\nc=IN IP4 \(host)\r\nt=0 0\r\nm=audio 4000 RTP/AVP \(formats)\r\n\(attributes)"
    }

    func receive(_ message: Message, over flow: Flow = .peer(1)) { userAgent.receive(message.serialized(), over: flow, at: context.now) }

    /// The session of an INVITE that comes in.
    func session(_ invite: Message, over flow: Flow = .peer(1), _ location: SourceLocation = #_sourceLocation) throws -> InviteSession {
        let before = sessions.count
        receive(invite, over: flow)
        return try #require(sessions.count > before ? sessions.last : nil, sourceLocation: location)
    }

    /// A device registers. Gives its request back.
    @discardableResult
    func register(
        _ number: Text, over flow: Flow = .peer(2), contact: String? = nil, _ sequence: UInt32 = 1, headers: [(HeaderName, Text)] = []
    ) throws -> Message {
        let contact = contact ?? "<sip:phone@\(flow.remote)>", uri = "sip:\(number)@gateway.test"
        var request = Self.request(
            .register, "sip:gateway.test", from: "<\(uri)>", to: uri,
            call: Text("device\(flow.remote.address.low & 0xFF)-\(flow.connection)"), sequence,
            headers: headers)
        request.headers.set(.contact, Text(contact))
        let answer = registrar.handle(request, over: flow, at: context.now)
        try #require(answer.status == 200)
        return request
    }

    /// The response of a peer to a request of ours.
    func answer(
        _ request: Message, _ status: Int, body: String = "", headers: [(HeaderName, Text)] = [], over flow: Flow = .peer(2)
    ) {
        var response = Message.response(
            to: request, status: status, toTag: "device", contact: Self.address("<sip:phone@\(flow.remote)>"))
        for (name, value) in headers { response.headers.append(name, value) }
        if !body.isEmpty { response.headers.append(.contentType, "application/sdp") }
        response.body = Array(body.utf8)
        receive(response, over: flow)
    }
}
