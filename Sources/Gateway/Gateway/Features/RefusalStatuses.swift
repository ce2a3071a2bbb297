import CallKit
import Foundation
import Primitives
import SIP
import UserAgent

/// The status of each refusal that leaves a choice (mapping §4). One that is not set here has its default.
public struct RefusalStatuses: Sendable, Equatable {
    /// Why a call is refused.
    public enum Kind: String, Sendable, CaseIterable {
        case doNotDisturb = "do-not-disturb"
        /// Blocked by the human.
        case blockList = "block-list"
        /// Blocked by a call directory.
        case directory
        /// The line takes no calls.
        case unentitled
        /// As many conversations as the line has room for.
        case maximumCalls = "maximum-calls"

        /// The default first. A 6xx ends all branches of a forked call: choose one only where no other telephone is to ring.
        public var statuses: [Int] {
            switch self {
            case .doNotDisturb: [480, 486, 600, 603]
            case .blockList: [607, 603, 403, 480]
            case .directory: [608, 603]
            case .unentitled: [403, 404]
            case .maximumCalls: [486, 600]
            }
        }
    }

    private var chosen: [Kind: Int] = [:]

    public init() {}

    /// One of the kind's `statuses`.
    public subscript(kind: Kind) -> Int {
        get { chosen[kind] ?? kind.statuses[0] }
        set {
            precondition(kind.statuses.contains(newValue), "\(newValue) does not fit \(kind.rawValue)")
            chosen[kind] = newValue
        }
    }

    /// These, and the others where these say nothing.
    public func over(_ others: RefusalStatuses) -> RefusalStatuses {
        var merged = self
        merged.chosen.merge(others.chosen) { own, _ in own }
        return merged
    }
}

/// A refusal in full: what the caller is told.
struct CallRefusal {
    var cause: EndCause
    var headers: [(HeaderName, Text)] = []

    init(_ cause: EndCause) { self.cause = cause }

    /// A refusal of a kind that leaves a choice.
    init(_ kind: RefusalStatuses.Kind, _ statuses: RefusalStatuses) {
        let status = statuses[kind]
        let q850: Int
        switch (kind, status) {
        case (_, 480): q850 = 31
        case (_, 486), (_, 600): q850 = 17
        default: q850 = 21
        }
        let phrase: Text? =
            switch (kind, status) {
            case (.doNotDisturb, 480): "Do Not Disturb"
            case (_, 607): "Unwanted"
            case (_, 608): "Rejected"
            default: nil
            }
        self.init(EndCause(status: status, phrase: phrase, reasons: [.q850(q850)]))
    }
}
