import Audio
import Primitives
import SDP
import SIP
import Testing

@testable import Gateway

/// What follows from a configuration, before there is a gateway.
@Suite struct GatewayConfigurationTests {
    @Test func `our offers describe Opus, and the other codecs as they are`() throws {
        var media = GatewayConfiguration.Media()
        (media.opus.forwardErrorCorrection, media.opus.discontinuous) = (true, true)
        #expect(media.offered.map(\.name) == media.codecs.map(\.name))
        let described = OpusParameters(try #require(media.offered.first { $0.matches(.opus) }).fmtp)
        #expect(described.usesForwardErrorCorrection && described.prefersDiscontinuous)
        #expect(media.offered.filter { !$0.matches(.opus) } == media.codecs.filter { !$0.matches(.opus) })
        (media.opus.forwardErrorCorrection, media.opus.discontinuous) = (false, false)
        #expect(media.offered.first { $0.matches(.opus) }?.fmtp == nil)
    }

    @Test func `session timers have the interval that is asked for, and the least that is taken`() {
        var sip = GatewayConfiguration.Signalling()
        (sip.sessionTimer, sip.leastSessionInterval) = (SessionTimer.Policy(interval: 600), 300)
        #expect(sip.timerPolicy == SessionTimer.Policy(interval: 600, minimum: 300))
        sip.leastSessionInterval = 900
        #expect(sip.timerPolicy?.interval == 900, "never shorter than the least")
        sip.sessionTimer = nil
        #expect(sip.timerPolicy == nil)
    }

    @Test func `an asserted identity is believed from the networks that are named, and from nobody else`() {
        var access = GatewayConfiguration.Access()
        #expect(!access.believes(.loopback))
        access.asserting = [IPNetwork("10.0.0.0/8")!, IPNetwork("2001:db8::/32")!]
        let believed = ["10.9.9.9", "2001:db8::1", "11.0.0.1", "127.0.0.1"].map { access.believes(IPAddress($0)!) }
        #expect(believed == [true, true, false, false])
    }

    @Test func `guests are those on this machine, unless somebody says otherwise`() {
        let guests = GatewayConfiguration.Access().guests
        let admitted = ["127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "::2"].map { address in
            guests.contains { $0.contains(IPAddress(address)!) }
        }
        #expect(admitted == [true, true, true, false, false])
    }

    @Test func `applications are named as a configuration file names them`() {
        let all: [LineEndpoint.Application] = [.echo, .tone, .conference, .record(greeting: nil)]
        #expect(all.allSatisfy { LineEndpoint.Application.names.contains($0.name) } && Set(all.map(\.name)).count == 4)
        #expect(LineEndpoint.Application.names == ["echo", "tone", "conference", "playback", "record", "menu", "queue", "stream"])
    }

    @Test(
        arguments: [
            (nil, nil, "gw.carrier.test", 5_080, "1001"), ("carrier.test", nil, "carrier.test", nil, "1001"),
            ("carrier.test", "acme", "carrier.test", nil, "acme"),
        ] as [(Text?, Text?, Text, UInt16?, Text)])
    func `a trunk's address of record has its domain, or its first server with its port`(
        domain: Text?, user: Text?, host: Text, port: UInt16?, contact: Text
    ) {
        var trunk = TrunkConfiguration(targets: [.init(host: "gw.carrier.test", port: 5_080), .init(host: "gw2.carrier.test")])
        (trunk.domain, trunk.user) = (domain, user)
        #expect(trunk.recordHost.host == host && trunk.recordHost.port == port && trunk.contactUser(line: "1001") == contact)
    }

    @Test func `a trunk at an address has one target, and a number that a rule leaves nothing of stays`() throws {
        let trunk = TrunkConfiguration(address: SocketAddress("[2001:db8::1]:5062")!)
        #expect(trunk.targets == [.init(host: "2001:db8::1", port: 5_062)])
        let rules = [
            NumberRewrite(pattern: try #require(NumberPattern("12*")), strip: 9),
            NumberRewrite(pattern: try #require(NumberPattern("1*")), prefix: "+"),
        ]
        #expect(rules.rewritten("123") == "123" && rules.rewritten("13") == "+13" && rules.rewritten("2") == "2")
        #expect(([] as [NumberRewrite]).rewritten("1") == "1")
    }
}
