import Media
import Primitives

/// A callee that does as it is told, to test callers with.
public struct LineScript: Sendable, Equatable {
    /// The action of the line on a call.
    public enum Act: Sendable, Equatable {
        /// Answers, and sends every packet back to its sender.
        case answer
        /// Rings and does nothing else; the ring limit of the line ends that.
        case ring
        /// 300–699.
        case reject(Int)
    }

    /// The action of the line on a call.
    public var act: Act
    /// The time that it rings before that.
    public var after: Duration
    /// Every so many calls are answered 486 instead, the first of them when that many have come.
    public var busyEvery: Int?

    public init(_ act: Act, after: Duration = .zero, busyEvery: Int? = nil) {
        (self.act, self.after, self.busyEvery) = (act, after, busyEvery)
    }

    /// Chooses the action on a call, and the time before it; the first call is number 1.
    func act(onCall number: Int) -> (act: Act, after: Duration) {
        if let busyEvery, number % busyEvery == 0 { return (.reject(486), .zero) }
        return (act, after)
    }
}

/// One call of a scripted line.
struct ScriptedCallee: LineApplication {
    let source = MediaSource.echo
    private let act: LineScript.Act
    private let delay: Duration
    private(set) var deadline: Instant?

    init(_ script: LineScript, call number: Int) { (act, delay) = script.act(onCall: number) }

    mutating func start(at now: Instant) -> [ApplicationStep] {
        guard delay > .zero, act != .ring else { return steps }
        deadline = now + delay
        return []
    }

    mutating func advance(to now: Instant) -> [ApplicationStep] {
        deadline = nil
        return steps
    }

    private var steps: [ApplicationStep] {
        switch act {
        case .answer: [.answer]
        case .ring: []
        case .reject(let status): [.reject(status: status)]
        }
    }
}
