import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Under which names devices register (RFC 3261 §10.3).
@Suite struct RegistrarDomainTests {
    private func status(_ uri: String, to record: String? = nil, aliases: [Text]?) -> Int? {
        let stage = Stage { $0.aliases = aliases }, device = RawPeer(stage, 2)
        device.request("REGISTER", uri, call: "register", 1)
        if let record {
            let lines = [
                "REGISTER \(uri) SIP/2.0", "Via: SIP/2.0/UDP \(device.address);branch=z9hG4bKrecord", "From: <\(record)>;tag=a",
                "To: <\(record)>",
            ]
            device.send(
                Array(
                    (lines + ["Call-ID: other", "CSeq: 7 REGISTER", "Contact: <sip:peer@\(device.address)>", "Content-Length: 0", "", ""])
                        .joined(separator: "\r\n").utf8))
            return device.final(.register, 7)?.status
        }
        return device.final(.register, 1)?.status
    }

    @Test(arguments: [
        ("sip:2000@hookswitch.test", 200), ("sip:2000@HOOKSWITCH.test", 200), ("sip:2000@pbx.example.test", 200),
        ("sip:2000@localhost", 200),
        ("sip:2000@203.0.113.1", 200), ("sip:2000@192.168.7.7", 200), ("sip:2000@[2001:db8::1]", 200), ("sip:2000@elsewhere.test", 404),
    ])
    func `a device registers under a name of ours or an address, and under no other name`(uri: String, status: Int) {
        #expect(self.status(uri, aliases: ["pbx.example.test"]) == status)
        #expect(self.status(uri, aliases: nil) == 200, "any name")
    }

    @Test func `the request and the address of record are both looked at`() {
        #expect(status("sip:hookswitch.test", to: "sip:2000@hookswitch.test", aliases: []) == 200)
        #expect(status("sip:hookswitch.test", to: "sip:2000@elsewhere.test", aliases: []) == 404)
        #expect(status("sip:elsewhere.test", to: "sip:2000@hookswitch.test", aliases: []) == 404)
    }
}
