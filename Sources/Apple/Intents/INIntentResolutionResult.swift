import Foundation

/// The outcome of one question about an intent. `hookswitchOutcome` tells a host or a test which it is.
open class INIntentResolutionResult: NSObject, @unchecked Sendable {
    public enum Outcome: Sendable {
        case success, needsValue, notRequired, unsupported, confirmationRequired, disambiguation
    }

    /// Not there on Apple systems, which keep it to themselves.
    public let hookswitchOutcome: Outcome

    public required init(hookswitch outcome: Outcome) {
        hookswitchOutcome = outcome
        super.init()
    }

    open class func needsValue() -> Self { Self(hookswitch: .needsValue) }
    open class func notRequired() -> Self { Self(hookswitch: .notRequired) }
    open class func unsupported() -> Self { Self(hookswitch: .unsupported) }
}

open class INPersonResolutionResult: INIntentResolutionResult, @unchecked Sendable {
    /// The persons that the outcome names.
    public private(set) var hookswitchPersons: [INPerson] = []

    open class func success(with person: INPerson) -> Self { make(.success, [person]) }
    open class func disambiguation(with people: [INPerson]) -> Self { make(.disambiguation, people) }
    open class func confirmationRequired(with person: INPerson?) -> Self { make(.confirmationRequired, person.map { [$0] } ?? []) }

    private class func make(_ outcome: Outcome, _ persons: [INPerson]) -> Self {
        let result = Self(hookswitch: outcome)
        result.hookswitchPersons = persons
        return result
    }
}

open class INStartCallContactResolutionResult: INPersonResolutionResult, @unchecked Sendable {}

open class INCallDestinationTypeResolutionResult: INIntentResolutionResult, @unchecked Sendable {
    public private(set) var hookswitchType = INCallDestinationType.unknown

    open class func success(with type: INCallDestinationType) -> Self {
        let result = Self(hookswitch: .success)
        result.hookswitchType = type
        return result
    }
}
