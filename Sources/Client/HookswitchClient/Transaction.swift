import Foundation

extension HookswitchClient {
    /// The far end of a call.
    public struct Handle: Codable, Hashable, Sendable, ExpressibleByStringLiteral {
        /// Those of CXHandle.
        public enum Kind: String, Codable, Sendable { case generic, phoneNumber, emailAddress }

        /// nil: `generic` for what has an @, and `phoneNumber` otherwise.
        public var type: Kind?
        /// A number, or a SIP address.
        public var value: String

        public init(_ value: String, type: Kind? = nil) { (self.type, self.value) = (type, value) }
        public init(stringLiteral value: String) { self.init(value) }
    }

    /// An action of a transaction: a CXAction of CallKit.
    public enum Action: Hashable, Sendable {
        /// CXStartCallAction: the line's devices ring, and the one that answers is connected with the handle. nil: the gateway draws a
        /// UUID.
        case start(UUID?, to: Handle)
        /// CXAnswerCallAction: the first device that answers joins.
        case answer(UUID)
        /// CXEndCallAction: it is ended, declined or given up.
        case end(UUID)
        /// CXSetHeldCallAction: put on hold, or taken off.
        case setHeld(UUID, Bool)
        /// CXSetMutedCallAction: the far end hears silence, or sound again.
        case setMuted(UUID, Bool)
        /// CXSetGroupCallAction: it talks with all that the other call, of the same line, talks with; nil: it waits alone.
        case setGroup(UUID, with: UUID?)
        /// CXPlayDTMFCallAction: 0–9, *, #, A–D.
        case playDTMF(UUID, digits: String)
    }

    /// The event that the answer to a transaction waits for.
    public enum WaitLevel: String, Codable, CaseIterable, Sendable {
        /// The line's system took it.
        case accepted
        /// Each of its actions was fulfilled, or failed.
        case performed
        /// Each of its calls is connected, or over.
        case connected
    }

    /// The outcome of a transaction.
    public struct Outcome: Codable, Hashable, Sendable, Identifiable {
        /// `failed` where an action was not fulfilled.
        public enum State: String, Codable, Sendable { case accepted, performed, failed }

        /// The outcome of one of its actions.
        public struct ActionOutcome: Codable, Hashable, Sendable, Identifiable {
            public enum State: String, Codable, Sendable { case accepted, fulfilled, failed, timedOut }

            public var id: UUID
            /// The name of its class in CallKit.
            public var type: String
            public var call: UUID
            public var state: State
        }

        public var id: UUID
        public var state: State
        /// The number of the line.
        public var line: String
        /// The events that led to this outcome lie before it.
        public var position: Position?
        /// In the order of the request.
        public var actions: [ActionOutcome]
    }

    struct Transaction: Encodable {
        var id: UUID?
        var line: String?
        var actions: [Action]
        var wait: WaitLevel
        /// Seconds.
        var within: Double
    }

    /// A program that the gateway calls, to speak in a call or to listen to it.
    public struct StreamProgram: Encodable, Hashable, Sendable {
        /// The form of the messages.
        public enum Sound: Hashable, Sendable {
            /// Those of Twilio's Media Streams: µ-law at 8 kHz.
            case twilio
            /// Binary messages of sound, as `l16/16000` or `opus`.
            case raw(String)

            var format: String { self == .twilio ? "twilio" : "raw" }
            var encoding: String? { if case .raw(let encoding) = self { encoding } else { nil } }
        }

        /// The direction that a program listens to: the far end, what it hears, or both.
        public enum Tap: String, Codable, Sendable { case `in`, out, both }

        /// A field of the gateway's request.
        public struct Header: Codable, Hashable, Sendable {
            public var name: String, value: String
            public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
        }

        /// `ws` or `wss`.
        public var url: String
        public var sound: Sound
        /// nil: the program speaks.
        public var tap: Tap?
        public var headers: [Header]

        public init(_ url: String, sound: Sound = .twilio, tap: Tap? = nil, headers: [Header] = []) {
            (self.url, self.sound, self.tap, self.headers) = (url, sound, tap, headers)
        }

        private enum CodingKeys: CodingKey { case url, format, encoding, tap, headers }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(url, forKey: .url)
            try container.encode(sound.format, forKey: .format)
            try container.encodeIfPresent(sound.encoding, forKey: .encoding)
            try container.encodeIfPresent(tap, forKey: .tap)
            if !headers.isEmpty { try container.encode(headers, forKey: .headers) }
        }
    }

    struct TransferForm: Encodable { var to: String }
}

extension HookswitchClient.Action: Encodable {
    private enum Key: String, CodingKey { case type, call, handle, onHold, muted, with, digits }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        try members.encode("CX\(name)CallAction", forKey: .type)
        try members.encodeIfPresent(call, forKey: .call)
        switch self {
        case .start(_, let handle): try members.encode(handle, forKey: .handle)
        case .answer, .end: break
        case .setHeld(_, let isOn): try members.encode(isOn, forKey: .onHold)
        case .setMuted(_, let isOn): try members.encode(isOn, forKey: .muted)
        case .setGroup(_, let other): try members.encodeIfPresent(other, forKey: .with)
        case .playDTMF(_, let digits): try members.encode(digits, forKey: .digits)
        }
    }

    private var name: String {
        switch self {
        case .start: "Start"
        case .answer: "Answer"
        case .end: "End"
        case .setHeld: "SetHeld"
        case .setMuted: "SetMuted"
        case .setGroup: "SetGroup"
        case .playDTMF: "PlayDTMF"
        }
    }

    private var call: UUID? {
        switch self {
        case .start(let call, _): call
        case .answer(let call), .end(let call), .setHeld(let call, _), .setMuted(let call, _), .setGroup(let call, _),
            .playDTMF(let call, _):
            call
        }
    }
}
