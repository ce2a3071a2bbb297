import CallJournal
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// Another configuration while the gateway runs: what changes, and what goes on.
@Suite struct ReloadTests: TrunkSuite {
    private static func uri(_ number: String) -> String { "sip:\(number)@hookswitch.test" }

    private static func line(_ number: Text, _ change: (inout LineConfiguration) -> Void = { _ in }) -> LineConfiguration {
        var line = LineConfiguration(number: number)
        line.isOpen = true
        change(&line)
        return line
    }

    /// Has the gateway adopt its configuration with a change.
    @discardableResult
    private func reload(_ stage: Stage, _ change: (inout GatewayConfiguration) -> Void) -> ConfigurationChange {
        var wanted = stage.gateway.configuration
        change(&wanted)
        defer { stage.run(seconds: 0.1) }
        return stage.gateway.reconfigure(wanted, at: stage.world.now)
    }

    private func register(_ peer: RawPeer, _ number: String, _ sequence: Int = 1) {
        peer.request("REGISTER", Self.uri(number), call: "register-\(number)", sequence)
    }

    // MARK: Lines

    @Test func `a line that is added is called, and one that is gone is not`() throws {
        let stage = Stage(), peer = RawPeer(stage, 1)
        peer.request("INVITE", Self.uri("9197"), call: "early", 1, body: peer.description("0"))
        #expect(peer.final(.invite, 1)?.status == 404)
        let change = reload(stage) { configuration in
            configuration.lines.removeAll { $0.number == "9196" }
            configuration.lines.append(Self.line("9197") { ($0.endpoint, $0.isOpen) = (.application(.echo), false) })
        }
        #expect(change.added == ["9197"] && change.removed == ["9196"] && change.changed.isEmpty && !change.hasOtherLimits)
        peer.request("INVITE", Self.uri("9197"), call: "new", 2, body: peer.description("0"))
        #expect(peer.final(.invite, 2)?.status == 200)
        peer.request("INVITE", Self.uri("9196"), call: "old", 3, body: peer.description("0"))
        #expect(peer.final(.invite, 3)?.status == 404)
        let told = try #require(stage.events(.configurationReloaded).first).details
        #expect(told.text(.added) == "9197" && told.text(.removed) == "9196" && told.text(.changed) == nil && told.number(.on) == 0)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a call of a line that is gone goes on, and the line may come back`() throws {
        let stage = Stage(), peer = RawPeer(stage, 1), echo = stage.gateway.configuration.lines[1]
        peer.request("INVITE", Self.uri("9196"), call: "up", 1, body: peer.description("0"))
        let answer = try #require(peer.final(.invite, 1))
        #expect(answer.status == 200)
        peer.request("ACK", Self.uri("9196"), call: "up", 1, toTag: answer.to.tag)
        reload(stage) { $0.lines.removeAll { $0.number == "9196" } }
        #expect(stage.gateway.counts(at: stage.world.now).calls == 1)
        #expect(reload(stage) { $0.lines.append(echo) }.added == ["9196"])
        peer.request("INVITE", Self.uri("9196"), call: "again", 2, body: peer.description("0"))
        #expect(peer.final(.invite, 2)?.status == 200 && stage.gateway.counts(at: stage.world.now).calls == 2)
        peer.request("BYE", Self.uri("9196"), call: "up", 2, toTag: answer.to.tag)
        #expect(peer.final(.bye, 2)?.status == 200 && stage.gateway.counts(at: stage.world.now).calls == 1)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a line that stays keeps its devices, and one that is gone has none`() throws {
        let stage = Stage { $0.lines.append(Self.line("2001")) }, devices = [RawPeer(stage, 1), RawPeer(stage, 2)]
        for (device, number) in zip(devices, ["2000", "2001"]) { register(device, number) }
        #expect(stage.gateway.registrar.counts.users == 2)
        let change = reload(stage) { configuration in
            configuration.lines.removeAll { $0.number == "2001" }
            configuration.lines[0].name = "Alice"
        }
        #expect(change.changed == ["2000"] && change.removed == ["2001"] && stage.gateway.registrar.counts.users == 1)
        let caller = RawPeer(stage, 9)
        caller.request("INVITE", Self.uri("2000"), call: "one", 1, body: caller.description("0"))
        #expect(devices[0].request(.invite) != nil)
        register(devices[1], "2001", 2)
        #expect(devices[1].final(.register, 2)?.status == 401 && stage.gateway.registrar.counts.users == 1)
    }

    @Test func `what a line refuses and how long it rings is read at the next call`() throws {
        let stage = Stage(), device = RawPeer(stage, 1), caller = RawPeer(stage, 9)
        register(device, "2000")
        reload(stage) { $0.lines[0].ringTimeout = .seconds(5) }
        caller.request("INVITE", Self.uri("2000"), call: "one", 1, body: caller.description("0"))
        device.answer(try device.received(.invite), 180)
        stage.run(seconds: 6)
        #expect(caller.final(.invite, 1)?.status == 480)
        reload(stage) { $0.lines[0].takesCalls = false }
        caller.request("INVITE", Self.uri("2000"), call: "two", 2, body: caller.description("0"))
        #expect(caller.final(.invite, 2)?.status == 403)
        reload(stage) { ($0.lines[0].takesCalls, $0.lines[0].doNotDisturb.isOn) = (true, true) }
        caller.request("INVITE", Self.uri("2000"), call: "three", 3, body: caller.description("0"))
        #expect(caller.final(.invite, 3)?.status == 480 && stage.violations.isEmpty)
    }

    @Test func `the same configuration changes nothing, and one that drains takes no other`() {
        let stage = Stage()
        #expect(reload(stage) { _ in }.isEmpty)
        stage.gateway.drain(at: stage.world.now)
        #expect(reload(stage) { $0.lines = [] }.isEmpty && stage.gateway.configuration.lines.count == 2)
    }

    @Test func `limits hold for the calls that come`() {
        let stage = Stage(), peer = RawPeer(stage, 1)
        #expect(reload(stage) { ($0.limits.legs, $0.limits.retryAfter) = (0, 17) }.hasOtherLimits)
        peer.request("INVITE", Self.uri("9196"), call: "one", 1, body: peer.description("0"))
        #expect(peer.final(.invite, 1)?.status == 503 && peer.final(.invite, 1)?.headers[.retryAfter] == "17")
        #expect(reload(stage) { $0.limits.legs = 10 }.hasOtherLimits)
        peer.request("INVITE", Self.uri("9196"), call: "two", 2, body: peer.description("0"))
        #expect(peer.final(.invite, 2)?.status == 200)
    }

    @Test func `so many lines register here, before and after another limit`() {
        let stage = Stage { configuration in
            configuration.lines.append(Self.line("2001"))
            configuration.limits.users = 1
        }
        let peer = RawPeer(stage, 1)
        func register(_ line: String, _ number: Int) -> Int? {
            peer.request("REGISTER", Self.uri(line), call: "register-\(number)", number)
            return peer.final(.register, number)?.status
        }
        #expect(register("2000", 1) == 200 && register("2001", 2) == 503)
        #expect(reload(stage) { $0.limits.users = 2 }.hasOtherLimits && register("2001", 3) == 200)
    }

    @Test func `another address of ours is told to calls that begin, and to registrars`() throws {
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50), caller = RawPeer(stage, 9)
        stage.run(seconds: 0.1)
        Self.granted(carrier, carrier.request(.register))
        let address = IPAddress("203.0.113.77")!
        #expect(try carrier.received(.register).contact?.uri.address != address)
        stage.gateway.advertise(address, at: stage.world.now)
        stage.run(seconds: 0.1)
        #expect(try carrier.received(.register).contact?.uri.address == address && carrier.heard.count { $0.isRequest } == 2)
        Self.granted(carrier, carrier.request(.register))
        caller.request("INVITE", Self.uri("9196"), call: "one", 1, body: caller.description("0"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.contact?.uri.address == address && answer.content.description.contains("c=IN IP4 203.0.113.77"))
    }

    @Test func `media goes to no port of ours at the address that peers are told now, and at the one before it may`() {
        let old = "203.0.113.76", new = "203.0.113.77", port = 20_000
        let stage = Stage { $0.advertise.address = IPAddress(Text(old)) }, peer = RawPeer(stage, 1)
        func status(_ address: String, _ call: Int) -> Int? {
            let body = peer.description(port: port).replacing("c=IN IP4 192.0.2.1", with: "c=IN IP4 \(address)")
            peer.request("INVITE", Self.uri("9196"), call: "call-\(call)", call, body: body)
            return peer.final(.invite, call)?.status
        }
        #expect(stage.gateway.configuration.media.ports.contains(UInt16(port)))
        #expect(status(old, 1) == 488 && status(new, 2) == 200)
        stage.gateway.advertise(IPAddress(Text(new))!, at: stage.world.now)
        #expect(status(old, 3) == 200 && status(new, 4) == 488)
    }

    // MARK: Trunks

    /// A trunk that has registered.
    private func registered() throws -> (stage: Stage, carrier: RawPeer) {
        let stage = Self.stage([Self.target(50)], Self.register), carrier = RawPeer(stage, 50)
        stage.run(seconds: 0.1)
        Self.granted(carrier, carrier.request(.register))
        return (stage, carrier)
    }

    private func change(_ trunk: inout LineConfiguration, _ body: (inout TrunkConfiguration) -> Void) {
        guard case .trunk(var configuration) = trunk.endpoint else { return }
        body(&configuration)
        trunk.endpoint = .trunk(configuration)
    }

    @Test func `a trunk that is as it was keeps its registration`() throws {
        let (stage, carrier) = try registered(), before = carrier.heard.count, trunk = stage.gateway.trunksInOrder[0]
        reload(stage) { $0.lines.append(Self.line("2001")) }
        #expect(carrier.heard.count == before && stage.gateway.trunksInOrder.count == 1 && stage.gateway.trunksInOrder[0] === trunk)
    }

    @Test func `a trunk that changed leaves before the other registers`() throws {
        let (stage, carrier) = try registered()
        reload(stage) { change(&$0.lines[2]) { $0.password = "other" } }
        let leaving = try carrier.received(.register)
        #expect(leaving.expires == 0 && carrier.heard.count { $0.isRequest } == 2)
        carrier.answer(leaving, 200)
        let new = try carrier.received(.register)
        #expect(new.expires == 600 && new.callID != leaving.callID && carrier.heard.count { $0.isRequest } == 3)
        Self.granted(carrier, new)
        #expect(stage.gateway.trunksInOrder[0].registrationStatus == 200 && stage.gateway.userAgent.counts.registrations == 1)
        #expect(stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a trunk that changes twice registers once, when the first has left`() throws {
        let (stage, carrier) = try registered()
        for password: Text in ["other", "third"] { reload(stage) { change(&$0.lines[2]) { $0.password = password } } }
        #expect(carrier.heard.count { $0.isRequest } == 2)
        carrier.answer(try carrier.received(.register), 200)
        #expect(carrier.heard.count { $0.isRequest } == 3)
        Self.granted(carrier, carrier.request(.register))
        #expect(stage.gateway.trunksInOrder[0].configuration.password == "third" && stage.gateway.userAgent.counts.registrations == 1)
    }

    @Test func `a trunk that is gone takes its registration back, and its calls go on`() throws {
        let (stage, carrier) = try registered(), caller = RawPeer(stage, 9)
        caller.request("INVITE", Self.uri("+39055"), call: "one", 1, body: caller.description("0"))
        let invite = try carrier.received(.invite)
        carrier.answer(invite, 200, body: carrier.description("0"))
        let answer = try #require(caller.final(.invite, 1))
        #expect(answer.status == 200)
        caller.request("ACK", Self.uri("+39055"), call: "one", 1, toTag: answer.to.tag)
        reload(stage) { $0.lines.removeLast() }
        #expect(try carrier.received(.register).expires == 0 && stage.gateway.trunksInOrder.isEmpty)
        carrier.answer(carrier.request(.register), 200)
        #expect(stage.gateway.counts(at: stage.world.now).bridges == 1)
        caller.request("INVITE", Self.uri("+39055"), call: "two", 2, body: caller.description("0"))
        #expect(caller.final(.invite, 2)?.status == 404)
        carrier.request("BYE", in: invite, 1)
        stage.run(seconds: 0.2)
        #expect(caller.request(.bye) != nil && stage.violations.isEmpty, "\(stage.violations)")
    }

    @Test func `a new trunk is looked for and registers`() throws {
        let stage = Stage(), carrier = RawPeer(stage, 50)
        var trunk = TrunkConfiguration(targets: [Self.target(50)])
        trunk.registration = .init()
        reload(stage) { $0.lines.append(Self.line("carrier") { ($0.isOpen, $0.endpoint) = (false, .trunk(trunk)) }) }
        #expect(try carrier.received(.register).expires == 600)
    }
}
