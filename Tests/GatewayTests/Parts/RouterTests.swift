import Foundation
import Primitives
import Runtime
import SIP
import Testing
import UserAgent

@testable import Gateway

/// The destinations of a call to a line.
@Suite struct DestinationTests {
    private static let udp = Transports.Listener(.udp, SocketAddress(Parts.address, port: 5060))
    private static let tls = Transports.Listener(.tls, SocketAddress(Parts.address, port: 5061))
    private let caller = CallerIdentity(user: "1000", host: "192.0.2.1")

    private func destinations(_ parts: Parts, _ number: Text = "2000", isSecure: Bool = false) -> [Destination] {
        parts.router.destinations(of: parts.line(number), dialled: number, caller: caller, maxForwards: 12, isSecure: isSecure)
    }

    /// The last bytes of the addresses.
    private func places(_ destinations: [Destination]) -> [UInt64] { destinations.map { $0.flow.remote.address.low & 0xFF } }

    @Test func `devices are called in the order of their registration, the newest first and silent ones last`() throws {
        let parts = Parts()
        for last in 2...4 as ClosedRange<UInt32> {
            parts.wait(.seconds(1))
            try parts.register("2000", over: .peer(last))
        }
        #expect(places(destinations(parts)) == [4, 3, 2])
        let newest = parts.registrar.contacts(of: "2000", at: parts.context.now)[0]
        parts.registrar.note(isAnswered: false, newest.target, of: "2000", registered: newest.refreshed, at: parts.context.now)
        let found = destinations(parts)
        #expect(places(found) == [3, 2, 4] && found.map(\.isSilent) == [false, false, true])
        #expect(found[0].addressOfRecord.text == "sip:2000@gateway.test" && found[0].device == "2000" && found[0].maxForwards == 12)
    }

    @Test func `two bindings with one target and flow are called once`() throws {
        let parts = Parts()
        try parts.register("2000", contact: "<sip:phone@192.0.2.2:5060>", 1)
        try parts.register("2000", contact: "<sip:phone@192.0.2.2:5060?Subject=x>", 2)
        #expect(parts.registrar.contacts(of: "2000", at: parts.context.now).count == 2 && destinations(parts).count == 1)
    }

    @Test(arguments: [([], "2", "1"), ([2], "1", "0"), ([1, 2], "0", "0")] as [(Set<UInt64>, String, String)])
    func `a device with several flows is called over the newest that lives, and keeps the others`(
        closed: Set<UInt64>, first: String, second: String
    ) throws {
        let parts = Parts()
        for flow in 1...2 as ClosedRange<UInt64> {
            parts.wait(.seconds(1))
            let contact = "<sip:phone@192.0.2.2:5060;transport=tcp;flow=\(flow)>;+sip.instance=\"<urn:a>\";reg-id=\(flow)"
            try parts.register("2000", over: .peer(2, .tcp, connection: flow), contact: contact)
        }
        parts.wire.closed = closed
        let device = try #require(destinations(parts).first)
        #expect(destinations(parts).count == 1 && "\(device.flow.connection)" == first)
        #expect(device.otherFlows.map { "\($0.flow.connection)" } == [second])
        #expect(device.overNextFlow.map { "\($0.flow.connection)" } == second && device.overNextFlow?.otherFlows.isEmpty == true)
    }

    @Test func `a call that is to be secure goes over TLS alone`() throws {
        let parts = Parts(listeners: [Self.udp, Self.tls]) { configuration in
            var trunk = TrunkConfiguration(targets: [.init(host: "192.0.2.7", transport: .tls), .init(host: "192.0.2.8")])
            trunk.targets[1].priority = 1
            configuration.lines.append(.devices("carrier") { $0.endpoint = .trunk(trunk) })
        }
        try parts.register("2000", over: .peer(2))
        try parts.register("2000", over: .peer(3, .tls, connection: 1), contact: "<sips:phone@192.0.2.3:5060>")
        #expect(places(destinations(parts)).count == 2 && places(destinations(parts, isSecure: true)) == [3])
        parts.trunks.start()
        let (plain, secure) = (destinations(parts, "carrier"), destinations(parts, "carrier", isSecure: true))
        #expect(plain[0].alternatives.map(\.flow.transport) == [.udp] && secure[0].alternatives.isEmpty && secure[0].flow.transport == .tls)
    }

    @Test(arguments: [(59, 1), (61, 0)])
    func `a device with push counts as awake for the configured time`(seconds: Int, devices: Int) throws {
        let parts = Parts { configuration in
            (configuration.push.isOn, configuration.push.awake) = (true, .seconds(60))
        }
        try parts.register("2000", contact: "<sip:phone@192.0.2.2:5060;pn-provider=acme;pn-prid=token>")
        parts.wait(.seconds(seconds))
        #expect(destinations(parts).count == devices)
    }

    @Test(arguments: [LineEndpoint.application(.echo), .script(LineScript(.ring)), .group(RingGroup([.init("2000")]))])
    func `an application, a script and a group have no destination`(endpoint: LineEndpoint) throws {
        let parts = Parts { $0.lines[1].endpoint = endpoint }
        #expect(destinations(parts, "3000").isEmpty)
    }

    @Test func `a trunk is called at its best server, with its rewrites, caller and domain`() throws {
        let parts = Parts { configuration in
            var trunk = TrunkConfiguration(targets: [.init(host: "192.0.2.7", port: 5070), .init(host: "192.0.2.8")])
            trunk.targets[1].priority = 1
            (trunk.domain, trunk.user, trunk.password, trunk.caller) = ("carrier.test", "account", "secret", "4930")
            trunk.rewrites = [NumberRewrite(pattern: NumberPattern("^2")!, prefix: "+39")]
            configuration.lines.append(.devices("2001") { $0.endpoint = .trunk(trunk) })
        }
        #expect(destinations(parts, "2001").isEmpty, "no server is known yet")
        parts.trunks.start()
        let found = try #require(destinations(parts, "2001").first)
        #expect(found.target.text == "sip:+392001@carrier.test" && found.flow.remote == SocketAddress("192.0.2.7:5070"))
        #expect(found.caller == CallerIdentity(user: "4930", host: "carrier.test") && found.credentials?.username == "account")
        #expect(found.alternatives.map { "\($0.flow.remote)" } == ["192.0.2.8:5060"] && found.trunk === parts.trunks.all[0])
    }
}

/// The line of a call, loops, and the routing hook.
@Suite struct RouterTests {
    let parts = Parts()

    private func incoming(_ parts: Parts, _ dialled: Text = "2000", call: Text = "call") throws -> IncomingCall {
        let session = try parts.session(Parts.request(.invite, "sip:\(dialled)@gateway.test", call: call))
        return IncomingCall(session: session, caller: CallerIdentity(user: "1000", host: "a.test"), dialled: dialled)
    }

    @Test func `a call is for the line that has the number`() throws {
        #expect(parts.router.line(for: try incoming(parts)) === parts.line("2000"))
        #expect(parts.router.line(for: try incoming(parts, "8888", call: "other")) == nil)
    }

    @Test(arguments: ["2000", "3000"])
    func `a call that a device of the line forwarded to us is a loop there`(number: Text) throws {
        try parts.register("2000")
        let caller = try #require(try parts.call())
        let callee = try #require(parts.table.callees(of: caller.uuid).first.flatMap(parts.table.leg))
        callee.session?.isToOurselves = true
        let back = try parts.session(try #require(parts.wire.requests(.invite).last), over: .peer(2))
        let call = IncomingCall(session: back, caller: caller.party)
        #expect(parts.router.isLoop(call, to: parts.line(number)) == (number == "2000"))
    }

    @Test(arguments: [false, true])
    func `a call from a trunk to the same trunk is a loop without hairpin`(isHairpin: Bool) throws {
        let parts = Parts { configuration in
            var trunk = TrunkConfiguration(address: Flow.peer(7).remote)
            trunk.isHairpin = isHairpin
            configuration.lines.append(.devices("carrier") { $0.endpoint = .trunk(trunk) })
        }
        var call = try incoming(parts)
        #expect(!parts.router.isLoop(call, to: parts.line("carrier")))
        call.trunk = parts.trunks.all[0]
        #expect(parts.router.isLoop(call, to: parts.line("carrier")) == !isHairpin && !parts.router.isLoop(call, to: parts.line("2000")))
    }

    @Test func `a call to ourselves goes to a listener without TLS`() throws {
        let caller = CallerIdentity(user: "2000", host: Parts.domain)
        let destination = try #require(parts.router.toOurselves("9196", at: "other.test", from: caller))
        #expect(destination.target.text == "sip:9196@other.test" && destination.isToOurselves && parts.listeners.isOurs(destination.flow))
        let secure = Parts(listeners: [.init(.tls, SocketAddress(Parts.address, port: 5061))])
        #expect(secure.router.toOurselves("9196", at: "other.test", from: caller) == nil)
    }

    @Test(arguments: [("sip:2000@gateway.test", 0), ("sips:2000@gateway.test", 1)])
    func `a sips caller is warned that no device is there over TLS`(uri: String, warnings: Int) {
        #expect(parts.router.warnings(whereNobodyIsThereFor: Parts.request(.invite, uri)).count == warnings)
    }

    // MARK: The hook

    @Test(
        arguments: [
            (CallDecision.asDialled, ["2000"], [100]), (.number("3000"), ["3000"], [100]), (.refused(status: 404), [], [100, 404]),
        ], [true, false])
    func `a hook decides at once or later`(row: (CallDecision, [Text], [Int]), isAtOnce: Bool) throws {
        var answer: ((CallVerdict) -> Void)?
        parts.router.hook = { _, completion in if isAtOnce { completion(CallVerdict(row.0)) } else { answer = completion } }
        var routed: [Text] = []
        parts.router.decide(try incoming(parts)) { routed.append($0.dialled) }
        if !isAtOnce {
            #expect(routed.isEmpty && parts.wire.statuses() == [100], "the caller has its 100 and waits")
            parts.wait(.seconds(3))
            answer?(CallVerdict(row.0))
        }
        #expect(routed == row.1 && parts.wire.statuses() == row.2)
    }

    @Test func `a call without a hook is routed at once, and gets no 100`() throws {
        var routed: [Text] = []
        parts.router.decide(try incoming(parts)) { routed.append($0.dialled) }
        #expect(routed == ["2000"] && parts.wire.sent.isEmpty)
    }

    @Test(arguments: [CallDecision.asDialled, .refused(status: 404)])
    func `a call that was cancelled before the hook decided is neither routed nor answered again`(decision: CallDecision) throws {
        var answer: ((CallVerdict) -> Void)?, isRouted = false
        parts.router.hook = { answer = $1 }
        parts.router.decide(try incoming(parts)) { _ in isRouted = true }
        var cancel = Parts.request(.cancel)
        cancel.via = Parts.request().via
        parts.receive(cancel)
        answer?(CallVerdict(decision))
        #expect(!isRouted && parts.wire.statuses() == [100, 487])
    }

    @Test func `a call that the hook admits during a drain gets 503`() throws {
        var answer: ((CallVerdict) -> Void)?
        parts.router.hook = { answer = $1 }
        #expect(try parts.call("9196") == nil)
        parts.incomingCalls.drain()
        answer?(CallVerdict(.asDialled))
        #expect(parts.wire.statuses() == [100, 503] && parts.wire.responses().last?.headers[.retryAfter] == "5")
        #expect(parts.table.legCount == 0)
    }
}
