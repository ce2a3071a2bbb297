import Foundation
import HTTP

// Calls, and what is done to them.
extension HookswitchClient {
    /// The calls that are up.
    ///
    /// - Parameters:
    ///   - line: of this line; nil: of all.
    ///   - state: those in it, `ended` included; nil: all that are up.
    public func calls(line: String? = nil, state: Call.State? = nil) async throws -> [Call] {
        try await send(.calls(line: line, state: state)).calls
    }

    /// A call that is up, or one of the last that ended.
    public func call(_ id: UUID) async throws -> Call { try await send(Request(.get, ["calls", id.uuidString])) }

    /// The calls that are up, and the position behind which ``events(after:types:line:call:connection:)`` goes on without a gap.
    public func snapshot() async throws -> Snapshot { try await send(.snapshot) }

    /// Conversations: who talks with whom.
    public func groups() async throws -> Groups { try await send(.groups) }

    /// Performs actions all, in their order, or has them refused together.
    ///
    /// - Parameters:
    ///   - actions: 32 at most.
    ///   - line: whose system is asked; nil: that of the calls. A start needs one.
    ///   - id: makes it idempotent: asked for again, after a timeout for instance, the same transaction gets the outcome of the first.
    ///   - wait: when the answer comes.
    ///   - limit: of the wait, 120 s at most.
    /// - Throws: ``Problem`` where it is refused: its code is the name of CallKit's error where it is one.
    public func perform(
        _ actions: [Action], on line: String? = nil, as id: UUID = UUID(), wait: WaitLevel = .accepted,
        within limit: Duration = .seconds(30)
    ) async throws -> Outcome {
        try await send(.transaction(actions, on: line, as: id, wait: wait, within: limit))
    }

    /// The outcome of a transaction of the last hour.
    public func outcome(of transaction: UUID) async throws -> Outcome {
        try await send(Request(.get, ["transactions", transaction.uuidString]))
    }

    /// Starts a call: the line's devices ring, and the one that answers is connected with the handle.
    ///
    /// - Parameter call: the UUID that it is to have, and no other had; nil: the gateway draws one.
    public func start(
        _ call: UUID? = nil, to handle: Handle, on line: String, wait: WaitLevel = .performed, within limit: Duration = .seconds(30)
    ) async throws -> Outcome { try await perform([.start(call, to: handle)], on: line, wait: wait, within: limit) }

    /// Answers an incoming call that rings.
    @discardableResult public func answer(_ call: UUID, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.answer(call)], wait: wait)
    }

    /// Ends a call, declines it or gives it up.
    @discardableResult public func end(_ call: UUID, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.end(call)], wait: wait)
    }

    /// Puts a call on hold, or takes it off.
    @discardableResult public func hold(_ call: UUID, _ isOn: Bool = true, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.setHeld(call, isOn)], wait: wait)
    }

    /// Sends the far end silence, or sound again.
    @discardableResult public func mute(_ call: UUID, _ isOn: Bool = true, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.setMuted(call, isOn)], wait: wait)
    }

    /// Moves a call into the conversation of another one of its line; nil: it is taken out of its own, and waits.
    @discardableResult public func group(_ call: UUID, with other: UUID?, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.setGroup(call, with: other)], wait: wait)
    }

    /// Sends keys to the far end: 0–9, *, #, A–D.
    @discardableResult public func digits(_ digits: String, to call: UUID, wait: WaitLevel = .performed) async throws -> Outcome {
        try await perform([.playDTMF(call, digits: digits)], wait: wait)
    }

    /// Asks the far end to call somebody else (REFER). Returns when it was asked; `call.transferred` and `call.transfer-failed` tell the
    /// rest.
    ///
    /// - Parameter target: a SIP URI.
    public func transfer(_ call: UUID, to target: String) async throws { _ = try await send(.transfer(call, to: target)) }

    /// Connects a call that is up with a program that the gateway calls by WebSocket.
    public func attach(_ program: StreamProgram, to call: UUID) async throws {
        _ = try await send(Request<Nothing>(.post, ["calls", call.uuidString, "stream"], program))
    }

    /// Ends the stream of a call.
    public func detachStream(from call: UUID) async throws {
        _ = try await send(Request<Nothing>(.delete, ["calls", call.uuidString, "stream"]))
    }

    /// Draws a ticket for one connection of a program that is to have no token: to a stream, or to events.
    public func ticket() async throws -> Ticket { try await send(Request(.post, ["tickets"])) }

    /// The path and query at which a program connects to a call by WebSocket.
    ///
    /// - Parameters:
    ///   - sound: of the messages.
    ///   - tap: the program only listens, in this direction; nil: it speaks.
    ///   - ticket: lets the program in; nil: it shows a token.
    public static func streamPath(
        of call: UUID, sound: StreamProgram.Sound = .twilio, tap: StreamProgram.Tap? = nil, ticket: Ticket? = nil
    ) -> String {
        let query: [(String, String?)] = [
            ("format", sound.format), ("encoding", sound.encoding), ("tap", tap?.rawValue), ("ticket", ticket?.ticket),
        ]
        return Request<Nothing>(.get, ["calls", call.uuidString, "stream"], query: query).path
    }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Snapshot {
    /// Calls by line and state; those that are up where no state is said.
    public static func calls(line: String? = nil, state: HookswitchClient.Call.State? = nil) -> Self {
        Self(.get, ["calls"], query: [("line", line), ("state", state?.rawValue)])
    }

    /// The calls that are up, at a position.
    public static var snapshot: Self { Self(.get, ["snapshot"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Groups {
    /// Conversations.
    public static var groups: Self { Self(.get, ["groups"]) }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Outcome {
    /// Actions that are performed all, or refused together.
    public static func transaction(
        _ actions: [HookswitchClient.Action], on line: String?, as id: UUID, wait: HookswitchClient.WaitLevel, within limit: Duration
    ) -> Self {
        let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
        let body = HookswitchClient.Transaction(id: id, line: line, actions: actions, wait: wait, within: seconds)
        var request = Self(.post, ["transactions"], body)
        request.wait = limit
        return request
    }
}

extension HookswitchClient.Request where Answer == HookswitchClient.Nothing {
    /// The far end of a call is asked to call a SIP URI.
    public static func transfer(_ call: UUID, to target: String) -> Self {
        Self(.post, ["calls", call.uuidString, "transfer"], HookswitchClient.TransferForm(to: target))
    }
}
