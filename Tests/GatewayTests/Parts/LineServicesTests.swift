import CallKit
import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway

/// Feature codes, recents, block list, and what of them survives a restart.
@Suite struct LineServicesTests {
    let parts = Parts()
    private var line: Line { parts.line("2000") }
    private let alice = CXHandle(type: .phoneNumber, value: "+391")

    // MARK: Feature codes

    @Test(
        arguments: [
            ("*78", 2, true, "code"), ("*7", 2, true, "incomplete"), ("*99", 2, true, "unknown"), ("78", 2, true, "-"),
            ("*78", 9, true, "-"),
            ("*78", 2, false, "-"), ("*60", 2, true, "-"),
        ] as [(Text, UInt32, Bool, String)])
    func `a device of the line dials a code, unless a line has the number`(dialled: Text, last: UInt32, isOn: Bool, found: String) throws {
        let parts = Parts { configuration in
            configuration.featureCodes = isOn
            configuration.lines.append(.devices("*60"))
        }
        try parts.register("2000")
        let code =
            switch parts.services.featureCode(dialled, over: .peer(last), from: parts.line("2000")) {
            case .code: "code"
            case .incomplete: "incomplete"
            case .unknown: "unknown"
            case nil: "-"
            }
        #expect(code == found)
    }

    @Test(arguments: [(true, LineEndpoint.devices, true), (false, .devices, false), (true, .application(.echo), false)])
    func `a password proves a device wherever it is`(hasPassword: Bool, endpoint: LineEndpoint, isCode: Bool) {
        let parts = Parts { configuration in
            (configuration.lines[0].isOpen, configuration.lines[0].password) = (false, hasPassword ? "secret" : nil)
            configuration.lines[0].endpoint = endpoint
        }
        #expect((parts.services.featureCode("*78", over: .peer(9), from: parts.line("2000")) != nil) == isCode)
    }

    /// The result of a code, in a few words.
    private func perform(_ code: FeatureCode.Dialled, _ number: Text = "*78") -> String {
        switch parts.services.perform(code, number, of: line) {
        case .announce(let announcement): announcement.source == AnnouncementApplication.confirmation(true).source ? "on" : "off"
        case .call(let number): "call \(number)"
        case .refused(let status, let reason): "\(status)" + (reason.map { " \($0)" } ?? "")
        }
    }

    @Test func `an unknown code is refused, and not journalled`() {
        #expect(perform(.incomplete) == "484" && perform(.unknown) == "404" && parts.events(.featureDialled).isEmpty)
    }

    @Test func `Do Not Disturb is turned on and off, kept and journalled`() {
        #expect(perform(.code(.doNotDisturbOn)) == "on" && line.features.isDoNotDisturbOn)
        #expect(perform(.code(.doNotDisturbOff), "*79") == "off" && !line.features.isDoNotDisturbOn)
        #expect(parts.events(.doNotDisturbChanged).map { $0.details.flag(.on) } == [true, false])
        #expect(parts.events(.featureDialled).map { $0.details.text(.digits) } == ["*78", "*79"])
        #expect(parts.store.all.map(\.doNotDisturb) == [true, false])
    }

    @Test func `the last caller is blocked and unblocked, and each change is kept once`() {
        #expect(perform(.code(.blockLastCaller)) == "404 No Last Caller")
        line.features.noteCaller(alice)
        #expect(perform(.code(.blockLastCaller)) == "on" && line.features.isBlocked(alice))
        #expect(perform(.code(.blockLastCaller)) == "on" && parts.store.all.count == 1)
        #expect(perform(.code(.unblockLastCaller)) == "off" && !line.features.isBlocked(alice))
        #expect(parts.events(.blockListChanged).map { $0.details.flag(.on) } == [true, false] && parts.store.all.count == 2)
    }

    @Test(arguments: [
        ("+393", CXHandle.HandleType.phoneNumber, "404"), ("2000", .phoneNumber, "call 2000"),
        ("a@b", .emailAddress, "403 Handle Type Not Supported"),
    ])
    func `the last caller is called back, or the refusal says why not`(value: String, type: CXHandle.HandleType, result: String) {
        #expect(perform(.code(.callBackLastCaller)) == "404 No Last Caller")
        line.features.noteCaller(CXHandle(type: type, value: value))
        #expect(perform(.code(.callBackLastCaller)) == result)
    }

    // MARK: Call requests

    private func dialled(_ value: String, _ type: CXHandle.HandleType = .generic, isVideo: Bool = false) throws -> Text {
        try parts.services.dialled(CallRequest(handle: CXHandle(type: type, value: value), isVideo: isVideo), of: line)
    }

    @Test(arguments: [
        ("3000", CXHandle.HandleType.phoneNumber, "3000"), ("sip:3000@gateway.test", .generic, "3000"), ("tel:30-00", .generic, "3000"),
    ])
    func `a request dials a number, or the number of a URI`(value: String, type: CXHandle.HandleType, number: Text) throws {
        #expect(try dialled(value, type) == number)
    }

    @Test(arguments: [
        ("3000", CXHandle.HandleType.phoneNumber, true, CallRequestError.video),
        ("a@b", .emailAddress, false, .handleTypeUnsupported(.emailAddress)),
        ("sips:3000@gateway.test", .generic, false, .secure), ("8888", .phoneNumber, false, .noRoute),
    ])
    func `a request that cannot be dialled is refused`(value: String, type: CXHandle.HandleType, isVideo: Bool, error: CallRequestError) {
        #expect(throws: error) { try dialled(value, type, isVideo: isVideo) }
        #expect(parts.events(.callBackRefused).count == (type == .emailAddress ? 1 : 0), "a telephone would say nothing")
    }

    // MARK: Recents

    @Test(arguments: [
        (CallEnd.action, EndCause.normalClearing, true, RecentCall.Outcome.answered, RecentCall.Outcome.answered),
        (.reported(.remoteEnded), EndCause(status: 487, reasons: []), false, .missed, .cancelled),
        (.action, EndCause(status: 486, reasons: []), false, .declined, .busy), (.action, .declined, false, .declined, .declined),
        (.action, .ringTimeout, false, .missed, .unanswered),
        (.reported(.answeredElsewhere), .answeredElsewhere, false, .answeredElsewhere, .unanswered),
        (.startFailed, .failed, false, .failed, .failed),
    ])
    func `a call is in the recents of both lines, with the outcome for each`(
        end: CallEnd, cause: EndCause, wasAnswered: Bool, incoming: RecentCall.Outcome, outgoing: RecentCall.Outcome
    ) {
        let leg = parts.leg(on: "2000")
        leg.origin = parts.origin("a", line: parts.line("3000"))
        leg.endCause = cause
        if wasAnswered { leg.origin?.connected = parts.context.date }
        parts.line("3000").features.outgoing.insert(leg.uuid)
        parts.wait(.seconds(9))
        parts.services.noteEnd(of: leg, end)
        let (called, calling) = (line.features.recents.calls, parts.line("3000").features.recents.calls)
        #expect(called.map(\.outcome) == [incoming] && calling.map(\.outcome) == [outgoing])
        #expect(called.first?.handle == "1000" && calling.first?.handle == "2000" && calling.first?.direction == .outgoing)
        #expect(called.first?.duration == (wasAnswered ? 9 : 0) && parts.line("3000").features.outgoing.isEmpty)
        #expect(parts.store.all.count == 2)
    }

    @Test(arguments: ["outgoing", "in the place of another", "without recents"])
    func `a forked leg, a replacing leg and a line without recents leave no recent call`(which: String) {
        let leg = parts.leg(which == "outgoing" ? .outgoing : .incoming, on: which == "without recents" ? "9196" : "2000")
        leg.origin = parts.origin("a")
        leg.origin?.isInRecents = which != "in the place of another"
        parts.services.noteEnd(of: leg, .action)
        #expect(leg.line.features.recents.calls.isEmpty && parts.store.all.isEmpty)
    }

    @Test func `a call that goes on as another is taken out of the recents that were kept`() {
        let leg = parts.leg(on: "2000")
        leg.origin = parts.origin("a", line: parts.line("3000"))
        parts.services.noteUp(leg)
        parts.services.leaveOut(leg)
        let (line, id) = ("2000", leg.uuid)
        let taken = parts.store.all.dropFirst(2)
        #expect(
            parts.store.all.count == 4
                && Array(taken) == [.noRecent(line: line, id: id, .incoming), .noRecent(line: "3000", id: id, .outgoing)])
        parts.services.noteEnd(of: leg, .action)
        #expect(parts.store.all.count == 4)
    }

    @Test(arguments: [nil, UUID()]) func `a call that goes on is not in the recents when all is read again, by either name`(name: UUID?) {
        let leg = parts.leg(on: "2000")
        leg.origin = parts.origin("a", line: parts.line("3000"))
        leg.origin?.recentID = name
        parts.table.add(leg)
        parts.services.noteUp(leg)
        let kept = parts.store.all.compactMap { if case .recent(let call) = $0 { call } else { nil } }
        func read() -> [Int] {
            ["2000", "3000"].map { number in
                _ = parts.services.adopt(.recents(line: number, kept.filter { $0.line == number }), mailboxes: parts.recorder.mailboxes)
                return parts.line(Text(number)).features.recents.calls.count
            }
        }
        #expect(kept.map(\.line) == ["2000", "3000"] && kept.allSatisfy { $0.id == name ?? leg.uuid } && read() == [0, 0])
        parts.table.discard(leg)
        #expect(read() == [1, 1], "it is over, and was never written")
    }

    // MARK: The store

    @Test func `registrations are restored, and changes are kept from then on`() throws {
        try parts.register("2000")
        #expect(parts.store.all.isEmpty)
        let contact = try #require(parts.registrar.contacts(of: "2000", at: parts.context.now).first)
        let epoch = Date(timeIntervalSince1970: 1_790_000_000), again = Parts()
        again.services.restore([SavedRegistration(contact, user: "2000", epoch: epoch)], epoch: epoch)
        let restored = try #require(again.registrar.contacts(of: "2000", at: again.context.now).first)
        #expect(restored.uri == contact.uri && restored.origin == contact.origin && restored.expiry == contact.expiry)
        try again.register("3000", over: .peer(3))
        guard case .registrations("3000", let kept) = again.store.all.first else {
            Issue.record("nothing was kept")
            return
        }
        #expect(kept.count == 1 && again.store.all.count == 1)
    }
}

extension LineChange {
    fileprivate var doNotDisturb: Bool? { if case .doNotDisturb("2000", let state) = self { state.isOn } else { nil } }
}
