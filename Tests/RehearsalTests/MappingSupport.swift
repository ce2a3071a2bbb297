import CallKit
import Foundation
import Gateway
import Primitives
import SIP
import Testing

@testable import Rehearsal

/// One row of the mapping, by its id, and how it is played.
struct MappingRow: Sendable, CustomTestStringConvertible {
    let id: String
    let play: @Sendable (MappingPlay) throws -> Void

    init(_ id: String, _ play: @escaping @Sendable (MappingPlay) throws -> Void) { (self.id, self.play) = (id, play) }

    var testDescription: String { id }
}

/// A caller, two devices of line 2000 and a gateway between them.
final class MappingPlay {
    static let line = "sip:2000@hookswitch.test", echo = "sip:9196@hookswitch.test"
    let stage: Stage
    let caller: RawPeer
    let device: RawPeer
    let second: RawPeer

    init(_ configure: @escaping (inout GatewayConfiguration) -> Void = { _ in }) {
        stage = Stage(configure)
        (caller, device, second) = (RawPeer(stage, 1), RawPeer(stage, 2), RawPeer(stage, 3))
        device.request("REGISTER", Self.line, call: "device", 1)
    }

    func registerSecond() { second.request("REGISTER", Self.line, call: "second", 1) }

    func invite(_ uri: String = line, headers: [String] = [], offers: Bool = true) {
        caller.request("INVITE", uri, call: "row", 1, body: offers ? caller.description("0 8") : "", headers: headers)
    }

    func cancel(_ uri: String = line, reason: String? = nil) {
        caller.cancel(uri, call: "row", 1, headers: reason.map { ["Reason: \($0)"] } ?? [])
    }

    /// The gateway's INVITE to the device.
    var called: Message { get throws { try #require(device.request(.invite)) } }
    var answer: Message? { caller.final(.invite, 1) }
    var tag: Text? { answer?.to.tag }

    func acknowledge(_ uri: String = line, body: String = "") { caller.request("ACK", uri, call: "row", 1, toTag: tag, body: body) }

    func talk() throws {
        invite()
        device.answer(try called, 200, body: device.description("0"))
        acknowledge()
    }

    func hangUp(_ uri: String = line, _ sequence: Int = 9) {
        caller.request("BYE", uri, call: "row", sequence, toTag: tag)
        device.answer(device.request(.bye), 200)
    }

    /// The UUID of the n-th call that there was, in the order of the journal.
    func call(_ index: Int) throws -> UUID {
        var calls: [CallUUID] = []
        for event in stage.transcript.events { if let call = event.call, !calls.contains(call) { calls.append(call) } }
        return try #require(calls.indices.contains(index) ? calls[index].uuid : nil)
    }

    /// A user of the line hangs up.
    func end(_ index: Int) throws {
        stage.gateway.end(try call(index), at: stage.world.now)
        stage.run(seconds: 0.1)
    }

    /// The first events of these kinds came in this order.
    func expectOrder(_ kinds: JournalEvent.Kind..., of index: Int = 0, _ location: SourceLocation = #_sourceLocation) throws {
        let uuid = CallUUID(try call(index))
        let events = stage.transcript.events.filter { $0.call == uuid }
        let places = kinds.map { kind in events.firstIndex { $0.kind == kind } }
        let isOrdered = !places.contains(nil) && zip(places, places.dropFirst()).allSatisfy { $0! < $1! }
        #expect(isOrdered, "\(zip(kinds, places).map { "\($0.0) \($0.1 ?? -1)" })", sourceLocation: location)
    }

    func reasons(of kind: JournalEvent.Kind) -> [String] { stage.events(kind).compactMap { $0.details.text(.reason)?.description } }

    func finish(_ location: SourceLocation = #_sourceLocation) { stage.expectQuiet(location) }
}

extension Stage {
    func expectQuiet(_ location: SourceLocation) { expectQuiet(after: 200, location) }
}
