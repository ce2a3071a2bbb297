import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Too much, and from strangers, in virtual time.
@Suite struct OverloadTests {
    private static func stage(trusts: [IPNetwork] = [], _ change: @escaping (inout GatewayConfiguration) -> Void) -> Stage {
        Stage({ configuration in
            configuration.access.trusted = trusts
            configuration.access.guests = [IPNetwork("0.0.0.0/0")!]
            change(&configuration)
        })
    }

    private static func calls(_ count: Int, _ peer: RawPeer, from first: Int = 1) -> [Int?] {
        (first..<(first + count)).map { number in
            peer.request(
                "INVITE", "sip:9196@gateway.test", call: "c\(peer.address.address.low)n\(number)", number, body: peer.description())
            return peer.final(.invite, number)?.status
        }
    }

    @Test func `calls beyond the rate are refused for now, and counted, and others later are not`() throws {
        let stage = Self.stage { $0.limits.callsPerSecond = 2 }
        let peer = RawPeer(stage, 9)
        // A tenth of a second apart: 2 at once, and one more for each half second.
        let statuses = Self.calls(10, peer)
        #expect(statuses.prefix(2) == [200, 200] && statuses.filter { $0 == 200 }.count <= 4 && statuses.filter { $0 == 503 }.count >= 6)
        #expect(peer.final(.invite, 3)?.headers[.retryAfter] == "5")
        #expect(stage.gateway.refusals.map(\.cause) == ["call-rate"])
        stage.run(seconds: 2)
        #expect(Self.calls(1, peer, from: 50) == [200])
    }

    @Test func `a trusted peer may call as often as it likes`() throws {
        let stage = Self.stage(trusts: [IPNetwork("192.0.2.0/24")!]) {
            $0.limits.callsPerSecond = 1
            $0.limits.requestsPerSource = 1
        }
        #expect(Self.calls(10, RawPeer(stage, 9)).allSatisfy { $0 == 200 })
        #expect(stage.gateway.refusals.isEmpty)
    }

    @Test func `one source's requests are limited, and another's are not`() throws {
        let stage = Self.stage { $0.limits.requestsPerSource = 1 }
        let flood = RawPeer(stage, 9), other = RawPeer(stage, 8)
        let statuses = (1...20).map { number -> Int? in
            flood.request("OPTIONS", "sip:gateway.test", call: "o\(number)", number)
            return flood.final(.options, number)?.status
        }
        #expect(statuses.first == 200 && statuses.filter { $0 == 503 }.count >= 15)
        other.request("OPTIONS", "sip:gateway.test", call: "other", 1)
        #expect(other.final(.options, 1)?.status == 200)
        #expect(stage.gateway.refusals.map(\.cause) == ["source"])
    }

    @Test func `who asks whether we are there while no new call is taken hears when to ask again`() {
        let stage = Stage { $0.limits.retryAfter = 7 }, peer = RawPeer(stage, 9)
        stage.gateway.drain(at: stage.world.now)
        peer.request("OPTIONS", "sip:gateway.test", call: "there", 1)
        let answer = peer.final(.options, 1)
        #expect(answer?.status == 503 && answer?.headers[.retryAfter] == "7")
    }

    @Test func `what belongs to a call is listened to however much else comes`() throws {
        let stage = Self.stage { $0.limits.requestsPerSource = 1 }
        let peer = RawPeer(stage, 9)
        #expect(Self.calls(1, peer) == [200])
        let tag = try #require(peer.final(.invite, 1)?.to.tag)
        let call = "c\(peer.address.address.low)n1"
        for number in 2...20 { peer.request("OPTIONS", "sip:gateway.test", call: "o\(number)", number) }
        peer.request("ACK", "sip:9196@gateway.test", call: call, 1, toTag: tag)
        peer.request("BYE", "sip:9196@gateway.test", call: call, 30, toTag: tag)
        #expect(peer.final(.bye, 30)?.status == 200)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a moment in which nothing was read refuses nobody`() {
        let stage = Self.stage { _ in }, peer = RawPeer(stage, 9)
        for number in 1...5 {
            stage.network.backlog = .milliseconds(500)
            #expect(Self.calls(1, peer, from: 2 * number) == [200])
            stage.network.backlog = .zero
            #expect(Self.calls(1, peer, from: 2 * number + 1) == [200])
        }
        #expect(stage.gateway.refusals.isEmpty)
    }

    @Test func `requests are refused while all lies unread for too long, whoever sent them, and what belongs to a call is not`() throws {
        let stage = Self.stage(trusts: [IPNetwork("192.0.2.0/24")!]) { _ in }, peer = RawPeer(stage, 9)
        stage.network.backlog = .milliseconds(200)
        #expect(Self.calls(1, peer) == [200])
        stage.network.backlog = .milliseconds(201)
        #expect(Self.calls(2, peer, from: 5) == [200, 200], "not before it has lasted")
        #expect(Self.calls(3, peer, from: 10) == [503, 503, 503])
        #expect(peer.final(.invite, 10)?.headers[.retryAfter] == "5")
        peer.request("REGISTER", "sip:2000@gateway.test", call: "phone", 20)
        peer.request("OPTIONS", "sip:gateway.test", call: "alive", 21)
        #expect(peer.final(.register, 20)?.status == 503 && peer.final(.options, 21)?.status == 200)
        let tag = try #require(peer.final(.invite, 1)?.to.tag), call = "c\(peer.address.address.low)n1"
        peer.request("ACK", "sip:9196@gateway.test", call: call, 1, toTag: tag)
        peer.request("BYE", "sip:9196@gateway.test", call: call, 30, toTag: tag)
        #expect(peer.final(.bye, 30)?.status == 200)
        #expect(stage.gateway.refusals.map(\.cause) == ["backlog"] && stage.gateway.refusals.first?.count == 4)
        #expect(stage.events(.overload).map { $0.details.text(.cause) } == ["backlog"])
        stage.network.backlog = .zero
        #expect(Self.calls(1, peer, from: 40) == [200])
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test(arguments: [(500, 800), (500, 1_999), (1_000, 400), (3, 250)] as [(Int, Int64)])
    func `so many calls a second are let in, however close together they come`(rate: Int, microseconds: Int64) {
        var limits = GatewayConfiguration.Limits()
        limits.callsPerSecond = rate
        var keeper = RateControl(limits)
        let seconds: Int64 = 20, count = seconds * 1_000_000 / microseconds
        let admitted = (0..<count).count { keeper.admitsCall(at: .zero + .microseconds($0 * microseconds)) }
        let due = Int(seconds) * rate + rate
        #expect((due - rate / 10 - 3...due).contains(admitted) || admitted == count, "\(admitted) of \(count), and \(due) were due")
    }

    @Test func `what was too late once is forgotten when nothing comes any more`() {
        var keeper = RateControl(GatewayConfiguration.Limits())
        keeper.note(backlog: .milliseconds(300), at: .zero)
        #expect(!keeper.isBehind(at: .zero + .milliseconds(500)), "it has to last")
        keeper.note(backlog: .milliseconds(300), at: .zero + .milliseconds(500))
        #expect(keeper.isBehind(at: .zero + .milliseconds(600)) && !keeper.isBehind(at: .zero + .milliseconds(1_500)))
        keeper.note(backlog: .milliseconds(100), at: .zero + .milliseconds(600))
        #expect(!keeper.isBehind(at: .zero + .milliseconds(600)))
    }

    @Test func `nobody is refused for lying unread where no limit is wanted`() {
        let stage = Self.stage { $0.limits.backlog = .zero }
        stage.network.backlog = .seconds(5)
        #expect(Self.calls(1, RawPeer(stage, 9)) == [200])
    }

    @Test func `a stranger hears nothing where that is wanted, and who names a line is asked for its password`() throws {
        let stage = Self.stage { configuration in
            configuration.access.guests = [IPNetwork("192.0.2.8/32")!]
            configuration.access.isSilent = true
            var line = LineConfiguration(number: "1001")
            line.password = "secret"
            configuration.lines.append(line)
        }
        let stranger = RawPeer(stage, 9), guest = RawPeer(stage, 8)
        stranger.request("OPTIONS", "sip:100@gateway.test", call: "scan", 1)
        stranger.request("INVITE", "sip:9196@gateway.test", call: "scan2", 2, body: stranger.description())
        stranger.request("REGISTER", "sip:8888@gateway.test", call: "scan3", 3)
        stranger.request("BYE", "sip:9196@gateway.test", call: "scan4", 4, toTag: "guessed")
        stranger.request("CANCEL", "sip:9196@gateway.test", call: "scan5", 5)
        stranger.request("OPTIONS", "sip:9196@gateway.test", call: "scan6", 6, headers: ["Max-Forwards: many"])
        stage.run(seconds: 1)
        #expect(stranger.heard.isEmpty)
        stranger.request("REGISTER", "sip:1001@gateway.test", call: "phone", 4)
        #expect(stranger.final(.register, 4)?.status == 401)
        guest.request("OPTIONS", "sip:100@gateway.test", call: "hello", 1)
        guest.request("OPTIONS", "sip:9196@gateway.test", call: "torn", 2, headers: ["Max-Forwards: many"])
        #expect(guest.final(.options, 1)?.status == 200 && guest.final(.options, 2)?.status == 400)
        #expect(stage.gateway.refusals.map(\.cause) == ["stranger", "malformed"] && stage.gateway.refusals.first?.count == 6)
    }

    @Test func `where a stranger hears nothing, no ping tells him that we are here, and no lack of time`() {
        let stage = Self.stage { configuration in
            configuration.access.guests = [IPNetwork("192.0.2.8/32")!]
            configuration.access.isSilent = true
        }
        let stranger = RawPeer(stage, 9)
        let answers = ([8, 9] as [UInt32]).map { last in
            let remote = SocketAddress(IPAddress(v4: 0xC000_0200 + last), port: 40_000)
            return stage.gateway.answersPing(
                over: Flow(transport: .tcp, local: Cast.gateway, remote: remote, connection: 7), at: stage.world.now)
        }
        #expect(answers == [true, false])
        stage.network.backlog = .seconds(1)
        for number in 1...9 { stranger.request("REGISTER", "sip:8888@gateway.test", call: "scan", number) }
        #expect(stranger.heard.isEmpty && stage.gateway.refusals.map(\.cause) == ["stranger"])
    }

    @Test func `sources are kept in mind, and not for ever and not without end`() {
        var limits = GatewayConfiguration.Limits()
        limits.requestsPerSource = 1
        var keeper = RateControl(limits)
        for number in 0..<30_000 { _ = keeper.admitsRequest(from: IPAddress(v4: UInt32(number)), at: .zero) }
        #expect((SourceRates.limit / 4 * 3...SourceRates.limit).contains(keeper.sourceCount))
        for number in 40_000..<45_000 { _ = keeper.admitsRequest(from: IPAddress(v4: UInt32(number)), at: .zero + .seconds(60)) }
        #expect(keeper.sourceCount <= 5_000, "those that were quiet are forgotten")
        // One subnet is one source.
        var one = RateControl(limits)
        for number in 0..<100 { _ = one.admitsRequest(from: IPAddress(v6High: 0x2001_0DB8_0000_0000, low: UInt64(number)), at: .zero) }
        #expect(one.sourceCount == 1 && one.counts[.source] == 98)
    }

    @Test func `a media port that another program has costs that call 503 and a time to come again, and is counted`() throws {
        let play = MappingPlay()
        play.stage.media.bindFailures = 1_000
        play.invite()
        play.device.answer(try play.called, 200, body: play.device.description("0"))
        #expect(play.device.request(.ack) != nil)
        play.device.answer(try play.device.received(.bye), 200)
        #expect(play.answer?.status == 503 && play.answer?.headers[.retryAfter] == "5")
        #expect(play.stage.gateway.refusals.contains { $0 == ("port-taken", 1) })
        #expect(play.stage.events(.overload).contains { $0.details.text(.cause) == "port-taken" })
        play.finish()
    }
}
