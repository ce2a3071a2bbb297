import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Calls to ring groups some of whose members' devices sleep (RFC 8599).
@Suite struct GroupWakeTests {
    /// The group 3000 of the lines 2001 and 2002, and a telephone for each.
    private final class Group {
        private(set) var pushes: [PushMessage] = []
        private(set) var stage: Stage!
        private(set) var caller: RawPeer!, phones: [RawPeer] = []
        private var registrations = 0

        init(_ strategy: RingGroup.Strategy = .all, delays: [Duration] = [.zero, .zero]) {
            stage = Stage { [unowned self] configuration, environment in
                configuration.push.isOn = true
                environment.push = { [unowned self] in pushes.append($0) }
                for number in ["2001", "2002"] {
                    var line = LineConfiguration(number: Text(number))
                    line.isOpen = true
                    configuration.lines.append(line)
                }
                var line = LineConfiguration(number: "3000")
                line.endpoint = .group(RingGroup([.init("2001", delay: delays[0]), .init("2002", delay: delays[1])], strategy))
                configuration.lines.append(line)
            }
            caller = RawPeer(stage, 9)
            stage.telephonesRing = true
            phones = [RawPeer(stage, 31), RawPeer(stage, 32)]
        }

        func register(_ phone: Int, expires: Int = 600, parameters: String = "") {
            registrations += 1
            let contact = "<sip:peer@\(phones[phone].address);pn-provider=acme;pn-prid=token-\(phone)>" + parameters
            phones[phone].request(
                "REGISTER", "sip:200\(phone + 1)@hookswitch.test", call: "register-\(phone)", registrations,
                headers: ["Expires: \(expires)"], contact: contact)
        }

        /// They have registered, and their registrations are over.
        func fallAsleep(_ phones: Int..., parameters: String = "") {
            for phone in phones { register(phone, expires: 60, parameters: parameters) }
            stage.run(seconds: 61)
        }

        func invite() { caller.request("INVITE", "sip:3000@hookswitch.test", call: "call", 1, body: caller.description()) }

        var statuses: [Int] { caller.heard.compactMap { $0.method == .invite ? $0.status : nil } }
        func rings(_ phone: Int) -> Bool { phones[phone].request(.invite) != nil }
        func answer(_ phone: Int, _ status: Int) {
            phones[phone].answer(phones[phone].request(.invite), status, body: status == 200 ? phones[phone].description() : "")
        }

        func expectQuiet(_ location: SourceLocation = #_sourceLocation) {
            stage.expectQuiet(after: 200, location)
            #expect(stage.gateway.waking.isEmpty && stage.gateway.hunts.isEmpty, sourceLocation: location)
        }
    }

    @Test func `who is awake rings at once, and who sleeps is woken beside it and takes the call`() throws {
        let group = Group()
        group.fallAsleep(1)
        group.register(0)
        group.invite()
        #expect(
            group.rings(0) && group.statuses == [100, 180] && group.pushes.map(\.line) == ["2002"]
                && group.pushes.map(\.identifier) == ["token-1"])
        group.answer(0, 180)
        group.stage.run(seconds: 5)
        group.register(1)
        #expect(group.rings(1) && group.stage.events(.reportIncoming).count == 1)
        group.answer(1, 200)
        let answer = try #require(group.caller.final(.invite, 1))
        #expect(answer.status == 200 && group.phones[0].request(.cancel) != nil)
        group.answer(0, 487)
        group.caller.request("ACK", "sip:3000@hookswitch.test", call: "call", 1, toTag: answer.to.tag)
        group.phones[1].hangUp(group.phones[1].request(.invite))
        group.caller.answer(group.caller.request(.bye), 200)
        group.expectQuiet()
    }

    @Test func `the call goes on after those who are awake have declined, while others may wake`() {
        let group = Group()
        group.fallAsleep(1)
        group.register(0)
        group.invite()
        group.answer(0, 486)
        group.stage.run(seconds: 5)
        #expect(group.statuses.last == 180)
        group.register(1)
        group.answer(1, 480)
        #expect(group.statuses.last == 486)
        group.expectQuiet()
    }

    @Test func `of those who all sleep each is woken, and when none wakes in time nobody is there`() {
        let group = Group()
        group.fallAsleep(0, 1)
        group.invite()
        #expect(Set(group.pushes.map(\.line)) == ["2001", "2002"] && group.statuses.last == 100, "nobody rings yet")
        group.stage.run(seconds: 29)
        #expect(group.statuses.last == 100)
        group.stage.run(seconds: 2)
        #expect(group.statuses.last == 480)
        group.register(0)
        #expect(!group.rings(0), "too late")
        group.expectQuiet()
    }

    @Test func `pushes that nobody takes end the call, and one does not`() {
        let group = Group()
        group.fallAsleep(0, 1)
        group.invite()
        for push in group.pushes {
            #expect(group.statuses.last == 100)
            group.stage.gateway.pushFailed("the push service answered 410", for: push, at: group.stage.world.now)
            group.stage.run(seconds: 0.2)
        }
        #expect(group.statuses.last == 480)
        group.expectQuiet()
    }

    @Test func `who rings later is woken later, and is not waited for`() {
        let group = Group(delays: [.zero, .seconds(8)])
        group.fallAsleep(0, 1)
        group.register(0)
        group.invite()
        #expect(group.rings(0) && group.pushes.isEmpty)
        group.stage.run(seconds: 8)
        #expect(group.pushes.map(\.line) == ["2002"])
        group.caller.cancel("call")
        group.answer(0, 487)
        group.expectQuiet()
        let other = Group(delays: [.zero, .seconds(8)])
        other.fallAsleep(0)
        other.register(1)
        other.invite()
        #expect(other.pushes.map(\.line) == ["2001"] && other.rings(1), "the others do not wait for the first to wake")
        other.caller.cancel("call")
        other.answer(1, 487)
        other.expectQuiet()
    }

    @Test func `in turn it is woken when its turn comes, and rings until that is over`() {
        let group = Group(.inTurn(.seconds(10)))
        group.fallAsleep(0)
        group.register(1)
        group.invite()
        #expect(group.pushes.map(\.line) == ["2001"] && !group.rings(1))
        group.stage.run(seconds: 3)
        group.register(0)
        #expect(group.rings(0))
        group.answer(0, 180)
        group.stage.run(seconds: 6)
        #expect(!group.rings(1))
        group.stage.run(seconds: 1.5)
        #expect(group.phones[0].request(.cancel) != nil && group.rings(1))
        group.answer(0, 487)
        group.answer(1, 486)
        #expect(group.statuses.last == 486)
        group.expectQuiet()
    }

    @Test func `in turn who does not wake has had its turn, and whose push fails has none`() {
        let group = Group(.inTurn(.seconds(10)))
        group.fallAsleep(0, 1)
        group.register(1)
        group.invite()
        group.stage.run(seconds: 10)
        #expect(group.rings(1))
        group.register(0)
        #expect(!group.rings(0), "its turn is over")
        group.answer(1, 486)
        #expect(group.statuses.last == 486)
        group.expectQuiet()
        let other = Group(.inTurn(.seconds(10)))
        other.fallAsleep(0)
        other.register(1)
        other.invite()
        for push in other.pushes {
            other.stage.gateway.pushFailed("the push service cannot be reached", for: push, at: other.stage.world.now)
        }
        other.stage.run(seconds: 0.2)
        #expect(other.rings(1))
        other.answer(1, 486)
        other.expectQuiet()
    }

    @Test func `the last in turn is waited for though the one before has rung`() {
        let group = Group(.inTurn(.seconds(10)))
        group.fallAsleep(1)
        group.register(0)
        group.invite()
        #expect(group.rings(0) && group.pushes.isEmpty)
        group.answer(0, 486)
        #expect(group.pushes.map(\.line) == ["2002"] && group.statuses.last == 180)
        group.stage.run(seconds: 20)
        group.register(1)
        group.answer(1, 480)
        #expect(group.statuses.last == 486)
        group.expectQuiet()
    }

    @Test func `a telephone of two members rings for each, though it calls itself the same`() {
        let group = Group(), instance = ";+sip.instance=\"<urn:uuid:1>\""
        group.fallAsleep(0, 1, parameters: instance)
        group.invite()
        group.register(0, parameters: instance)
        group.register(1, parameters: instance)
        #expect(group.rings(0) && group.rings(1))
        group.answer(0, 486)
        group.answer(1, 486)
        group.expectQuiet()
    }

    @Test func `a member that does not want the call is not woken, nor rings when it wakes`() {
        let group = Group()
        group.fallAsleep(0, 1)
        group.stage.gateway.setDoNotDisturb(true, ofLine: "2001", at: group.stage.world.now)
        group.invite()
        #expect(group.pushes.map(\.line) == ["2002"])
        group.stage.gateway.setDoNotDisturb(true, ofLine: "2002", at: group.stage.world.now)
        group.register(1)
        group.stage.run(seconds: 0.2)
        #expect(!group.rings(1) && group.statuses.last == 480)
        group.expectQuiet()
    }
}
