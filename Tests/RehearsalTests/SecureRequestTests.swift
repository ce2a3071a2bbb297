import Gateway
import Primitives
import SIP
import Testing
import UserAgent

@testable import Rehearsal

/// What is for a sips URI goes on over TLS, or not at all (RFC 3261 §26.2.2, RFC 5630).
@Suite struct SecureRequestTests {
    private final class Pushes { var count = 0 }

    private let pushes = Pushes()
    private let stage: Stage
    private let sender: RawPeer, device: RawPeer

    init() {
        let pushes = pushes
        stage = Stage { configuration, environment in
            environment.listeners = [.init(.udp, Cast.gateway), .init(.tls, Cast.gateway)]
            configuration.push.isOn = true
            environment.push = { _ in pushes.count += 1 }
            var trunk = LineConfiguration(number: "carrier")
            (trunk.match, trunk.endpoint) = (
                NumberPattern("^+"), .trunk(TrunkConfiguration(targets: [.init(host: "192.0.2.50", port: 5060)]))
            )
            configuration.lines.append(trunk)
        }
        (sender, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
    }

    private func register(_ sequence: Int = 1, contact: String? = nil) {
        device.request("REGISTER", BridgedCall.line, call: "register", sequence, headers: ["Expires: 60"], contact: contact)
    }

    /// Over a connection of its own, by TLS.
    private func ask(_ method: String, _ uri: String) {
        let body = method == "INVITE" ? sender.description() : "hello"
        let lines = [
            "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/TLS \(sender.address);branch=z9hG4bK\(method);rport", "Max-Forwards: 70",
            "From: <sips:peer@192.0.2.1>;tag=x",
            "To: <\(uri)>", "Call-ID: secure", "CSeq: 1 \(method)", "Contact: <sips:peer@\(sender.address)>",
            "Content-Type: \(method == "INVITE" ? "application/sdp" : "text/plain")", "Content-Length: \(body.utf8.count)", "", body,
        ]
        stage.network.send(
            Array(lines.joined(separator: "\r\n").utf8), over: Flow(transport: .tls, local: sender.address, remote: Cast.gateway))
        stage.run(seconds: 0.1)
    }

    private func expectNoWay(_ method: SIP.Method, _ location: SourceLocation = #_sourceLocation) {
        #expect(sender.final(method, 1)?.status == 480, sourceLocation: location)
        #expect(sender.final(method, 1)?.headers[.warning] == "380 hookswitch.test \"SIPS Not Allowed\"", sourceLocation: location)
    }

    @Test func `a MESSAGE does not go on in the clear`() {
        register()
        ask("MESSAGE", "sips:2000@hookswitch.test")
        expectNoWay(.message)
        #expect(device.request(.message) == nil)
    }

    @Test func `a call does not go to a trunk without TLS, and need not come again`() {
        ask("INVITE", "sips:+39055@hookswitch.test")
        expectNoWay(.invite)
        #expect(sender.final(.invite, 1)?.headers[.retryAfter] == nil)
    }

    @Test func `nobody is woken who is awake and cannot be reached over TLS`() {
        register(contact: "<sip:peer@\(device.address);pn-provider=acme;pn-prid=token>")
        ask("INVITE", "sips:2000@hookswitch.test")
        expectNoWay(.invite)
        #expect(pushes.count == 0)
    }

    @Test func `of the flows of a device those over TLS are taken, and no other when they fail`() throws {
        let instance = ";+sip.instance=\"<urn:uuid:1>\";reg-id="
        let lines = [
            "REGISTER \(BridgedCall.line) SIP/2.0", "Via: SIP/2.0/TLS \(device.address);branch=z9hG4bKtls", "Max-Forwards: 70",
            "From: <\(BridgedCall.line)>;tag=1",
            "To: <\(BridgedCall.line)>", "Call-ID: tls", "CSeq: 1 REGISTER",
            "Contact: <sip:peer@\(device.address);transport=tls>\(instance)1", "Content-Length: 0", "", "",
        ]
        stage.network.send(
            Array(lines.joined(separator: "\r\n").utf8), over: Flow(transport: .tls, local: device.address, remote: Cast.gateway))
        stage.run(seconds: 0.1)
        register(contact: "<sip:peer@\(device.address)>\(instance)2")
        ask("INVITE", "sips:2000@hookswitch.test")
        let invite = try device.received(.invite)
        #expect(invite.via.transport == "TLS")
        device.answer(invite, 430)
        #expect(sender.final(.invite, 1)?.status == 480 && device.heard.count { $0.isRequest && $0.method == .invite } == 1)
        stage.expectQuiet()
    }

    @Test func `whom a push wakes is not called in the clear`() {
        let contact = "<sip:peer@\(device.address);pn-provider=acme;pn-prid=token>"
        register(contact: contact)
        stage.run(seconds: 61)
        ask("INVITE", "sips:2000@hookswitch.test")
        #expect(pushes.count == 1 && sender.final(.invite, 1) == nil)
        register(2, contact: contact)
        expectNoWay(.invite)
        #expect(device.request(.invite) == nil)
        stage.expectQuiet()
    }

    @Test func `whom a call is transferred to is not called in the clear`() throws {
        let call = try stage.bridge()
        let before = call.device.heard.count
        call.fromCaller("REFER", headers: ["Refer-To: <sips:2000@hookswitch.test>"])
        #expect(call.device.heard.count == before)
        let told = try call.caller.received(.notify)
        #expect(String(decoding: told.body, as: UTF8.self).hasPrefix("SIP/2.0 480"))
    }
}
