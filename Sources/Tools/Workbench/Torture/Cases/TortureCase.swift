import Primitives
import SIP

/// One thing that is done to a target, step by step, and what has to come of it.
public struct TortureCase: Sendable {
    /// Sources of the cases.
    public enum Group: String, Codable, CaseIterable, Sendable {
        /// RFC 4475: messages that are hard to read.
        case rfc4475
        /// RFC 5118: the same with addresses of IPv6.
        case rfc5118
        /// RFC 5407 and its neighbours: messages that cross each other.
        case races
        /// RFC 3264, RFC 6337: offers and answers.
        case offerAnswer = "offer-answer"
    }

    /// The name that `--only` takes, such as `wsinv`.
    public let name: String
    /// The source of the case.
    public let group: Group
    /// The place of the rule: `RFC 4475 §3.1.1.1`.
    public let reference: String
    /// The right behaviour, in one line for a person.
    public let title: String
    let steps: [TortureStep]
    /// Requests of the target that are not answered but by a step.
    let holds: Set<Method>
    /// Takes half a minute: it is played beside the others.
    public let isSlow: Bool
    /// Over a stream nothing of it happens.
    let isForDatagrams: Bool

    init(
        _ group: Group, _ name: String, _ reference: String, _ title: String, holding holds: Set<Method> = [], isSlow: Bool = false,
        isForDatagrams: Bool = false, _ steps: [TortureStep]...
    ) {
        self.isForDatagrams = isForDatagrams
        (self.group, self.name, self.reference, self.title) = (group, name, reference, title)
        (self.holds, self.isSlow, self.steps) = (holds, isSlow, steps.flatMap(\.self))
    }

    init(_ message: TortureMessage) {
        let rfc = message.group == .rfc4475 ? "RFC 4475" : "RFC 5118"
        self.init(
            message.group, message.name, "\(rfc) \(message.section)", message.title,
            isForDatagrams: message.traits.contains(.datagramsOnly), [.message(message)])
    }

    /// Whether the target has to call us: a line of its own is needed.
    public var needsLine: Bool { steps.contains { $0.party == .callee } }

    /// Every case, in the order in which they are played.
    public static let all = TortureMessage.all.map { TortureCase($0) } + races + lineRaces + offerAnswer + renegotiation
}

/// One of our two telephones.
enum TortureParty: Sendable {
    /// Calls the target.
    case caller
    /// Is called by it, as a line of the target's.
    case callee
}

enum TortureStep: Sendable {
    /// Bytes as they are, and what is asked of their receiver.
    case message(TortureMessage)
    /// Several in a row leave in one go.
    case send(TortureParty, TortureRequest)
    /// Makes a request without sending it; `TortureRequest.Kind.prepared` sends it.
    case prepare(TortureParty, TortureRequest)
    /// The call is answered with 2xx; where it is not, the case says nothing of the target.
    case answered(TortureParty)
    /// The final response to the last request of this method.
    case final(TortureParty, Method, TortureDemand)
    /// The same final response to that request once more, with the same tag.
    case again(TortureParty, Method)
    /// A request of the target; some take their time.
    case arrives(TortureParty, Method, within: Duration? = nil)
    /// Our answer to the last request of this method.
    case answer(TortureParty, Method, Int, TortureBody = .none, tag: Text? = nil)
    /// Hangs up where the call was answered.
    case leave(TortureParty)
    /// The description in the last answer to our INVITE or UPDATE.
    case describes(TortureParty, AnswerCheck)
    /// The target has said that it allows this method; else the case is not judged.
    case allows(Method)
    /// Time passes.
    case pause(Duration)

    var party: TortureParty {
        switch self {
        case .send(let party, _), .prepare(let party, _), .answered(let party), .final(let party, _, _), .again(let party, _),
            .arrives(let party, _, _),
            .answer(let party, _, _, _, _), .describes(let party, _), .leave(let party):
            party
        case .message, .allows, .pause: .caller
        }
    }
}

/// A request of ours, in the call of its party.
struct TortureRequest: Sendable {
    enum Kind: Sendable {
        /// As it should be: the next CSeq, a branch of its own, the dialog's tags. An ACK is for the oldest 2xx that has none, a CANCEL for
        /// the last INVITE.
        case regular
        /// The prepared request.
        case prepared
        /// The bytes of the last request of the method, once more.
        case repeated
        /// The last INVITE again on another branch, as a proxy that forked it would send it.
        case merged
        /// With a CSeq that was used before.
        case stale
        /// With a To tag that nobody has.
        case stray
    }

    var method: Method
    var kind = Kind.regular
    var body = TortureBody.none
    var headers: [(HeaderName, Text)] = []
    var maxForwards = 70

    static func invite(_ body: TortureBody = .none, headers: [(HeaderName, Text)] = []) -> TortureRequest {
        TortureRequest(method: .invite, body: body, headers: headers)
    }
    static func update(_ body: TortureBody) -> TortureRequest { TortureRequest(method: .update, body: body) }
    static func ack(_ body: TortureBody = .none) -> TortureRequest { TortureRequest(method: .ack, body: body) }
    static let cancel = TortureRequest(method: .cancel)
    static let bye = TortureRequest(method: .bye)
    static let prepared = TortureRequest(method: .invite, kind: .prepared)
    static func repeated(_ method: Method) -> TortureRequest { TortureRequest(method: method, kind: .repeated) }
}

enum TortureBody: Sendable {
    case none
    case description(TortureDescription)
    case other(Text, String)
    /// A description behind another part.
    case severalParts(TortureDescription)

    static let offer = TortureBody.description(TortureDescription())
}
