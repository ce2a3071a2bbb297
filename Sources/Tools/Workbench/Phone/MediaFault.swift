import Primitives
import SDP

/// Why a message makes no media of a call, in words for a person.
struct MediaFault {
    let text: Text

    /// - Parameters:
    ///   - carrier: what had the description, or should have had it: `200`, `ACK`.
    ///   - body: of that message.
    init(_ error: any Error, in carrier: Text, body: [UInt8]) {
        text =
            switch error as? NegotiationError {
            case .malformed? where body.isEmpty: "the " + carrier + " has no description"
            case .malformed(let cause)?: "the description of the " + carrier + " cannot be read: " + cause.words
            case let error?: "no media: " + error.text
            case nil: "no media: " + Text(error)
            }
    }
}

extension SessionDescription.ParseError {
    fileprivate var words: Text {
        switch self {
        case .tooLarge: "it is too large"
        case .version: "it does not begin with v=0"
        case .missingOrigin: "it has no o= line"
        case .malformed(let line): Text("line \(line) is no line of SDP")
        }
    }
}
