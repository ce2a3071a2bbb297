import Foundation
import Primitives
import SIP
import Synchronization
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// A trunk of gateways that share a store: one registers it and checks its servers, and the others know what it knows.
@Suite struct TrunkLeaseTests: TrunkSuite {
    /// The store as far as trunks go; a test says who has which.
    private final class Leases: LineStore {
        private let asked = Mutex<[[String]]>([]), states = Mutex<[TrunkState]>([])
        var leasesTrunks: Bool { true }

        func keep(_ change: LineChange) { if case .trunk("carrier", let state) = change { states.withLock { $0.append(state) } } }
        func contend(for trunks: [String]) { asked.withLock { $0.append(trunks) } }

        var contentions: [[String]] { asked.withLock(\.self) }
        var told: [TrunkState] { states.withLock(\.self) }
    }

    private let leases = Leases()

    private func start(_ targets: [UInt32] = [50], _ change: @escaping (inout TrunkConfiguration) -> Void = register) -> Stage {
        Stage { configuration, environment in
            var trunk = TrunkConfiguration(targets: targets.map { Self.target($0, priority: Int($0)) }),
                line = LineConfiguration(number: "carrier")
            (trunk.user, trunk.password) = ("account", "secret")
            change(&trunk)
            (line.match, line.endpoint) = (NumberPattern("^+"), .trunk(trunk))
            configuration.lines.append(line)
            environment.store = leases
        }
    }

    private func give(_ stage: Stage, to node: String, _ state: TrunkState = TrunkState()) {
        stage.gateway.adopt([TrunkLease(trunk: "carrier", node: node, isOurs: node == "a", state: state)], at: stage.world.now)
        stage.run(seconds: 0.1)
    }

    private func summary(_ stage: Stage) -> TrunkSummary { stage.gateway.trunkSummaries(at: stage.world.now)[0] }
    private func causes(_ stage: Stage) -> [Text] { stage.events(.trunkState).compactMap { $0.details.text(.cause) } }

    @Test func `who has the lease registers, and nobody else`() throws {
        let stage = start(), carrier = RawPeer(stage, 50)
        stage.run(seconds: 60)
        #expect(leases.contentions == [["carrier"]] && carrier.heard.isEmpty && summary(stage).registration == .unregistered)
        #expect(!summary(stage).isHeld && summary(stage).node == nil)
        give(stage, to: "a")
        let register = try #require(carrier.request(.register))
        #expect(register.expires == 600 && summary(stage).isHeld && summary(stage).node == "a")
        Self.granted(carrier, register)
        #expect(summary(stage).registration == .registered && leases.told.last == TrunkState(isRegistered: true, status: 200))
        #expect(causes(stage) == ["resolved", "held", "registered"])
        let told = leases.told.count, heard = carrier.heard.count
        give(stage, to: "a", TrunkState(isRegistered: true, status: 200))
        #expect(carrier.heard.count == heard && leases.told.count == told, "nothing is new")
        give(stage, to: "a")
        #expect(carrier.heard.count == heard && leases.told.count == told + 1, "the row is not as it was told")
        stage.run(seconds: 550)
        #expect((carrier.request(.register)?.cseq.number ?? 0) > register.cseq.number, "a store that says nothing stops nobody")
    }

    @Test func `who loses the lease takes its registration back, and registers again when it has it again`() throws {
        let stage = start(), carrier = RawPeer(stage, 50)
        give(stage, to: "a")
        Self.granted(carrier, carrier.request(.register))
        give(stage, to: "b", TrunkState(isRegistered: true, status: 200))
        let last = try #require(carrier.request(.register))
        #expect(last.expires == 0 && !summary(stage).isHeld && summary(stage).registration == .registered, "the other one is")
        let told = leases.told.count
        give(stage, to: "a")
        #expect(carrier.request(.register)?.cseq == last.cseq, "one after the other")
        carrier.answer(last, 200)
        let again = try #require(carrier.request(.register))
        #expect(again.expires == 600 && again.callID != last.callID)
        Self.granted(carrier, again)
        #expect(summary(stage).registration == .registered && leases.told.count > told)
        #expect(stage.events(.trunkState).compactMap { $0.details.text(.node) } == ["a", "b", "a"])
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `calls of a gateway that is not registered go where the one that is would send them`() throws {
        let stage = start([50, 51]), silent = RawPeer(stage, 50), carrier = RawPeer(stage, 51), caller = RawPeer(stage, 9)
        let state = TrunkState(isRegistered: true, status: 200, routes: ["<sip:192.0.2.51;lr>"], silent: ["udp:192.0.2.50:5060"])
        give(stage, to: "b", state)
        #expect(summary(stage).servers.map(\.isDown) == [true, false])
        caller.request("INVITE", "sip:+39055@gateway.test", call: "one", 1, body: caller.description())
        let invite = try #require(carrier.request(.invite))
        #expect(invite.routes.map(\.text) == ["<sip:192.0.2.51;lr>"] && silent.heard.isEmpty && carrier.request(.register) == nil)
        Self.challenge(carrier, invite, 407)
        #expect(Self.isProven(carrier.request(.invite), .proxyAuthorization))
        give(stage, to: "b", TrunkState(isRegistered: true, status: 200))
        #expect(summary(stage).servers.map(\.isDown) == [false, false])
    }

    @Test func `a call that comes from the carrier is taken by who is not registered, too`() throws {
        let stage = start([50]) { trunk in
            Self.register(&trunk)
            trunk.incoming = "2000"
        }
        let carrier = RawPeer(stage, 50), device = RawPeer(stage, 2)
        give(stage, to: "b", TrunkState(isRegistered: true, status: 200))
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
        carrier.request("INVITE", "sip:account@gateway.test", call: "in", 1, body: carrier.description())
        #expect(device.request(.invite) != nil)
    }

    @Test func `who has the lease checks the servers, and tells which are silent`() throws {
        let stage = start([50, 51]) { $0.health = .seconds(60) }, first = RawPeer(stage, 50), second = RawPeer(stage, 51)
        stage.run(seconds: 120)
        #expect(first.heard.isEmpty && second.heard.isEmpty)
        give(stage, to: "a")
        first.answer(first.request(.options), 503)
        second.answer(second.request(.options), 200)
        #expect(leases.told.last?.silent == ["udp:192.0.2.50:5060"])
        stage.run(seconds: 60)
        first.answer(first.request(.options), 200)
        second.answer(second.request(.options), 200)
        #expect(leases.told.last?.silent == [])
        give(stage, to: "b")
        let heard = first.heard.count
        stage.run(seconds: 180)
        #expect(first.heard.count == heard)
    }

    @Test func `a gateway that drains gives the lease up, and takes no other`() throws {
        let stage = start(), carrier = RawPeer(stage, 50)
        give(stage, to: "a")
        Self.granted(carrier, carrier.request(.register))
        stage.gateway.drain(at: stage.world.now)
        stage.run(seconds: 0.1)
        let last = try #require(carrier.request(.register))
        #expect(leases.contentions == [["carrier"], []] && last.expires == 0)
        carrier.answer(last, 200)
        give(stage, to: "a")
        #expect(carrier.request(.register)?.cseq == last.cseq)
        stage.expectQuiet()
    }

    @Test(arguments: [true, false]) func `who has no answer from the carrier lets another gateway try, and asks again later`(
        registers: Bool
    ) {
        let stage = start { trunk in
            if registers { Self.register(&trunk) } else { trunk.health = .seconds(10) }
        }
        give(stage, to: "a")
        stage.run(seconds: 61)
        #expect(leases.contentions == [["carrier"]], "an answer may still come")
        stage.run(seconds: 4)
        #expect(leases.contentions == [["carrier"], []] && causes(stage).last == "stands-back")
        give(stage, to: "b")
        #expect(!summary(stage).isHeld)
        stage.run(seconds: 55)
        #expect(leases.contentions.count == 2)
        stage.run(seconds: 4)
        #expect(leases.contentions == [["carrier"], [], ["carrier"]])
        stage.run(seconds: 300)
        #expect(leases.contentions.count == 3, "it has no lease")
    }

    @Test func `a carrier that answers at last keeps the trunk where it is, and so does one that refuses`() throws {
        let stage = start(), carrier = RawPeer(stage, 50)
        give(stage, to: "a")
        stage.run(seconds: 10)
        carrier.answer(carrier.request(.register), 403)
        stage.run(seconds: 55)
        #expect(leases.contentions == [["carrier"]] && summary(stage).isHeld)
        let late = start(), found = RawPeer(late, 50)
        give(late, to: "a")
        late.run(seconds: 65)
        #expect(leases.contentions == [["carrier"], ["carrier"], []])
        Self.granted(found, found.request(.register))
        late.run(seconds: 0.1)
        #expect(leases.contentions.last == ["carrier"] && summary(late).registration == .registered, "nobody else has taken it")
    }

    @Test func `a trunk of each gateway has no lease, nor has one that is neither registered nor checked`() throws {
        let each = start { trunk in
            Self.register(&trunk)
            trunk.isOfEachNode = true
        }
        let carrier = RawPeer(each, 50)
        each.run(seconds: 0.1)
        #expect(carrier.request(.register) != nil && summary(each).isHeld && leases.contentions == [[]])
        let plain = start { _ in }
        #expect(summary(plain).isHeld && leases.contentions == [[], []])
    }

    @Test func `a trunk that is configured anew keeps the lease`() throws {
        let stage = start(), carrier = RawPeer(stage, 50)
        give(stage, to: "a")
        Self.granted(carrier, carrier.request(.register))
        var configuration = stage.gateway.configuration
        let place = try #require(configuration.lines.firstIndex { $0.number == "carrier" })
        guard case .trunk(var trunk) = configuration.lines[place].endpoint else { return }
        trunk.caller = "+39055"
        configuration.lines[place].endpoint = .trunk(trunk)
        stage.gateway.reconfigure(configuration, at: stage.world.now)
        stage.run(seconds: 0.1)
        carrier.answer(carrier.request(.register), 200)
        Self.granted(carrier, carrier.request(.register))
        #expect(summary(stage).isHeld && summary(stage).registration == .registered && carrier.request(.register)?.expires == 600)
    }
}
