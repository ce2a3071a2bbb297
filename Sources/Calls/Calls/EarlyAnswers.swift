import Primitives
import SDP

/// The answers of the forks of an INVITE before its 2xx, by To tag.
struct EarlyAnswers {
    /// Further forks are passed over.
    private static let maximum = 16

    private var bodies: [Text: [UInt8]] = [:]
    /// The negotiation of each early dialog whose reliable response had the answer.
    private var negotiations: [Text: OfferAnswer] = [:]

    /// A description in a provisional response.
    mutating func note(_ body: [UInt8], of tag: Text, isReliable: Bool, _ negotiation: OfferAnswer) {
        guard bodies.count < Self.maximum else { return }
        let tag = tag.detached
        bodies[tag] = body
        guard isReliable, negotiations[tag] == nil else { return }
        var fork = negotiation
        if (try? fork.receive(answer: body)) != nil { negotiations[tag] = fork }
    }

    mutating func forget(_ tag: Text) { (bodies[tag], negotiations[tag]) = (nil, nil) }

    func answer(of tag: Text) -> [UInt8]? { bodies[tag] }
    func agreement(of tag: Text) -> OfferAnswer? { negotiations[tag] }
    mutating func replace(_ negotiation: OfferAnswer, of tag: Text) { negotiations[tag.detached] = negotiation }
}
