import CallJournal
import CallKit

/// The end of a leg, as the leg knows it.
package struct LegEnding {
    /// Why it ends, as the other side and the other leg are told; set before the end is asked for.
    package var cause: EndCause?
    /// The side that ends it, where how CallKit ends the call does not say so; set before, too.
    package var ender: CallEnder?

    /// One that nothing is known of yet.
    package init() {}

    /// The side that ended a call that CallKit ended so.
    func ender(of end: CallEnd) -> CallEnder {
        if let ender { return ender }
        return switch end {
        case .action, .endTimedOut: .local
        case .reported, .startFailed, .startTimedOut, .answerFailed, .reset: .gateway
        }
    }
}
