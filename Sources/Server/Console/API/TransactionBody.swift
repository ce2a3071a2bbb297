import CallKit
import Foundation
import Gateway
import Primitives
import RTP

/// The content of `POST /v1/transactions`.
struct TransactionBody: Decodable {
    struct Handle: Decodable {
        var type: String?
        var value: String
    }

    struct Action: Decodable {
        var type: String
        var call: UUID?
        var handle: Handle?
        var onHold: Bool?
        var muted: Bool?
        var digits: String?
        /// A call of the group that is joined.
        var with: UUID?
    }

    var id: UUID?
    var line: String?
    var actions: [Action]
    var wait: String?
    /// Seconds.
    var within: Double?
}

/// The event that the answer to a transaction waits for.
enum WaitLevel: String, CaseIterable {
    /// The line's system took it.
    case accepted
    /// Each of its actions was fulfilled, or failed.
    case performed
    /// Each of its calls is connected, or over.
    case connected
}

extension TransactionBody {
    static let longestWait = 120.0, usualWait = 30.0

    func order() throws(Problem) -> TransactionOrder {
        var orders: [TransactionOrder.Action] = []
        for (index, action) in actions.enumerated() { orders.append(try action.order("actions[\(index)]")) }
        guard orders.count <= 32 else { throw .badRequest("a transaction has 32 actions at most") }
        return TransactionOrder(id: id, line: line.map { Text($0) }, actions: orders)
    }

    func level() throws(Problem) -> WaitLevel {
        guard let wait else { return .accepted }
        guard let level = WaitLevel(rawValue: wait) else {
            throw .badRequest("wait: '\(wait)' is none of \(WaitLevel.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return level
    }

    func patience() throws(Problem) -> Duration {
        let seconds = within ?? Self.usualWait
        guard seconds > 0, seconds <= Self.longestWait else { throw .badRequest("within: more than 0 and at most 120 seconds") }
        return .milliseconds(Int64(seconds * 1_000))
    }
}

extension TransactionBody.Action {
    /// - Parameter place: where it stands, for problems.
    func order(_ place: String) throws(Problem) -> TransactionOrder.Action {
        switch type {
        case "CXStartCallAction":
            guard let handle else { throw .badRequest("\(place).handle is missing: whom is to be called") }
            return .start(call: call, CallRequest(handle: try handle.handle("\(place).handle")))
        case "CXAnswerCallAction": return .answer(try known(place))
        case "CXEndCallAction": return .end(try known(place))
        case "CXSetHeldCallAction": return .setHeld(try known(place), try Self.flag(onHold, "\(place).onHold"))
        case "CXSetGroupCallAction": return .setGroup(try known(place), with: with)
        case "CXSetMutedCallAction": return .setMuted(try known(place), try Self.flag(muted, "\(place).muted"))
        case "CXPlayDTMFCallAction":
            guard let digits, !digits.isEmpty, digits.count <= 64, digits.allSatisfy({ DTMFDigit($0) != nil }) else {
                throw .badRequest("\(place).digits: 1 to 64 of 0–9, *, #, A–D")
            }
            return .playDTMF(try known(place), digits: digits)
        default:
            throw .badRequest("\(place).type: '\(type)' is none of \(Self.types.joined(separator: ", "))")
        }
    }

    static let types = [
        "CXStartCallAction", "CXAnswerCallAction", "CXEndCallAction", "CXSetHeldCallAction", "CXSetGroupCallAction", "CXSetMutedCallAction",
        "CXPlayDTMFCallAction",
    ]

    private func known(_ place: String) throws(Problem) -> UUID {
        guard let call else { throw .badRequest("\(place).call is missing") }
        return call
    }

    private static func flag(_ value: Bool?, _ place: String) throws(Problem) -> Bool {
        guard let value else { throw .badRequest("\(place) is missing") }
        return value
    }
}

extension TransactionBody.Handle {
    func handle(_ place: String) throws(Problem) -> CXHandle {
        guard !value.isEmpty, value.utf8.count <= 256 else { throw .badRequest("\(place).value: 1 to 256 bytes") }
        switch type {
        // A number, unless it says that it is an address.
        case nil: return CXHandle(type: value.contains("@") ? .generic : .phoneNumber, value: value)
        case "generic": return CXHandle(type: .generic, value: value)
        case "phoneNumber": return CXHandle(type: .phoneNumber, value: value)
        case "emailAddress": return CXHandle(type: .emailAddress, value: value)
        case let type?: throw .badRequest("\(place).type: '\(type)' is none of generic, phoneNumber, emailAddress")
        }
    }
}
