import Primitives

/// A code that a line's user dials on a device to set something: `*` and two digits.
public enum FeatureCode: String, Sendable, CaseIterable {
    case doNotDisturbOn = "*78"
    case doNotDisturbOff = "*79"
    case blockLastCaller = "*60"
    case unblockLastCaller = "*80"
    case callBackLastCaller = "*69"

    /// The code in a dialled number that begins with a star.
    enum Dialled: Equatable {
        case code(FeatureCode)
        /// The beginning of a code.
        case incomplete
        case unknown
    }

    static func dialled(_ number: Text) -> Dialled? {
        guard number.hasPrefix("*") else { return nil }
        let text = number.description
        if let code = FeatureCode(rawValue: text) { return .code(code) }
        return allCases.contains { $0.rawValue.hasPrefix(text) } ? .incomplete : .unknown
    }
}
