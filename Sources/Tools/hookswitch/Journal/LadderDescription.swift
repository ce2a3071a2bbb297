import Gateway
import Primitives

/// A ladder as JSON.
struct LadderDescription: Encodable {
    struct Party: Encodable {
        var name: String, call: String, line: String
        /// `incoming` or `outgoing`, as the gateway sees it.
        var direction: String
    }

    struct Step: Encodable {
        /// `run.seq`
        var position: String
        var time: String
        /// Milliseconds since the first step.
        var offset: Double
        var kind: String
        /// The name of a party; nil where it is of none.
        var party: String?
        /// The text on the arrow of a message, whether it was received, and whether it was a retransmission.
        var message: String?, isReceived: Bool?, isRetransmission: Bool?
        /// The text of anything else.
        var text: String?
        /// By party: `none`, `reserved`, `configured`, `open` or `flowing`.
        var media: [String: String]
    }

    var call: CallDescription
    /// The version of the program that wrote the journal.
    var version: String?
    var parties: [Party]
    var steps: [Step]

    init(_ record: CallDetailRecord, _ ladder: Ladder) {
        call = CallDescription(record)
        version = record.first.run.version?.description
        let names = ladder.parties.map(\.name)
        parties = ladder.parties.map {
            Party(name: $0.name, call: $0.call.description, line: $0.line.description, direction: $0.isIncoming ? "incoming" : "outgoing")
        }
        steps = ladder.steps.map { Step($0, record.first.run, names) }
    }
}

extension LadderDescription.Step {
    init(_ step: LadderStep, _ run: JournalRun, _ names: [String]) {
        (position, time, kind) = (run.position(step.event), WallTime.universal(step.wall), step.kind.rawValue)
        offset = Double(step.offset.wholeNanoseconds / 1_000) / 1_000
        party = step.party.map { names[$0] }
        media = Dictionary(uniqueKeysWithValues: zip(names, step.media.map(\.rawValue)))
        switch step.content {
        case .message(let shown): (message, isReceived, isRetransmission) = (shown.label, shown.isReceived, shown.isRetransmission)
        case .words(let words): text = words
        }
    }
}
