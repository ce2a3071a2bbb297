import SIP

/// The demand on the answer to a request.
public struct TortureDemand: Sendable {
    private enum Kind: Sendable {
        case one(of: [Int])
        case any(but: [Int])
        case silence
    }

    private let kind: Kind
    /// That the answer must have.
    let header: HeaderName?

    private init(_ kind: Kind, has header: HeaderName? = nil) { (self.kind, self.header) = (kind, header) }

    /// Whoever receives it reads it and deals with it, whatever he then says of address, method or caller.
    static let understood = any(but: [400, 500, 505, 513])
    /// As `understood`, and nobody has this method.
    static let unknownMethod = any(but: [200, 202, 400, 500, 505, 513])
    /// To be refused, or to be guessed at: the section leaves it open, but an answer there must be.
    static let tolerated = any(but: [500, 505, 513])
    /// A final response of any kind.
    static let anything = any(but: [])
    static let success = status([200])
    /// Nothing may be said to it.
    static let silence = TortureDemand(.silence)

    /// - Parameter header: the answer must have it.
    static func status(_ statuses: [Int], has header: HeaderName? = nil) -> TortureDemand { TortureDemand(.one(of: statuses), has: header) }
    static func any(but statuses: [Int]) -> TortureDemand { TortureDemand(.any(but: statuses)) }

    var isSilence: Bool { if case .silence = kind { true } else { false } }

    func accepts(_ status: Int) -> Bool {
        switch kind {
        case .one(let statuses): statuses.contains(status)
        case .any(let statuses): !statuses.contains(status)
        case .silence: false
        }
    }

    /// For a person: `400 or 501`, `an answer other than 400`.
    var text: String {
        switch kind {
        case .one(let statuses): statuses.map(String.init).joined(separator: " or ") + (header.map { " with \($0.text)" } ?? "")
        case .any(let statuses) where statuses.isEmpty: "an answer"
        case .any(let statuses): "an answer other than " + statuses.map(String.init).joined(separator: ", ")
        case .silence: "no answer"
        }
    }
}
