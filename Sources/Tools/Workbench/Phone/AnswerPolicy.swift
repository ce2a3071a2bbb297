import Primitives

/// The treatment of incoming calls that a telephone of ours did not begin itself.
public struct AnswerPolicy: Sendable {
    /// Rings so long, then answers; nil never answers.
    public var answersAfter: Duration? = .milliseconds(200)
    /// Refuses every call with this status instead.
    public var refusal: Int?
    /// Answers 486 to every so many-th call: 3 means the third, the sixth ...
    public var busyEvery: Int?
    /// Answers 486 while so many calls are there.
    public var maximumCalls = 8
    /// Ends after so many calls; nil goes on until it is told to stop.
    public var totalCalls: Int?
    /// The script of a call that is answered.
    public var script = CallScript()

    /// Rings for 200 ms and answers, eight calls at a time.
    public init() {}

    enum Verdict: Equatable { case ring, refuse(Int) }

    /// Decides on a call.
    /// - Parameters:
    ///   - number: from 1 on.
    ///   - calls: that are there already.
    func verdict(onCall number: Int, calls: Int) -> Verdict {
        if let totalCalls, number > totalCalls { return .refuse(480) }
        if let refusal { return .refuse(refusal) }
        let isBusy = busyEvery.map { $0 > 0 && number % $0 == 0 } ?? false
        return isBusy || calls >= maximumCalls ? .refuse(486) : .ring
    }
}
