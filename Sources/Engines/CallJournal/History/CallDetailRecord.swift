import Primitives

/// A call as a person knows it: the leg that began it, and those that the gateway made for it.
public final class CallDetailRecord {
    public let first: LegRecord
    /// Legs that were begun for it: the devices that rang, a trunk, whom it was transferred to.
    public internal(set) var branches: [LegRecord] = []
    /// It is a part of another.
    var isMerged = false

    init(_ first: LegRecord) { self.first = first }

    public var legs: [LegRecord] { [first] + branches }
    public var isOver: Bool { legs.allSatisfy(\.isOver) }
    public var disposition: CallDisposition { first.disposition }
    public var status: Int? { first.status }

    /// The callee: To, else whom our leg calls, else the line.
    public var to: Text? { first.to ?? (first.line.isEmpty ? nil : first.line) }

    /// The branch that took part in it: the one that was answered, else the last.
    public var callee: LegRecord? { branches.last(where: \.isConversation) ?? branches.last }

    /// From the answer to the end, or as far as the journal goes; nil without an answer, and of a call that was cut off: nobody knows how
    /// long it went on.
    public var length: Duration? {
        guard first.isConversation, disposition != .cutOff, let answered = first.answered else { return nil }
        return (first.ended ?? first.last).time - answered.time
    }

    /// From the beginning to ringing, and to the answer.
    public var ringDelay: Duration? { first.rang.map { $0.time - first.began.time } }
    public var answerDelay: Duration? { first.answered.map { $0.time - first.began.time } }

    /// Whether who called was heard, and who was called. On a call of ours the caller is on our side.
    public var heardCaller: LegSound.Heard? { first.direction == .outgoing ? first.sound.outgoing : first.sound.incoming }
    public var heardCallee: LegSound.Heard? { first.direction == .outgoing ? first.sound.incoming : first.sound.outgoing }

    public enum Ender: String, Sendable { case caller, callee, gateway }

    /// The side that ended it; nil while it is up, and where the journal does not tell.
    public var endedBy: Ender? {
        guard isOver, disposition != .cutOff else { return nil }
        if first.course.isEndedByFarEnd || first.ending.reason == "remoteEnded" { return first.direction == .outgoing ? .callee : .caller }
        if branches.contains(where: \.course.isEndedByFarEnd) { return .callee }
        if first.response?.sender == .farEnd || disposition != .answered && branches.contains(where: { $0.response?.sender == .farEnd }) {
            return .callee
        }
        return .gateway
    }
}
