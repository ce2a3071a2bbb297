import Foundation
import Primitives
import SIP
import Testing
import UserAgent

@testable import Gateway
@testable import Media

/// Subscriptions of telephones to the messages of their mailbox (RFC 3842), with the messages on the wire.
@Suite struct MessageWaitingTests {
    private static let trusted = "<sip:2000@gateway.test>"
    private let parts: Parts

    init() throws {
        let place = try RecordingPlace("/nowhere/{caller}.wav")
        parts = Parts { configuration in
            var mailbox = MailboxSettings()
            mailbox.owners = ["2000"]
            configuration.lines[2].endpoint = .application(.record(greeting: nil, mailbox))
            configuration.lines[2].recording = place
        }
        try parts.register("2000", over: .peer(1))
    }

    private var mailboxes: Mailboxes { parts.recorder.mailboxes }

    private func leave() -> UUID {
        let message = MailboxMessage(id: UUID(), line: "9196", caller: "1", name: nil, called: "9196", received: Date())
        let tap = RecordingTap()
        mailboxes.begin(message, recordedBy: tap)
        mailboxes.receive(.kept(tap, path: "x.wav", length: .seconds(1)))
        return message.id
    }

    /// The status of the answer to a SUBSCRIBE.
    @discardableResult
    private func subscribe(
        _ number: String = "2000", from sender: String = trusted, call: Text = "lamp", _ sequence: UInt32 = 1, tag: Text? = nil,
        expires: Text? = "600", headers: [(HeaderName, Text)] = [(.event, "message-summary")], over flow: Flow = .peer(1)
    ) -> Int? {
        let all = headers + (expires.map { [(.expires, $0)] } ?? [])
        parts.receive(
            Parts.request(.subscribe, "sip:\(number)@gateway.test", from: sender, call: call, sequence, tag: tag, headers: all), over: flow)
        return parts.wire.statuses(.subscribe).last
    }

    private var tag: Text? { parts.wire.responses(.subscribe).last?.to.tag }
    private var notifications: [Message] { parts.wire.requests(.notify) }

    /// The telephone takes the NOTIFY that came last. Gives its state and its numbers.
    private func told(_ status: Int = 200) throws -> (state: Text?, numbers: String) {
        let last = try #require(notifications.last)
        parts.answer(last, status, over: .peer(1))
        let lines = String(decoding: last.body, as: UTF8.self).split(separator: "\r\n").map(String.init)
        return (last.headers[.subscriptionState], lines.last ?? "")
    }

    @Test(arguments: ["2000", "9196"]) func `an owner hears the numbers at once, and at each change`(number: String) throws {
        let old = leave()
        #expect(mailboxes.setHeard(true, old, ofLine: "9196"))
        #expect(subscribe(number) == 200 && parts.wire.responses(.subscribe).last?.headers[.expires] == "600")
        let first = try #require(notifications.first)
        #expect(first.headers[.event] == "message-summary" && first.contentType == "application/simple-message-summary")
        #expect(first.callID == "lamp" && first.from.tag == tag && first.to.tag == "tag-lamp")
        let text = "Messages-Waiting: no\r\nMessage-Account: sip:9196@gateway.test\r\nVoice-Message: 0/1\r\n"
        #expect(String(decoding: first.body, as: UTF8.self) == text)
        #expect(try told().state == "active;expires=600")
        let new = leave()
        #expect(try told().numbers == "Voice-Message: 1/1" && notifications.count == 2)
        #expect(mailboxes.setHeard(true, new, ofLine: "9196") && mailboxes.remove(new, ofLine: "9196"))
        #expect(try told().numbers == "Voice-Message: 0/2", "what changes while a NOTIFY is under way is told behind it")
        #expect(try told().numbers == "Voice-Message: 0/1" && notifications.count == 4)
    }

    @Test func `a subscription is refreshed, and ended by its owner`() throws {
        subscribe()
        _ = try told()
        let dialog = try #require(tag)
        parts.wait(.seconds(590))
        #expect(subscribe(2, tag: dialog) == 200)
        _ = try told()
        parts.wait(.seconds(590))
        parts.userAgent.advance(to: parts.context.now)
        #expect(parts.userAgent.counts.subscriptions == 1 && notifications.count == 2)
        #expect(subscribe(3, tag: dialog, expires: "0") == 200)
        #expect(try told().state == "terminated;reason=timeout" && parts.userAgent.counts.subscriptions == 0)
        _ = leave()
        #expect(notifications.count == 3 && subscribe(4, tag: dialog) == 481)
    }

    private func subscribe(_ sequence: UInt32, tag: Text, expires: Text = "600") -> Int? {
        subscribe("2000", sequence, tag: tag, expires: expires)
    }

    @Test func `it ends when it expires, and a fetch ends at once`() throws {
        #expect(subscribe(expires: nil) == 200 && parts.wire.responses(.subscribe).last?.headers[.expires] == "3600")
        _ = try told()
        parts.wait(.seconds(3_600))
        parts.userAgent.advance(to: parts.context.now)
        #expect(try told().state == "terminated;reason=timeout" && parts.userAgent.counts.subscriptions == 0)
        try parts.register("2000", over: .peer(1), 2)
        #expect(subscribe(call: "fetch", expires: "0") == 200)
        #expect(try told().state == "terminated;reason=timeout" && parts.userAgent.counts.subscriptions == 0)
    }

    @Test func `it ends with the registration, and where a NOTIFY finds nobody`() throws {
        subscribe()
        _ = try told()
        try parts.register("2000", over: .peer(1), 2, headers: [(.expires, "0")])
        #expect(try told().state == "terminated;reason=probation" && parts.userAgent.counts.subscriptions == 0)
        #expect(subscribe(call: "again") == 480)
        try parts.register("2000", over: .peer(1), 3)
        #expect(subscribe(call: "third") == 200)
        #expect(try told(481).state == "active;expires=600" && parts.userAgent.counts.subscriptions == 0)
    }

    @Test func `nobody but an owner is told, and what is asked wrongly is refused`() throws {
        try parts.register("3000", over: .peer(2))
        let other = "<sip:3000@gateway.test>"
        #expect(subscribe("9196", from: other, over: .peer(2)) == 403)
        #expect(subscribe("3000", from: other, call: "own", over: .peer(2)) == 404, "it has none")
        #expect(subscribe("2000", from: other, call: "foreign", over: .peer(2)) == 403)
        #expect(subscribe("4711", call: "nowhere") == 404)
        #expect(subscribe("9196", from: "<sip:stranger@gateway.test>", call: "stranger", over: .peer(200)) == 401)
        #expect(subscribe(call: "brief", expires: "59") == 423)
        #expect(parts.wire.responses(.subscribe).last?.headers[.minExpires] == "60")
        #expect(subscribe(call: "event", headers: [(.event, "presence")]) == 489)
        #expect(parts.wire.responses(.subscribe).last?.headers[.allowEvents] == "refer, message-summary")
        #expect(subscribe(call: "type", headers: [(.event, "message-summary"), (.accept, "application/sdp")]) == 406)
        #expect(subscribe(call: "eventless", headers: []) == 489 && notifications.isEmpty && parts.userAgent.counts.subscriptions == 0)
    }

    @Test func `one subscription too many ends the oldest`() throws {
        for number in 0...MessageWaiting.limit {
            #expect(subscribe(call: Text("lamp\(number)")) == 200)
            parts.answer(try #require(notifications.last { $0.callID == Text("lamp\(number)") }), 200, over: .peer(1))
        }
        let last = try #require(notifications.last { $0.callID == "lamp0" })
        #expect(last.headers[.subscriptionState] == "terminated;reason=rejected")
        parts.answer(last, 200, over: .peer(1))
        #expect(parts.userAgent.counts.subscriptions == MessageWaiting.limit)
    }

    @Test func `another configuration takes an owner away`() throws {
        subscribe()
        _ = try told()
        var lines = parts.configuration.lines
        lines[2].endpoint = .application(.record(greeting: nil))
        _ = parts.lines.adopt(lines, statuses: parts.configuration.refusals) { _, index in parts.lines[index] }
        parts.messageWaiting.reconfigure()
        #expect(try told().state == "terminated;reason=rejected" && parts.userAgent.counts.subscriptions == 0)
    }
}
