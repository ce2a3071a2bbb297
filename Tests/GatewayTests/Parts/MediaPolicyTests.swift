import Media
import Primitives
import RTP
import SDP
import SIP
import Testing
import UserAgent

@testable import Gateway

/// The media that a leg may have.
@Suite struct MediaPolicyTests {
    private static func parts(_ own: SRTPPolicy, _ called: SRTPPolicy, ice: (ICEPolicy, ICEPolicy) = (.auto, .auto)) -> Parts {
        Parts { configuration in
            (configuration.lines[0].srtp, configuration.lines[0].ice) = (own, ice.0)
            for index in 1...2 {
                (configuration.lines[index].srtp, configuration.lines[index].ice) = (called, ice.1)
                configuration.lines[index].srtpKeying = .dtls
            }
        }
    }

    private let line = CallerIdentity(user: "2000", host: Parts.domain), guest = CallerIdentity(user: "2000", host: "192.0.2.1")

    @Test(arguments: [
        (SRTPPolicy.off, SRTPPolicy.required, SRTPPolicy.required), (.optional, .required, .required), (.required, .optional, .required),
        (.off, .optional, .optional), (.optional, .off, .optional), (.off, .off, .off),
    ])
    func `a call to an application is encrypted as the stricter of the two lines wants it`(
        own: SRTPPolicy, called: SRTPPolicy, expected: SRTPPolicy
    ) {
        let parts = Self.parts(own, called), policy = parts.policy.policy(of: parts.line("9196"), calledBy: line)
        #expect(policy.srtp == expected && policy.keying == .sdes)
    }

    @Test func `a line that calls devices has its own settings, and a guest those of the called line`() {
        let parts = Self.parts(.optional, .required)
        let own = parts.policy.policy(of: parts.line("3000"), calledBy: line)
        #expect(own.srtp == .optional && own.keying == .sdes)
        let called = parts.policy.policy(of: parts.line("3000"), calledBy: guest)
        #expect(called.srtp == .required && called.keying == .dtls)
    }

    @Test(arguments: [
        (ICEPolicy.lite, ICEPolicy.auto, ICEPolicy.lite), (.auto, .lite, .lite), (.off, .lite, .off), (.lite, .off, .off),
        (.auto, .auto, .auto),
    ])
    func `one line can ask for connectivity checks, and either can forbid them`(own: ICEPolicy, called: ICEPolicy, expected: ICEPolicy) {
        let parts = Self.parts(.off, .off, ice: (own, called))
        #expect(parts.policy.policy(of: parts.line("9196"), calledBy: line).ice == expected)
    }

    @Test func `an outgoing leg is encrypted as the line of its device or trunk wants it`() {
        let parts = Parts { configuration in
            configuration.lines[1].srtp = .required
            configuration.lines.append(
                .devices("carrier") {
                    $0.endpoint = .trunk(TrunkConfiguration(address: Flow.peer(7).remote))
                    ($0.srtp, $0.ice) = (.optional, .off)
                })
        }
        func policy(_ change: (inout Destination) -> Void) -> LegMediaPolicy {
            var destination = parts.device("2000")
            destination.device = nil
            change(&destination)
            return parts.policy.policy(towards: destination, for: parts.line("2000"))
        }
        #expect(policy { _ in }.srtp == .off && policy { $0.device = "3000" }.srtp == .required)
        let trunk = policy { $0.trunk = parts.trunks.all[0] }
        #expect(trunk.srtp == .optional && trunk.ice == .off)
        let own = policy { ($0.device, $0.isToOurselves) = ("3000", true) }
        #expect(own.srtp == .optional && own.ice == .off && own.keying == .sdes)
    }

    @Test(arguments: [(ICEPolicy.off, false), (.auto, false), (.lite, true)])
    func `our description has keys where it is encrypted, and credentials with ICE-lite`(ice: ICEPolicy, has: Bool) {
        let policy = Parts().policy
        let plain = policy.localMedia(towards: .peer(1), LegMediaPolicy(srtp: .off, keying: .sdes, ice: ice), isOwn: false)
        #expect(plain.security.keys.isEmpty && plain.ice.policy == ice && (plain.ice.credentials != nil) == has)
        let secure = policy.localMedia(towards: .peer(1), LegMediaPolicy(srtp: .required, keying: .dtls, ice: ice), isOwn: false)
        #expect(!secure.security.keys.isEmpty && secure.security.keying == .dtls && secure.address == Parts.address)
    }

    @Test func `media never goes to our own ports, but for a call to ourselves`() throws {
        let parts = Parts { configuration in
            configuration.media.ports = 20_000...20_099
            configuration.media.deniedTargets = [IPNetwork("198.51.100.0/24")!]
        }
        let policy = LegMediaPolicy(srtp: .off, keying: .sdes, ice: .off)
        func admits(_ target: String, isOwn: Bool = false) throws -> Bool {
            let local = parts.policy.localMedia(towards: .peer(1), policy, isOwn: isOwn)
            return local.targets.admits(try #require(SocketAddress(target)))
        }
        #expect(try !admits("203.0.113.1:20050") && !admits("203.0.113.1:5060") && !admits("127.0.0.1:20050"))
        #expect(try admits("203.0.113.1:30000") && admits("192.0.2.1:20050") && admits("203.0.113.1:20050", isOwn: true))
        #expect(try !admits("198.51.100.7:30000", isOwn: true))
    }

    @Test(arguments: [("192.0.2.1", false), ("10.0.0.5", true)])
    func `a peer behind a NAT begins the handshake`(host: String, waits: Bool) throws {
        let policy = Parts().policy
        var negotiation = OfferAnswer(
            local: policy.localMedia(towards: .peer(1), LegMediaPolicy(srtp: .off, keying: .sdes, ice: .off), isOwn: false), sessionID: 1)
        negotiation.local.security.waits = !waits
        policy.prepareAnswer(&negotiation, over: .peer(1))
        #expect(negotiation.local.security.waits == !waits, "there is no offer")
        try negotiation.receive(offer: Array(Parts.description(host: host).utf8))
        policy.prepareAnswer(&negotiation, over: .peer(1))
        #expect(negotiation.local.security.waits == waits && negotiation.local.ice.credentials == nil)
    }

    @Test func `each offer that begins connectivity checks gets new credentials`() throws {
        let policy = Parts().policy
        var negotiation = OfferAnswer(
            local: policy.localMedia(towards: .peer(1), LegMediaPolicy(srtp: .off, keying: .sdes, ice: .auto), isOwn: false), sessionID: 1)
        var seen: [ICECredentials?] = []
        for user in ["aaaa", "bbbb"] {
            let attributes = [
                "ice-ufrag:\(user)", "ice-pwd:\(String(repeating: user, count: 6))", "candidate:1 1 udp 1 192.0.2.1 4000 typ host",
            ]
            try negotiation.receive(offer: Array(Parts.description(attributes.map { "a=\($0)\r\n" }.joined()).utf8))
            policy.prepareAnswer(&negotiation, over: .peer(1))
            seen.append(negotiation.local.ice.credentials)
            _ = try negotiation.answer(direction: .sendrecv)
        }
        #expect(seen[0] != nil && seen[1] != nil && seen[0] != seen[1])
    }

    // MARK: Comfort noise

    @Test(arguments: [
        (formats: "0 13", isOn: true, may: true), ("0", true, false), ("96", true, true), ("0 13", false, false),
    ])
    func `a callee is offered comfort noise where its caller offers it, or offers Opus alone`(formats: String, isOn: Bool, may: Bool) throws
    {
        let parts = Parts { $0.media.comfortNoise = isOn }
        try parts.register("2000")
        let body = Parts.description(formats: formats, "a=rtpmap:96 opus/48000/2\r\n")
        let caller = try #require(try parts.call(body: body))
        let callee = try #require(parts.table.callees(of: caller.uuid).first.flatMap(parts.table.leg))
        #expect(parts.policy.mayUseComfortNoise(callee, in: parts.table) == may)
        #expect(parts.policy.mayUseComfortNoise(caller, in: parts.table) == isOn, "nobody has agreed to anything yet")
    }

    @Test(arguments: [(Codec.pcmu, true, true), (.pcmu, false, false), (.opus, false, true)])
    func `a leg may use comfort noise where its peer agreed to it, or is decoded`(codec: Codec, noise: Bool, may: Bool) throws {
        let parts = Parts { $0.media.comfortNoise = true }, (caller, callee) = try parts.talk()
        var audio = NegotiatedAudio.pcmu()
        audio.codecs[0].codec = codec
        if noise { audio.comfortNoise = audio.codecs }
        callee.call.adopt(audio)
        #expect(parts.policy.mayUseComfortNoise(caller, in: parts.table) == may)
    }
}
