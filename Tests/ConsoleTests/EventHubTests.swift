import CallJournal
import Foundation
import Primitives
import Testing

@testable import Console

@Suite struct EventHubTests {
    /// The events of one reader, as it gets them.
    private final class Ear {
        var ids: [EventPosition] = [], previous: [EventPosition?] = [], types: [EventType] = []
        var isEnded = false
        var reader: UInt64?

        func listen(_ hub: EventHub, _ filter: EventFilter = .init(), after: EventPosition? = nil) throws {
            if let after {
                let next = try hub.number(behind: after), kept = try #require(hub.events(from: next, atMost: .max))
                for event in kept where filter.takes(event) { take(event.encoded().json(after: ids.last ?? after), event) }
            }
            reader = hub.listen(filter, after: ids.last ?? after) { [unowned self] json, event, _ in
                take(json, event)
            } end: { [unowned self] _ in
                isEnded = true
            }
        }

        private func take(_ json: [UInt8], _ event: PublicEvent) {
            ids.append(event.position)
            types.append(event.type)
            previous.append(Self.previous(in: json))
            #expect(Self.text("id", in: json) == event.position.description)
            #expect(Self.text("type", in: json) == event.type.rawValue)
        }

        private static func object(_ json: [UInt8]) -> [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(json))) as? [String: Any] ?? [:]
        }
        private static func text(_ name: String, in json: [UInt8]) -> String? { object(json)[name] as? String }
        private static func previous(in json: [UInt8]) -> EventPosition? { text("prev", in: json).flatMap { EventPosition($0) } }
    }

    private static let call = CallUUID(high: 1, low: 2)

    private static func event(
        _ sequence: UInt64, _ kind: JournalEvent.Kind, call: CallUUID? = call, line: Text = "1001", _ details: JournalEvent.Details = [:]
    ) -> JournalEvent {
        JournalEvent(sequence: sequence, time: .zero, wall: sequence * 1_000_000, call: call, line: line, kind: kind, details: details)
    }

    /// `gateway.started`, and then what is given, numbered from 2.
    private static func run(_ name: Text, _ events: [(JournalEvent.Kind, JournalEvent.Details)] = []) -> [JournalEvent] {
        [event(1, .gatewayStarted, call: nil, line: "", [.run: .init(name)])]
            + events.enumerated().map { event(UInt64($0.offset) + 2, $0.element.0, $0.element.1) }
    }

    private static func position(_ text: String) throws -> EventPosition { try #require(EventPosition(text)) }

    @Test(arguments: [("0123abcd.42", true), ("a.0", true), ("a", false), (".1", false), ("a.-1", false), ("a b.1", false), ("", false)])
    func `a position is a run and a number`(text: String, isOne: Bool) { #expect((EventPosition(text)?.description == text) == isOne) }

    @Test func `a reader hears what comes, and each event names the one before it in its stream`() throws {
        let hub = EventHub(), all = Ear(), filtered = Ear()
        try all.listen(hub)
        try filtered.listen(hub, EventFilter(types: [.callIncoming, .callEnded]))
        hub.accept(
            Self.run(
                "aaaaaaaaaaaa",
                [
                    (.inviteReceived, [:]), (.reportIncoming, [:]), (.reportIncomingAccepted, [:]), (.remoteHold, [.on: true]),
                    (.callEnded, [.reason: "remoteEnded"]),
                ]),
            at: .zero)
        #expect(all.types == [.serverStarted, .callIncoming, .callRemoteHold, .callEnded])
        #expect(all.ids.map(\.description) == ["aaaaaaaa.1", "aaaaaaaa.4", "aaaaaaaa.5", "aaaaaaaa.6"])
        #expect(all.previous == [nil] + all.ids.dropLast())
        #expect(filtered.ids.map(\.sequence) == [4, 6] && filtered.previous == [nil, filtered.ids[0]])
        #expect(hub.position?.description == "aaaaaaaa.6")
    }

    @Test func `lines and calls are filtered`() throws {
        let hub = EventHub(), line = Ear(), call = Ear(), other = CallUUID(high: 9, low: 9)
        try line.listen(hub, EventFilter(line: "1002"))
        try call.listen(hub, EventFilter(call: other))
        hub.accept(
            [
                Self.event(1, .callEnded), Self.event(2, .callEnded, line: "1002"), Self.event(3, .callEnded, call: other),
                Self.event(4, .doNotDisturbChanged, call: nil, line: "1002", [.on: true]),
            ],
            at: .zero)
        #expect(line.ids.map(\.sequence) == [2, 4] && call.ids.map(\.sequence) == [3])
    }

    @Test func `an answer is a connected call, and a switch says which way`() throws {
        let hub = EventHub(), ear = Ear(), action = JournalEvent.Value.uuid(CallUUID(high: 5, low: 5))
        try ear.listen(hub)
        hub.accept(
            Self.run(
                "r",
                [
                    (.reportIncoming, [.remote: "alice"]), (.actionFulfilled, [.action: action, .class: "answer"]),
                    (.performHeld, [.action: action, .on: true]), (.actionFulfilled, [.action: action, .class: "held"]),
                    (.performHeld, [.action: action, .on: false]), (.actionFulfilled, [.action: action, .class: "held"]),
                    (.performMuted, [.action: action, .on: true]), (.actionFulfilled, [.action: action, .class: "muted"]),
                    (.performMuted, [.action: action, .on: false]), (.actionFailed, [.action: action, .class: "muted"]),
                    (.performEnd, [.action: action]), (.actionFulfilled, [.action: action, .class: "end"]),
                ]), at: .zero)
        #expect(ear.types == [.serverStarted, .callConnected, .callHeld, .callResumed, .callMuted, .actionFailed, .actionFulfilled])
        let state = try #require(hub.view.calls[Self.call])
        #expect(state.phase == .connected && !state.isOnHold && state.isMuted && state.remote == "alice")
    }

    // MARK: Going on

    @Test func `a reader goes on behind any position, also one that no event has`() throws {
        let hub = EventHub()
        hub.accept(
            Self.run("r", [(.remoteHold, [.on: true]), (.inviteReceived, [:]), (.remoteHold, [.on: false]), (.callEnded, [:])]), at: .zero)
        for (after, expected) in [("r.1", [2, 4, 5]), ("r.2", [4, 5]), ("r.3", [4, 5]), ("r.4", [5]), ("r.5", [])] as [(String, [UInt64])] {
            let ear = Ear()
            try ear.listen(hub, after: Self.position(after))
            #expect(
                ear.ids.map(\.sequence) == expected && ear.previous.first.flatMap(\.self)?.description ?? after == after, "after \(after)")
        }
        for gone in ["r.6", "other.1"] {
            #expect(throws: EventHub.Gone.self) { try Ear().listen(hub, after: Self.position(gone)) }
        }
    }

    @Test func `a reader goes on over a restart`() throws {
        let hub = EventHub(), ear = Ear()
        hub.accept(Self.run("a", [(.callEnded, [:])]) + Self.run("b", [(.callEnded, [:])]), at: .zero)
        try ear.listen(hub, after: Self.position("a.1"))
        #expect(ear.ids.map(\.description) == ["a.2", "b.1", "b.2"])
    }

    @Test func `a reader that a restart cut off goes on in the end of the journal`() throws {
        let hub = EventHub(), ear = Ear()
        var tail = JournalReader.Tail(events: (7...9).map { Self.event($0, .callEnded) }, isCut: true)
        tail.start = Self.run("a")[0]
        hub.restore(tail)
        hub.accept(Self.run("b", [(.callEnded, [:])]), at: .zero)
        try ear.listen(hub, after: Self.position("a.8"))
        #expect(ear.ids.map(\.description) == ["a.9", "b.1", "b.2"])
        #expect(throws: EventHub.Gone.self) { try Ear().listen(hub, after: Self.position("a.5")) }
        // A run that began after it is whole, whatever was before.
        let fresh = EventHub(), whole = Ear()
        fresh.restore(JournalReader.Tail())
        fresh.accept(Self.run("c"), at: .zero)
        try whole.listen(fresh, after: Self.position("c.0"))
        #expect(whole.ids.map(\.description) == ["c.1"])
        // Nobody can tell which run these are of.
        let other = EventHub()
        other.restore(JournalReader.Tail(events: [Self.event(7, .callEnded)], isCut: true))
        #expect(other.position == nil)
    }

    @Test func `what is not kept any more is told so, with the oldest that is`() throws {
        let hub = EventHub(), count = UInt64(EventHub.mostKept + EventHub.mostKept / 4)
        hub.accept(Self.run("r") + (2...(count + 1)).map { Self.event($0, .callEnded) }, at: .zero)
        let gone = #expect(throws: EventHub.Gone.self) { try Ear().listen(hub, after: Self.position("r.2")) }
        let oldest = try #require(gone?.oldest), ear = Ear()
        #expect(oldest.sequence == count + 2 - UInt64(EventHub.mostKept))
        try ear.listen(hub, after: oldest)
        #expect(ear.ids.count == EventHub.mostKept - 1)
    }

    @Test func `where events were lost every reader is sent away, and none goes on behind the hole`() throws {
        let hub = EventHub(), ear = Ear()
        hub.accept(Self.run("r", [(.callEnded, [:])]), at: .zero)
        try ear.listen(hub)
        hub.accept([Self.event(9, .callEnded)], hasGap: true, at: .zero)
        #expect(ear.isEnded && ear.ids.isEmpty)
        #expect(throws: EventHub.Gone.self) { try Ear().listen(hub, after: Self.position("r.2")) }
        try Ear().listen(hub, after: Self.position("r.9"))
    }

    @Test(arguments: 0..<4 as Range<UInt64>) func `a reader that is cut off at random misses none and hears none twice`(seed: UInt64) throws
    {
        var random = SeededRandom(seed: seed), sequence: UInt64 = 1, cuts = 0
        let hub = EventHub(), all = Ear()
        try all.listen(hub)
        hub.accept(Self.run("r"), at: .zero)
        var heard: [EventPosition] = all.ids, previous: [EventPosition?] = [nil], ear = Ear()
        try ear.listen(hub, after: heard.last)
        let kinds: [JournalEvent.Kind] = [.callEnded, .inviteReceived, .remoteHold, .performStart, .sipSent, .mediaOpened]
        while cuts < 250 {
            let batch = (0..<Int.random(in: 0...5, using: &random)).map { _ in
                sequence += 1
                return Self.event(sequence, kinds.randomElement(using: &random) ?? .callEnded)
            }
            hub.accept(batch, at: .zero)
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            cuts += 1
            if let reader = ear.reader { hub.forget(reader) }
            // What was on its way is lost with the connection.
            let arrived = ear.ids.prefix(Int.random(in: 0...ear.ids.count, using: &random))
            heard += arrived
            previous += ear.previous.prefix(arrived.count)
            ear = Ear()
            try ear.listen(hub, after: heard.last)
        }
        heard += ear.ids
        previous += ear.previous
        #expect(heard == all.ids, "seed \(seed)")
        #expect(previous == [nil] + heard.dropLast(), "each names the one before it")
    }

    // MARK: The view

    @Test func `a call is shown with what is known of it, and for a while after its end`() throws {
        let hub = EventHub()
        hub.accept(
            Self.run(
                "r",
                [
                    (.inviteReceived, [.callid: "c1", .from: "sip:a@x", .to: "sip:b@x"]), (.reportIncoming, [.remote: "a"]),
                    (.sipSent, [.method: "INVITE", .status: 200, .callid: "c1"]), (.mediaOpened, [.codec: "opus", .port: 1]),
                    (.actionFulfilled, [.class: "answer", .action: .uuid(CallUUID(high: 1, low: 1))]),
                    (.mediaStopped, [.packets: 7, .received: 8, .incoming: "signal"]), (.callEnded, [.reason: "remoteEnded"]),
                ]), at: .zero)
        let call = try #require(hub.view.calls[Self.call]), body = CallBody(call, with: [])
        #expect(body.state == .ended && body.hasConnected && body.hasEnded && !body.isOutgoing && body.handle == "a")
        #expect((body.sipCallID, body.sipStatus, body.codec, body.endReason) == ("c1", 200, "opus", "remoteEnded"))
        #expect(
            (body.from, body.to, body.media?.received, body.media?.sent, body.media?.incoming) == ("sip:a@x", "sip:b@x", 8, 7, "signal"))
        #expect(
            (body.began, body.connected, body.ended) == ("1970-01-01T00:00:00.003Z", "1970-01-01T00:00:00.006Z", "1970-01-01T00:00:00.008Z")
        )
    }

    @Test func `the end of a call tells the status that decided`() throws {
        let hub = EventHub()
        var ended: [String] = []
        _ = hub.listen(EventFilter(types: [.callEnded]), after: nil) { json, _, _ in
            ended.append(String(decoding: json, as: UTF8.self))
        } end: { _ in
        }
        hub.accept(
            Self.run(
                "r",
                [(.performStart, [.remote: "b"]), (.sipReceived, [.method: "INVITE", .status: 486]), (.callEnded, [.reason: "failed"])]),
            at: .zero)
        #expect(ended.count == 1 && ended[0].contains(#""data":{"reason":"failed","status":486}"#), "\(ended)")
    }

    @Test func `calls of a run that was killed are over with the next, and the last thousand are shown`() throws {
        let hub = EventHub()
        hub.accept(Self.run("a", [(.reportIncoming, [:])]), at: .zero)
        #expect(hub.view.calls[Self.call]?.phase == .ringing)
        hub.accept(Self.run("b"), at: .zero)
        #expect(hub.view.calls[Self.call]?.phase == .ended && hub.view.calls[Self.call]?.endReason == "gatewayKilled")
        #expect(hub.view.calls[Self.call]?.endedBy == "gateway" && hub.view.calls[Self.call]?.q850 == nil)
        let others = (1...1_000).flatMap { number in
            let call = CallUUID(high: 7, low: UInt64(number))
            return [Self.event(UInt64(2 * number), .performStart, call: call), Self.event(UInt64(2 * number + 1), .callEnded, call: call)]
        }
        hub.accept(others, at: .zero)
        #expect(hub.view.calls.count == 1_000 && hub.view.calls[Self.call] == nil)
    }

    @Test func `events cross lanes in their order, and a lane that does not keep up is told of the hole`() {
        let calls = Counter()
        let feed = EventFeed { delay in
            calls.value += 1
            calls.delays.append(delay)
        }
        for sequence in 1...3 as ClosedRange<UInt64> { feed.note(Self.event(sequence, sequence == 2 ? .portFree : .callEnded)) }
        #expect(calls.value == 1, "one call for all that wait")
        let first = feed.take()
        #expect(first.events.map(\.sequence) == [1, 3] && !first.hasGap)
        for sequence in 1...UInt64(EventFeed.mostWaiting + 2) { feed.note(Self.event(sequence, .callEnded)) }
        #expect(calls.delays[0] == .zero && calls.delays[1] > .zero && calls.delays[1] <= EventFeed.gathering, "one soon after is gathered")
        let second = feed.take()
        #expect(second.hasGap && second.events.count == 2 && feed.take().events.isEmpty)
    }

    private final class Counter: @unchecked Sendable {
        var value = 0
        var delays: [Duration] = []
    }
}
