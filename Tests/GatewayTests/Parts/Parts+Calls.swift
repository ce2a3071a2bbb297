import CallKit
import Foundation
import Media
import Primitives
import SDP
import SIP
import Testing
import UserAgent

@testable import Gateway

extension Parts {
    /// A leg that has no signalling.
    func leg(
        _ direction: Leg.Direction = .incoming, on number: Text = "2000", to destination: Destination? = nil,
        session: InviteSession? = nil
    ) -> Leg {
        let line = line(number), uuid = context.randomUUID()
        let scribe = LegJournal(journal: journal, call: CallUUID(uuid), line: number)
        return Leg(
            direction, uuid: uuid, line: line, context: self, session: session, destination: destination.map(Boxed.init),
            device: destination?.device.flatMap(lines.line(numbered:)), flow: .peer(1),
            local: LocalMedia(address: Parts.address, port: 0), sessionID: 1,
            media: LegMedia(id: table.nextMediaID(), plane: plane, scribe: scribe), scribe: scribe)
    }

    func origin(_ attempt: Text, line: Line? = nil, dialled: Text = "2000") -> CallOrigin {
        let caller = CallerIdentity(user: "1000", host: Self.domain)
        return CallOrigin(line: line, attempt: attempt, caller: caller, handle: caller.handle, dialled: dialled, began: context.date)
    }

    /// A device of a line as the destination of a call.
    func device(_ number: Text, over flow: Flow = .peer(2)) -> Destination {
        let caller = CallerIdentity(user: "1000", host: Self.domain)
        return Destination(
            target: URI(user: "phone", address: flow.remote), addressOfRecord: URI(user: number, host: Self.domain), flow: flow,
            caller: caller, device: number)
    }

    /// A call of a peer to a number: it rings at devices, or an application has answered it.
    /// - Parameter uri: the Request-URI; nil: the number in our domain.
    @discardableResult
    func call(
        _ number: String = "2000", uri: String? = nil, from sender: String = "<sip:1000@192.0.2.1>", over flow: Flow = .peer(1),
        call: Text = "call",
        headers: [(HeaderName, Text)] = [], body: String = Parts.description()
    ) throws -> Leg? {
        let invite = Self.request(.invite, uri ?? "sip:\(number)@gateway.test", from: sender, call: call, headers: headers, body: body)
        let session = try session(invite, over: flow)
        incomingCalls.receive(session)
        return table.leg(ofAttempt: session.attempt)
    }

    /// A call of 192.0.2.1 to a device of the line, both of which talk.
    /// - Parameters:
    ///   - device: the last byte of its address; it registers first.
    ///   - answer: what it says of its sound.
    func talk(
        _ number: Text = "2000", from sender: String = "<sip:1000@192.0.2.1>", call: Text = "call", device: UInt32 = 2,
        answer: String = Parts.description(), _ location: SourceLocation = #_sourceLocation
    ) throws -> (caller: Leg, callee: Leg) {
        if registrar.contacts(of: number, at: context.now).isEmpty { try register(number, over: .peer(device)) }
        let caller = try #require(try self.call("\(number)", from: sender, call: call), sourceLocation: location)
        self.answer(try #require(wire.requests(.invite).last), 200, body: answer, over: .peer(device))
        let callee = try #require(table.callees(of: caller.uuid).first.flatMap(table.leg), sourceLocation: location)
        table.tell(caller.bridge, .calleeConnected(callee.uuid))
        settle()
        let tag = try #require(wire.responses().last { $0.callID == call }?.to.tag)
        receive(Self.request(.ack, "sip:\(number)@gateway.test", from: sender, call: call, tag: tag))
        table.tell(caller.bridge, .callerConnected)
        settle()
        try #require(caller.state == .connected && callee.state == .connected, sourceLocation: location)
        return (caller, callee)
    }

    /// A request of the caller of `talk` in its dialog.
    func inDialog(_ caller: Leg, _ method: SIP.Method, _ sequence: UInt32 = 2, headers: [(HeaderName, Text)] = [], body: String = "") {
        guard let session = caller.session else { return }
        receive(
            Self.request(
                method, "sip:\(caller.line.configuration.number)@gateway.test", call: session.callID, sequence, tag: session.localTag,
                headers: headers, body: body))
    }
}
