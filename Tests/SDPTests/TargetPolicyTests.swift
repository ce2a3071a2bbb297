import Primitives
import Testing

@testable import SDP

@Suite struct TargetPolicyTests {
    private func policy() -> TargetPolicy {
        var policy = TargetPolicy()
        policy.ownAddresses = [IPAddress("192.0.2.10")!, IPAddress("2001:db8::10")!]
        policy.ownPorts = [20_000...20_199, 5_060...5_060]
        return policy
    }

    @Test(arguments: [
        ("198.51.100.5:4000", true), ("198.51.100.5:20000", true), ("192.0.2.10:4000", true), ("127.0.0.1:4000", true),
        ("[2001:db8::5]:5060", true),
        ("192.0.2.10:20000", false), ("192.0.2.10:20199", false), ("192.0.2.10:5060", false), ("127.0.0.1:5060", false),
        ("127.3.2.1:20001", false),
        ("[2001:db8::10]:20000", false), ("[::1]:20000", false), ("224.0.0.1:4000", false), ("239.255.255.255:4000", false),
        ("255.255.255.255:4000", false),
        ("[ff02::1]:4000", false),
    ])
    func `nothing goes to groups, to everybody, or to ports of ours`(target: String, admits: Bool) throws {
        #expect(policy().admits(try #require(SocketAddress(target))) == admits)
    }

    @Test(arguments: [("10.1.2.3:4000", false), ("10.9.2.3:4000", true), ("172.16.0.1:4000", false), ("[2001:db8::5]:4000", false)])
    func `networks are allowed and denied, and what is denied is not allowed`(target: String, admits: Bool) throws {
        var policy = policy()
        (policy.allowed, policy.denied) = ([IPNetwork("10.0.0.0/8")!], [IPNetwork("10.1.0.0/16")!])
        #expect(policy.admits(try #require(SocketAddress(target))) == admits)
    }

    @Test func `an offer to a denied place is refused, and one that denies only its RTCP has none`() throws {
        var local = here
        local.targets.denied = [IPNetwork("198.51.100.0/24")!]
        var refusing = OfferAnswer(local: local, sessionID: 1)
        #expect(throws: NegotiationError.unusableAddress) { try refusing.receive(offer: plainOffer()) }
        local.targets = TargetPolicy()
        (local.targets.ownAddresses, local.targets.ownPorts) = ([IPAddress("198.51.100.7")!], [4000...4010])
        var own = OfferAnswer(local: local, sessionID: 1)
        #expect(throws: NegotiationError.ownMediaPort) { try own.receive(offer: plainOffer(address: "IN IP4 198.51.100.7")) }
        local.targets = TargetPolicy()
        local.targets.denied = [IPNetwork("198.51.100.0/24")!]
        var engine = OfferAnswer(local: local, sessionID: 1)
        try engine.receive(offer: plainOffer(address: "IN IP4 203.0.113.5", stream: "a=rtcp:4001 IN IP4 198.51.100.5"))
        let audio = try #require(try engine.answer().audio)
        #expect(audio.remoteRTCP == SocketAddress("203.0.113.5:4001")!)
        try engine.receive(offer: plainOffer(address: "IN IP4 0.0.0.0", version: 2))
        #expect(try engine.answer().audio?.remoteHold == .zeroAddress)
    }

    @Test func `RTCP does not go to a port of ours either`() throws {
        var local = here
        (local.targets.ownAddresses, local.targets.ownPorts) = ([IPAddress("198.51.100.5")!], [4_001...4_001, 5_060...5_060])
        for line in ["", "a=rtcp:5060"] {
            var engine = OfferAnswer(local: local, sessionID: 1)
            try engine.receive(offer: plainOffer(stream: line))
            let audio = try #require(try engine.answer().audio)
            #expect(audio.remoteRTP.port == 4_000 && audio.remoteRTCP == nil)
        }
    }
}
