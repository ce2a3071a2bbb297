import Foundation

/// The lines between `hookswitch app` and the app that it has started. To the app come orders, one JSON object a line. From it come the
/// events of its journal as they are written, and notes, which begin with `!`.
package enum AppLink {
    /// The variable of the app's environment that has the path of the command's socket.
    package static let variable = "HOOKSWITCH_APP"

    /// An order to the app's line, or to its user. The UUIDs of calls are those of the journal.
    package enum Order: Codable, Hashable, Sendable {
        /// The first order: the line registers with that server.
        case setUp(line: String, server: String, lowestPort: UInt16, highestPort: UInt16)
        case dial(String)
        /// Answers; another call that is heard is held, or ended.
        case answer(UUID, endsOthers: Bool)
        case end(UUID)
        case hold(UUID, Bool)
        case mute(UUID, Bool)
        case press(UUID, String)
        case join(UUID, with: UUID)
        /// A VoIP push comes: a JSON object.
        case push(String)
        /// The same with the next INVITE.
        case pushWithNextCall(String)
        /// Writes the journal's end, and ends the process.
        case finish
    }

    /// Something that the journal does not tell.
    package struct Note: Codable, Hashable, Sendable {
        package enum Kind: String, Codable, Sendable {
            /// The system refuses what the user wants; `text` has the code.
            case refused
            /// The outcome of a push.
            case push
            /// The next INVITE brings a push.
            case expectsPush
            /// The first packet of sound after a start, to the far end and from it.
            case sendsSound, hearsSound
            /// The order makes no sense here.
            case misunderstood
            /// The journal is complete.
            case finished
        }

        package var kind: Kind
        package var text: String
        package var call: UUID?
        /// Nanoseconds of the monotonic clock.
        package var time: UInt64

        package init(_ kind: Kind, _ text: String = "", call: UUID? = nil, time: UInt64) {
            (self.kind, self.text, self.call, self.time) = (kind, text, call, time)
        }
    }

    private static let noteMark = UInt8(ascii: "!"), newline = UInt8(ascii: "\n")

    package static func line(_ order: Order) -> [UInt8] { json(order) + [newline] }
    package static func line(_ note: Note) -> [UInt8] { [noteMark] + json(note) + [newline] }
    package static func order(_ line: [UInt8]) -> Order? { try? JSONDecoder().decode(Order.self, from: Data(line)) }

    /// nil where the line is no note: an event of the journal.
    package static func note(_ line: [UInt8]) -> Note? {
        line.first == noteMark ? try? JSONDecoder().decode(Note.self, from: Data(line.dropFirst())) : nil
    }

    private static func json(_ value: some Encodable) -> [UInt8] { (try? JSONEncoder().encode(value)).map(Array.init) ?? [] }
}
