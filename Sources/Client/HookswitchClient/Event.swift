import Foundation

extension HookswitchClient {
    /// The place of an event in all that a gateway ever tells, written `run.seq`. Not to be taken apart.
    public struct Position: RawRepresentable, Codable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
        public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(String.self) }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(rawValue)
        }

        public var description: String { rawValue }
    }

    /// Something that happened: a CloudEvent (1.0). `/v1/asyncapi.json` has all types with their `data`.
    public struct Event: Decodable, Hashable, Sendable, Identifiable {
        /// The place of the event; the position to go on behind.
        public var id: Position
        /// As `call.connected`.
        public var type: String
        public var time: Date
        /// The event before it in the same stream; nil at the beginning.
        public var prev: Position?
        public var call: UUID?
        /// The number of the line.
        public var line: String?
        public var data: [String: Value]
        /// The gateway that told it, and its place in what that tells, where several answer as one.
        public var node: String?, nodePosition: Position?
        /// All of it as it came.
        public private(set) var json = ""

        private enum CodingKeys: CodingKey { case id, type, time, prev, call, line, data, node, nodePosition }

        init(_ json: String) throws {
            self = try HookswitchClient.decode(Event.self, Data(json.utf8))
            self.json = json
        }
    }

    /// A value of JSON.
    public enum Value: Decodable, Hashable, Sendable {
        case text(String), number(Double), flag(Bool), list([Value]), members([String: Value]), null

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .text(text)
            } else if let flag = try? container.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else if let list = try? container.decode([Value].self) {
                self = .list(list)
            } else if container.decodeNil() {
                self = .null
            } else {
                self = .members(try container.decode([String: Value].self))
            }
        }

        /// nil: it is no text.
        public var text: String? { if case .text(let text) = self { text } else { nil } }
        /// nil: it is no number.
        public var number: Double? { if case .number(let number) = self { number } else { nil } }
    }
}
