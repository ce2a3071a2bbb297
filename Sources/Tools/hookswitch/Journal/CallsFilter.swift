import Console
import Foundation
import Gateway
import Primitives

/// The filter for the calls of a journal that are wanted.
struct CallsFilter {
    /// Parts of From, and of To, Request-URI or line, in any case.
    var from: String?, to: String?
    var statuses: [CallStatusTerm] = []
    /// Nanoseconds since 1970.
    var since: UInt64?
    var isFailedOnly = false
    /// A UUID, the beginning of one, or a Call-ID.
    var call: String?

    func takes(_ call: CallDetailRecord) -> Bool {
        if let since, call.first.began.wall < since { return false }
        if isFailedOnly, !call.isTroubled { return false }
        if let name = self.call, LadderChoice.find(name, in: [call]).isEmpty { return false }
        if !statuses.isEmpty, !statuses.contains(where: { $0.takes(call.disposition, call.status) }) { return false }
        return Self.isFound(from, in: [call.first.from]) && Self.isFound(to, in: [call.first.to, call.first.uri, call.first.line])
    }

    static func isFound(_ part: String?, in texts: [Text?]) -> Bool {
        guard let part else { return true }
        return texts.contains { $0?.description.range(of: part, options: .caseInsensitive) != nil }
    }
}

/// One of the terms of `--status`: `busy`, `404` or `4xx`.
enum CallStatusTerm: Equatable {
    case disposition(CallDisposition), status(Int), statusClass(Int)

    static func list(_ text: String) throws -> [CallStatusTerm] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { try CallStatusTerm(String($0)) }
    }

    private init(_ text: String) throws {
        let word = text.lowercased()
        if let disposition = CallDisposition(rawValue: word) { self = .disposition(disposition); return }
        if let status = Int(word), (100...699).contains(status) { self = .status(status); return }
        if word.count == 3, word.hasSuffix("xx"), let digit = word.first?.wholeNumberValue, (1...6).contains(digit) {
            self = .statusClass(digit)
            return
        }
        let names = CallDisposition.allCases.map(\.rawValue)
        throw Failure.usage(
            "--status takes \(names.joined(separator: ", ")), a status as 404 or a class as 4xx, got '\(text)'"
                + SpellingSuggestion.hint(for: word, among: names))
    }

    func takes(_ disposition: CallDisposition, _ status: Int?) -> Bool {
        switch self {
        case .disposition(let wanted): disposition == wanted
        case .status(let wanted): status == wanted
        case .statusClass(let digit): status.map { $0 / 100 == digit } ?? false
        }
    }
}
