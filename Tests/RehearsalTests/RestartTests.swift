import CallKit
import Foundation
import Primitives
import SIP
import Store
import Testing
import UserAgent

@testable import Gateway
@testable import Rehearsal

/// What lines remember when the gateway is started again, with the database in between.
@Suite struct RestartTests {
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "restart-\(UUID())")
        init() { try! FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
    }

    private let folder = Folder()

    /// A gateway on the database as it is now.
    private func start(_ adapt: (inout GatewayConfiguration, inout Gateway.Environment) -> Void = { _, _ in }) throws -> (
        stage: Stage, store: SQLiteStore
    ) {
        let store = try SQLiteStore(path: folder.url.appending(path: "hookswitch.sqlite").path, recents: 10) { Issue.record("\($0)") }
        let kept = try store.load()
        let stage = Stage { configuration, environment in
            (environment.store, environment.kept) = (store, kept)
            adapt(&configuration, &environment)
        }
        stage.telephonesRing = true
        return (stage, store)
    }

    private func invite(_ stage: Stage, _ caller: RawPeer, _ call: String, from sender: String = "Alice <sip:+391@192.0.2.9>") -> Int? {
        caller.request("INVITE", "sip:2000@hookswitch.test", call: call, 1, body: caller.description(), from: sender)
        return caller.heard.last { $0.callID == Text(call) }?.status
    }

    @Test func `a Contact is listed and kept with its headers, and called without them`() throws {
        do {
            let (stage, store) = try start()
            let device = RawPeer(stage, 2)
            device.request("REGISTER", "sip:2000@hookswitch.test", call: "device", 1, contact: "<sip:peer@192.0.2.2:5060?Priority=urgent>")
            #expect(device.final(.register, 1)?.contact?.uri.headers == "Priority=urgent")
            store.synchronize()
        }
        let (stage, store) = try start()
        let caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
        #expect(stage.gateway.registrar.contacts(of: "2000", at: stage.world.now).first?.uri.headers == "Priority=urgent")
        #expect(invite(stage, caller, "after") == 180)
        #expect(try device.received(.invite).requestURI?.text == "sip:peer@192.0.2.2:5060")
        device.answer(device.request(.invite), 486)
        store.synchronize()
    }

    @Test func `a line that comes while the gateway runs has what was kept of it`() throws {
        do {
            let (stage, store) = try start { configuration, _ in configuration.lines[0].recents = true }
            _ = invite(stage, RawPeer(stage, 1), "before")
            stage.gateway.setBlocked(true, caller: CXHandle(type: .phoneNumber, value: "+391"), ofLine: "2000", at: stage.world.now)
            store.synchronize()
        }
        var line = LineConfiguration(number: "2000")
        let (stage, _) = try start { configuration, _ in
            line = configuration.lines[0]
            configuration.lines.removeFirst()
        }
        #expect(stage.gateway.recents(ofLine: "2000") == nil)
        var wanted = stage.gateway.configuration
        wanted.lines.append(line)
        #expect(stage.gateway.reconfigure(wanted, at: stage.world.now).added == ["2000"])
        #expect(stage.gateway.recents(ofLine: "2000")?.map(\.handle) == ["+391"])
        #expect(invite(stage, RawPeer(stage, 1), "after") == 607)
    }

    /// What the database would have if the gateway were killed now.
    private func kept(_ store: SQLiteStore, _ line: String) throws -> [RecentCall] {
        store.synchronize()
        return try store.load()[line].recents
    }

    @Test func `a call that is up when the gateway is killed is in the recents of both lines`() throws {
        let (stage, store) = try start { configuration, _ in
            var other = LineConfiguration(number: "2001")
            other.isOpen = true
            configuration.lines.append(other)
        }
        let caller = RawPeer(stage, 1), device = RawPeer(stage, 2), sender = "<sip:2001@hookswitch.test>"
        device.request("REGISTER", "sip:2000@hookswitch.test", call: "device", 1)
        caller.request("REGISTER", "sip:2001@hookswitch.test", call: "other", 1)
        #expect(invite(stage, caller, "up", from: sender) == 180)
        for (line, outcome) in [("2000", RecentCall.Outcome.missed), ("2001", .unanswered)] {
            let calls = try kept(store, line)
            #expect(calls.map(\.outcome) == [outcome] && calls.first?.reason == "gatewayKilled" && calls.first?.connected == nil)
        }
        device.answer(device.request(.invite), 200, body: device.description())
        let answer = try #require(caller.final(.invite, 1))
        caller.request("ACK", "sip:2000@hookswitch.test", call: "up", 1, toTag: answer.to.tag, from: sender)
        for line in ["2000", "2001"] {
            let calls = try kept(store, line)
            #expect(calls.map(\.outcome) == [.answered] && calls.first?.reason == "gatewayKilled" && calls.first?.connected != nil)
            #expect(stage.gateway.recents(ofLine: Text(line))?.isEmpty == true, "a call that is up is no recent one")
        }
        stage.run(seconds: 5)
        device.hangUp(device.request(.invite))
        for line in ["2000", "2001"] {
            let calls = try kept(store, line)
            #expect(calls.count == 1 && calls.first?.outcome == .answered && calls.first?.reason != "gatewayKilled")
            #expect(calls.map(\.id) == stage.gateway.recents(ofLine: Text(line))?.map(\.id))
        }
    }

    @Test func `a device that was registered rings after a restart, and is gone when its registration ends or it unregisters`() throws {
        do {
            let (stage, store) = try start()
            let device = RawPeer(stage, 2), gone = RawPeer(stage, 3)
            device.request(
                "REGISTER", "sip:2000@hookswitch.test", call: "device", 1, headers: ["Expires: 600"],
                contact: "<sip:peer@192.0.2.2:5060>;+sip.instance=\"<urn:x>\"")
            gone.request("REGISTER", "sip:2000@hookswitch.test", call: "gone", 1)
            gone.request("REGISTER", "sip:2000@hookswitch.test", call: "gone", 2, headers: ["Expires: 0"])
            store.synchronize()
        }
        do {
            let (stage, store) = try start()
            let caller = RawPeer(stage, 1), device = RawPeer(stage, 2), gone = RawPeer(stage, 3)
            #expect(invite(stage, caller, "after") == 180)
            #expect(device.request(.invite) != nil && gone.request(.invite) == nil)
            device.answer(device.request(.invite), 486)
            #expect(stage.gateway.registrar.contacts(of: "2000", at: stage.world.now).first?.instance == "<urn:x>")
            stage.run(seconds: 601)
            #expect(invite(stage, caller, "later") == 480)
            store.synchronize()
        }
        #expect(try start().stage.gateway.registrar.contacts(of: "2000", at: .zero).isEmpty)
    }

    @Test func `a registration lasts no longer than was granted, though the clock was set back`() throws {
        do {
            let (stage, store) = try start()
            RawPeer(stage, 2).request("REGISTER", "sip:2000@hookswitch.test", call: "device", 1, headers: ["Expires: 600"])
            store.synchronize()
        }
        let (stage, _) = try start { _, environment in environment.epoch -= 86_400 }
        #expect(stage.gateway.registrar.contacts(of: "2000", at: stage.world.now).count == 1)
        stage.run(seconds: 601)
        #expect(stage.gateway.registrar.contacts(of: "2000", at: stage.world.now).isEmpty)
    }

    @Test func `recents, block list and Do Not Disturb are there after a restart`() throws {
        do {
            let (stage, store) = try start()
            let caller = RawPeer(stage, 1), device = RawPeer(stage, 2)
            device.request("REGISTER", "sip:2000@hookswitch.test", call: "device", 1)
            #expect(invite(stage, caller, "missed") == 180)
            device.answer(device.request(.invite), 480)
            device.request(
                "INVITE", "sip:*60@hookswitch.test", call: "block", 1, body: device.description(), from: "<sip:2000@hookswitch.test>")
            device.request(
                "ACK", "sip:*60@hookswitch.test", call: "block", 1, toTag: device.final(.invite, 1)?.to.tag,
                from: "<sip:2000@hookswitch.test>")
            stage.gateway.setDoNotDisturb(true, ofLine: "2000", at: stage.world.now)
            stage.run(seconds: 2)
            store.synchronize()
        }
        let (stage, _) = try start()
        let caller = RawPeer(stage, 1)
        let recent = try #require(stage.gateway.recents(ofLine: "2000")?.first)
        #expect(recent.handle == "+391" && recent.name == "Alice" && recent.outcome == .missed && recent.direction == .incoming)
        #expect(invite(stage, caller, "blocked") == 607)
        #expect(invite(stage, caller, "disturbing", from: "<sip:+392@192.0.2.9>") == 480)
        #expect(caller.heard.last?.reasonPhrase == "Do Not Disturb")
        #expect(stage.gateway.line(numbered: "2000")?.features.lastCaller?.value == "+392", "and *69 knows who called")
    }

    @Test func `a sleeping device is woken after a restart`() throws {
        do {
            let (stage, store) = try start { configuration, _ in configuration.push.isOn = true }
            let device = RawPeer(stage, 2)
            device.request(
                "REGISTER", "sip:2000@hookswitch.test", call: "device", 1, headers: ["Expires: 60"],
                contact: "<sip:peer@192.0.2.2:5060;pn-provider=acme;pn-prid=token>")
            stage.run(seconds: 61)
            store.synchronize()
        }
        var pushes: [PushMessage] = []
        let (stage, _) = try start { configuration, environment in
            configuration.push.isOn = true
            environment.push = { pushes.append($0) }
        }
        stage.run(seconds: 61)
        #expect(invite(stage, RawPeer(stage, 1), "wake") == 100)
        #expect(pushes.map(\.identifier) == ["token"])
    }

    @Test func `a line that lost its account is not registered by what was kept`() throws {
        do {
            let (stage, store) = try start()
            RawPeer(stage, 2).request("REGISTER", "sip:2000@hookswitch.test", call: "device", 1)
            store.synchronize()
        }
        let (stage, _) = try start { configuration, _ in configuration.lines.removeFirst() }
        #expect(stage.gateway.registrar.counts.isEmpty)
    }
}
