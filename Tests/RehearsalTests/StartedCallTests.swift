import CallKit
import Foundation
import Primitives
import SIP
import Testing

@testable import Gateway
@testable import Rehearsal

/// Calls that a program starts under UUIDs of its own (CXStartCallAction).
@Suite struct StartedCallTests {
    private let stage: Stage
    private let device: RawPeer
    private let call = UUID()

    init() {
        stage = Stage { _ in }
        device = RawPeer(stage, 2)
        device.request("REGISTER", BridgedCall.line, call: "register", 1)
    }

    private func request(_ actions: TransactionOrder.Action...) throws {
        _ = try stage.gateway.request(TransactionOrder(line: "2000", actions: actions), at: stage.world.now)
    }

    private func start(_ call: UUID) -> TransactionOrder.Action {
        .start(call: call, CallRequest(handle: CXHandle(type: .phoneNumber, value: "9196")))
    }

    private func expectTaken(_ call: UUID, _ location: SourceLocation = #_sourceLocation) {
        #expect(throws: TransactionOrderError.refused(.callUUIDAlreadyExists), sourceLocation: location) { try request(start(call)) }
    }

    private func expectStarts(_ calls: UUID..., location: SourceLocation = #_sourceLocation) {
        stage.expectQuiet(location)
        #expect(stage.events(.performStart).compactMap(\.call?.uuid).filter(calls.contains) == calls, sourceLocation: location)
    }

    @Test func `no start takes the UUID of a call that there is, or that has ended`() throws {
        try request(start(call))
        stage.run(seconds: 1)
        expectTaken(call)
        device.answer(try device.received(.invite), 603)
        expectTaken(call)
        stage.run(seconds: 300)
        expectTaken(call)
        let other = UUID()
        try request(start(other))
        stage.run(seconds: 1)
        device.answer(try device.received(.invite), 603)
        expectStarts(call, other)
    }

    @Test func `of two starts in one moment one runs, also where the first ends at once`() throws {
        try request(start(call))
        try request(.end(call))
        expectTaken(call)
        stage.run(seconds: 1)
        device.answer(try device.received(.invite), 486)
        expectStarts(call)
    }

    @Test func `the UUID of a start that was refused is free`() throws {
        #expect(throws: TransactionOrderError.refused(.callUUIDAlreadyExists)) { try request(start(call), start(call)) }
        try request(start(call))
        stage.run(seconds: 1)
        device.answer(try device.received(.invite), 603)
        expectStarts(call)
    }
}
