import Gateway
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// Whose settings count for a call that was transferred: those of the lines of the two that talk from then on.
@Suite struct TransferSettingsTests {
    private static let target = "sip:2001@hookswitch.test"

    private static func stage(_ configure: @escaping (_ own: inout LineConfiguration, _ target: inout LineConfiguration) -> Void) -> Stage {
        Stage { configuration in
            var target = LineConfiguration(number: "2001"), group = LineConfiguration(number: "4000")
            (target.isOpen, group.endpoint) = (true, .group(RingGroup([.init("2001")])))
            configure(&configuration.lines[0], &target)
            group.ringTimeout = target.ringTimeout
            configuration.lines += [target, group]
        }
    }

    /// 2001 rings for the one that stays: the device of 2000 where its caller goes, or the caller where the device goes.
    private func transfer(on stage: Stage, to number: String = target, byDevice: Bool = false) throws -> (
        call: BridgedCall, target: RawPeer
    ) {
        let call = try stage.bridge(), target = RawPeer(stage, 8), refer = ["Refer-To: <\(number)>"]
        target.request("REGISTER", Self.target, call: "target", 1)
        if byDevice { call.fromDevice("REFER", headers: refer) } else { call.fromCaller("REFER", headers: refer) }
        target.answer(try target.received(.invite), 180)
        return (call, target)
    }

    private func answer(_ call: BridgedCall, _ target: RawPeer, byDevice: Bool = false) throws {
        target.answer(try target.received(.invite), 200, body: target.description("0"))
        try settle(byDevice ? call.device : call.caller)
    }

    /// Whoever asked for the transfer takes what it is told, and its end.
    private func settle(_ leaving: RawPeer) throws {
        for notify in leaving.heard where notify.isRequest && notify.method == .notify { leaving.answer(notify, 200) }
        leaving.answer(leaving.request(.bye), 200)
    }

    private func expectEnd(
        of stage: Stage, after seconds: Double, _ target: RawPeer, _ staying: RawPeer, _ location: SourceLocation = #_sourceLocation
    ) {
        stage.run(seconds: seconds - 2)
        #expect(target.request(.bye) == nil, "not yet", sourceLocation: location)
        stage.run(seconds: 3)
        #expect(target.request(.bye) != nil, "by now", sourceLocation: location)
        for peer in [target, staying] { peer.answer(peer.request(.bye), 200) }
        stage.expectQuiet(location)
    }

    @Test(arguments: [target, "sip:4000@hookswitch.test"])
    func `the target rings for as long as it does when it is dialled`(number: String) throws {
        let stage = Self.stage { ($0.ringTimeout, $1.ringTimeout) = (.seconds(3), .seconds(10)) }
        let (call, target) = try transfer(on: stage, to: number)
        stage.run(seconds: 7)
        #expect(target.request(.cancel) == nil, "the line of the one that stays rings for 3 s")
        stage.run(seconds: 5)
        target.answer(try target.received(.cancel), 200)
        target.answer(target.request(.invite), 487)
        for _ in 0..<3 { try settle(call.caller) }
        #expect(stage.events(.transferFailed).count == 1 && call.device.request(.bye) == nil, "the two that talked go on")
        call.hangUp()
        stage.expectQuiet()
    }

    @Test(arguments: [(nil, 20, 20), (60, 20, 20), (20, 60, 20), (20, nil, 20)] as [(Int64?, Int64?, Double)])
    func `the longest duration is the shorter of both lines`(own: Int64?, target: Int64?, ends: Double) throws {
        let stage = Self.stage { ($0.maximumDuration, $1.maximumDuration) = (own.map { .seconds($0) }, target.map { .seconds($0) }) }
        let (call, peer) = try transfer(on: stage)
        try answer(call, peer)
        expectEnd(of: stage, after: ends, peer, call.device)
    }

    @Test func `the limit of a line that has its caller transferred away is no more`() throws {
        let stage = Self.stage { own, _ in
            (own.maximumDuration, own.firstMediaTimeout, own.mediaTimeout) = (.seconds(20), .seconds(20), .seconds(20))
        }
        let (call, target) = try transfer(on: stage, byDevice: true)
        #expect(stage.media.silenceLimits == [.seconds(20), .seconds(20)])
        try answer(call, target, byDevice: true)
        #expect(stage.media.silenceLimits.isEmpty)
        stage.run(seconds: 60)
        #expect(target.request(.bye) == nil && call.caller.request(.bye) == nil)
        call.fromCaller("BYE")
        target.answer(try target.received(.bye), 200)
        stage.expectQuiet()
    }

    @Test func `a far end has to be heard as the target's line wants it`() throws {
        let stage = Self.stage { ($1.firstMediaTimeout, $1.mediaTimeout) = (.seconds(20), .seconds(40)) }
        let (call, target) = try transfer(on: stage)
        #expect(stage.media.silenceLimits.isEmpty)
        try answer(call, target)
        #expect(stage.media.silenceLimits == [.seconds(40), .seconds(40)], "of both who talk")
        expectEnd(of: stage, after: 20, target, call.device)
        #expect(stage.endReasons.contains("failed"))
    }
}
