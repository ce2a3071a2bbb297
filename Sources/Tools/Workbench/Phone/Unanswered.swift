import Primitives
import SIP
import UserAgent

/// A request that nobody answered: what the stack calls 408 or 503 then is a status that nobody sent.
struct Unanswered {
    /// The flow by which the request went.
    var flow: Flow
    /// As the stack names it: 503 where nothing could be sent, 408 where nothing came.
    var status: Int
    /// The network said that nobody takes datagrams there (ICMP).
    var isPortUnreachable = false
    /// The time for which an answer was waited for.
    var waited: Duration?

    /// For a person.
    var words: Text {
        let place = Text("\(flow.transport) \(flow.remote)")
        guard status == 503 else {
            let time = waited.map { " within \(Double($0.wholeMilliseconds / 100) / 10) s" } ?? " in time"
            return "no answer from " + place + Text(time)
        }
        if isPortUnreachable { return "nobody listens at " + place }
        return flow.transport == .udp ? "nothing can be sent to " + place : "nobody listens at " + place + ", or no way leads there"
    }
}

/// Why a registrar did not register a line.
public struct RegistrationFailure: Hashable, Sendable {
    /// Nil where nobody answered.
    public var status: Int?
    /// Why, where no status says it.
    public var words: Text?

    init(status: Int?, words: Text?) { (self.status, self.words) = (status, words) }

    /// The words that follow `the registration failed`.
    public var suffix: String { status.map { " with \($0)" } ?? words.map { ": \($0)" } ?? "" }
}
