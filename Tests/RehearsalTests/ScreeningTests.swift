import CallKit
import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Who may ring a line's devices, and what the others are told: the table of refusals (mapping §4), row by row, over the virtual network.
@Suite struct ScreeningTests {
    /// A line of the stage, with a device that rings, and a caller.
    private final class Scene {
        let stage: Stage, caller: RawPeer, device: RawPeer
        private var calls = 0

        init(
            registers: Bool = true, directories: CallDirectories? = nil,
            _ adapt: (inout GatewayConfiguration, inout LineConfiguration) -> Void = { _, _ in }
        ) {
            stage = Stage { configuration, environment in
                var line = configuration.lines[0]
                adapt(&configuration, &line)
                configuration.lines[0] = line
                environment.directories = directories
            }
            (caller, device) = (RawPeer(stage, 1), RawPeer(stage, 2))
            stage.telephonesRing = true
            if registers { device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1) }
        }

        /// The last answer to an INVITE to the line.
        func call(from sender: String = "<sip:+15550100@192.0.2.9>", headers: [String] = []) -> Message? {
            calls += 1
            caller.request(
                "INVITE", "sip:2000@hookswitch.test", call: "call\(calls)", 1, body: caller.description(), headers: headers, from: sender)
            return caller.heard.last { $0.callID == Text("call\(calls)") }
        }

        /// Takes the device's word for the last call, so that nothing is left.
        func over(_ location: SourceLocation = #_sourceLocation) {
            device.answer(device.request(.invite), 486)
            stage.run(seconds: 200)
            #expect(stage.gateway.counts(at: stage.world.now).isIdle, sourceLocation: location)
            #expect(stage.violations.isEmpty, sourceLocation: location)
        }
    }

    private func expect(
        _ answer: Message?, _ status: Int, _ phrase: Text, cause: String, _ scene: Scene, location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            answer?.status == status && answer?.reasonPhrase == phrase, "\(String(describing: answer?.status))", sourceLocation: location)
        #expect(answer?.headers[.reason] == Text("Q.850;cause=\(cause)"), sourceLocation: location)
        #expect(scene.device.request(.invite) == nil, "no device rings", sourceLocation: location)
        #expect(!scene.caller.heard.contains { $0.status == 180 }, sourceLocation: location)
        scene.over(location)
    }

    // MARK: Do Not Disturb

    @Test(arguments: [(480, "Do Not Disturb", "31"), (486, "Busy Here", "17"), (600, "Busy Everywhere", "17"), (603, "Decline", "21")])
    func `MC-94: Do Not Disturb turns a call away with the status of choice`(status: Int, phrase: String, cause: String) {
        let scene = Scene {
            $1.doNotDisturb.isOn = true
            $1.refusals[.doNotDisturb] = status
        }
        let answer = scene.call()
        #expect(answer?.headers[.retryAfter] == nil, "nobody knows when it ends")
        expect(answer, status, Text(phrase), cause: cause, scene)
        #expect(scene.stage.events(.reportIncomingRefused).map { $0.details.text(.error) } == ["filteredByDoNotDisturb"])
    }

    @Test(arguments: ["<sip:+390551234@192.0.2.9>", "<sip:39055999@192.0.2.9>", "Boss <sip:boss@192.0.2.9>"])
    func `MC-94: a VIP rings`(sender: String) {
        let scene = Scene {
            $1.doNotDisturb.isOn = true
            $1.doNotDisturb.vips = ["39055*", "boss"].compactMap { NumberPattern($0) }
        }
        #expect(scene.call(from: sender)?.status == 180)
        scene.over()
    }

    @Test func `Do Not Disturb of the schedule says when to try again, and ends by itself`() {
        // The stage's clock shows 2026-09-21 14:13:20 UTC, a Monday, and one second.
        let scene = Scene(registers: false) {
            $1.doNotDisturb.schedule.timeZone = TimeZone(identifier: "UTC")!
            $1.doNotDisturb.schedule.windows = [.init(days: [.monday], from: 14 * 60, to: 14 * 60 + 20)]
        }
        let start = Date(timeIntervalSince1970: 1_790_000_001)
        let answer = scene.call()
        #expect(answer?.status == 480 && answer?.reasonPhrase == "Do Not Disturb")
        let end = ISO8601DateFormatter().date(from: "2026-09-21T14:20:00Z")!
        let seconds = Int(end.timeIntervalSince(start).rounded(.up))
        #expect(answer?.headers[.retryAfter].flatMap { $0.integer(Int.self) }.map { (seconds - 1...seconds).contains($0) } == true)
        scene.stage.run(seconds: Double(seconds))
        scene.device.request("REGISTER", "sip:2000@hookswitch.test", call: "register", 1)
        #expect(scene.call()?.status == 180)
        scene.over()
    }

    @Test func `Do Not Disturb turned on and off by code counts from the next call on`() {
        let scene = Scene()
        #expect(scene.stage.gateway.setDoNotDisturb(true, ofLine: "2000", at: scene.stage.world.now))
        #expect(scene.call()?.reasonPhrase == "Do Not Disturb")
        scene.stage.gateway.setDoNotDisturb(false, ofLine: "2000", at: scene.stage.world.now)
        #expect(scene.call()?.status == 180)
        #expect(scene.stage.events(.doNotDisturbChanged).map { $0.details.flag(.on) } == [true, false])
        #expect(!scene.stage.gateway.setDoNotDisturb(true, ofLine: "4040", at: scene.stage.world.now))
        scene.over()
    }

    // MARK: Block list

    @Test(arguments: [(607, "Unwanted", "21"), (603, "Decline", "21"), (403, "Forbidden", "21"), (480, "Temporarily Unavailable", "31")])
    func `MC-93: a caller on the block list is turned away with the status of choice`(status: Int, phrase: String, cause: String) {
        let scene = Scene {
            $1.block = [NumberPattern("+15550100")!]
            $1.refusals[.blockList] = status
        }
        expect(scene.call(), status, Text(phrase), cause: cause, scene)
        #expect(scene.stage.events(.reportIncomingRefused).map { $0.details.text(.error) } == ["filteredByBlockList"])
    }

    @Test func `a caller who was blocked by code, however written, rings again after it was unblocked`() {
        let scene = Scene()
        let handle = CXHandle(type: .phoneNumber, value: "1 (555) 0100")
        scene.stage.gateway.setBlocked(true, caller: handle, ofLine: "2000", at: scene.stage.world.now)
        #expect(scene.call()?.status == 607)
        #expect(scene.call(from: "<sip:+15550101@192.0.2.9>")?.status == 180)
        scene.device.answer(scene.device.request(.invite), 486)
        scene.stage.gateway.setBlocked(false, caller: handle, ofLine: "2000", at: scene.stage.world.now)
        #expect(scene.call()?.status == 180)
        scene.over()
    }

    @Test func `the block list comes before Do Not Disturb, and no VIP is exempt from it`() {
        let scene = Scene {
            $1.doNotDisturb.isOn = true
            $1.doNotDisturb.vips = [NumberPattern("+15550100")!]
            $1.block = [NumberPattern("^+1555")!]
        }
        #expect(scene.call()?.status == 607)
        scene.over()
    }

    @Test func `a blocked caller is told so though no device is there`() {
        let scene = Scene(registers: false) { $1.block = [NumberPattern("+15550100")!] }
        #expect(scene.call()?.status == 607)
        #expect(scene.call(from: "<sip:+15550101@192.0.2.9>")?.status == 480)
        scene.over()
    }

    // MARK: Call directories

    private static let directories: CallDirectories = {
        let directories = CallDirectories()
        directories.register("spam") { Entries(block: [14_085_555_555, 18_005_555_555], identify: [(18_775_555_555, "Telemarketer")]) }
        let loaded = DispatchSemaphore(value: 0)
        directories.load("spam") { _ in loaded.signal() }
        loaded.wait()
        return directories
    }()

    private final class Entries: CXCallDirectoryProvider {
        let block: [Int64], identify: [(Int64, String)]
        init(block: [Int64], identify: [(Int64, String)]) { (self.block, self.identify) = (block, identify) }
        override func beginRequest(with context: CXCallDirectoryExtensionContext) {
            for number in block { context.addBlockingEntry(withNextSequentialPhoneNumber: number) }
            for (number, label) in identify { context.addIdentificationEntry(withNextSequentialPhoneNumber: number, label: label) }
            context.completeRequest()
        }
    }

    @Test func `MC-104: a directory's block is 608 with the card of whom to ask`() {
        let scene = Scene(directories: Self.directories) {
            $0.callInfo = "https://example.test/card"
            $1.directories = ["spam"]
        }
        let answer = scene.call(from: "<sip:+14085555555@192.0.2.9>")
        #expect(answer?.headers["Call-Info"] == "<https://example.test/card>;purpose=jwscard")
        expect(answer, 608, "Rejected", cause: "21", scene)
    }

    @Test func `a directory's block can be 603, and then has no card`() {
        let scene = Scene(directories: Self.directories) {
            $0.callInfo = "https://example.test/card"
            $0.refusals[.directory] = 603
            $1.directories = ["spam"]
        }
        let answer = scene.call(from: "<sip:+14085555555@192.0.2.9>")
        #expect(answer?.headers["Call-Info"] == nil)
        expect(answer, 603, "Decline", cause: "21", scene)
    }

    @Test func `MC-103: the device of a line sees the directory's label`() throws {
        let scene = Scene(directories: Self.directories) { $1.directories = ["spam"] }
        #expect(scene.call(from: "<sip:+18775555555@192.0.2.9>")?.status == 180)
        let invite = try #require(scene.device.request(.invite))
        #expect(invite.from.displayName == "Telemarketer" && invite.from.uri.user == "+18775555555")
        scene.over()
    }

    @Test func `HL-19, HL-23: contacts come before directories, and a line that did not enable one is not touched by it`() throws {
        let contact = Scene(directories: Self.directories) {
            $1.directories = ["spam"]
            $1.addContact("+1 408 555 5555", name: "Uncle")
        }
        #expect(contact.call(from: "<sip:+14085555555@192.0.2.9>")?.status == 180, "a contact is not blocked by a directory")
        #expect(try #require(contact.device.request(.invite)).from.displayName == "Uncle")
        contact.over()
        let disabled = Scene(directories: Self.directories)
        #expect(disabled.call(from: "<sip:+14085555555@192.0.2.9>")?.status == 180)
        disabled.over()
    }

    // MARK: The other rows

    @Test(arguments: [(403, "Forbidden"), (404, "Not Found")])
    func `a line that takes no calls is unentitled`(status: Int, phrase: String) {
        let scene = Scene {
            $1.takesCalls = false
            $1.refusals[.unentitled] = status
        }
        expect(scene.call(), status, Text(phrase), cause: "21", scene)
        #expect(scene.stage.events(.reportIncomingRefused).map { $0.details.text(.error) } == ["unentitled"])
    }

    @Test(arguments: [
        (CXErrorCodeIncomingCallError.Code.filteredDuringRestrictedSharingMode, 480, "Temporarily Unavailable", "31"),
        (.callIsProtected, 480, "Temporarily Unavailable", "31"), (.filteredBySensitiveParticipants, 480, "Temporarily Unavailable", "31"),
        (.unknown, 500, "Server Internal Error", "41"), (.filteredByDoNotDisturb, 480, "Do Not Disturb", "31"),
    ])
    func `a filter by code gets the row of its error`(code: CXErrorCodeIncomingCallError.Code, status: Int, phrase: String, cause: String) {
        let scene = Scene()
        scene.stage.gateway.setFilter({ _, _ in code }, ofLine: "2000")
        expect(scene.call(), status, Text(phrase), cause: cause, scene)
    }

    @Test func `the same INVITE once more while its call is up is 482`() {
        let scene = Scene()
        #expect(scene.call()?.status == 180)
        scene.caller.request("INVITE", "sip:2000@hookswitch.test", call: "call1", 2, body: scene.caller.description())
        #expect(scene.caller.final(.invite, 2)?.status == 482)
        scene.over()
    }

    @Test(arguments: [(486, "Busy Here"), (600, "Busy Everywhere")])
    func `a line with as many conversations as it has room for is busy`(status: Int, phrase: String) {
        let scene = Scene {
            $1.maximumCalls = 1
            $1.refusals[.maximumCalls] = status
        }
        #expect(scene.call()?.status == 180)
        let second = scene.call(from: "<sip:+15550101@192.0.2.9>")
        #expect(second?.status == status && second?.reasonPhrase == Text(phrase))
        #expect(second?.headers[.reason] == "Q.850;cause=17")
        #expect(scene.stage.events(.reportIncomingRefused).map { $0.details.text(.error) } == ["maximumCallGroupsReached"])
        scene.over()
    }

    @Test func `a line with room for two lets a second call wait, and the third is busy`() {
        let scene = Scene { $1.maximumCalls = 2 }
        #expect(scene.call()?.status == 180)
        let first = scene.device.request(.invite)
        #expect(scene.call(from: "<sip:+15550101@192.0.2.9>")?.status == 180)
        #expect(scene.device.request(.invite)?.callID != first?.callID)
        #expect(scene.call(from: "<sip:+15550102@192.0.2.9>")?.status == 486)
        scene.device.answer(first, 486)
        #expect(scene.call(from: "<sip:+15550103@192.0.2.9>")?.status == 180, "there is room again")
        scene.device.heard.filter { $0.isRequest && $0.method == .invite }.forEach { scene.device.answer($0, 486) }
        scene.over()
    }

    @Test func `a gateway with no room for another leg is 503 with Retry-After`() {
        let scene = Scene { configuration, _ in configuration.limits.legs = 1 }
        scene.caller.request("INVITE", "sip:9196@hookswitch.test", call: "echo", 1, body: scene.caller.description())
        let answer = scene.call()
        #expect(answer?.status == 503 && answer?.headers[.retryAfter] == "5")
        scene.stage.gateway.endAll(at: scene.stage.world.now)
        scene.over()
    }
}
