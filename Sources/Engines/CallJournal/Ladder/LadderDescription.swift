import Primitives

/// A ladder as JSON.
package struct LadderDescription: Encodable {
    package struct Party: Encodable {
        package var name: String, call: String, line: String
        /// `incoming` or `outgoing`, as the gateway sees it.
        package var direction: String
    }

    package struct Step: Encodable {
        /// `run.seq`
        package var position: String
        package var time: String
        /// Milliseconds since the first step.
        package var offset: Double
        package var kind: String
        /// The name of a party; nil where it is of none.
        package var party: String?
        /// The text on the arrow of a message, whether it was received, and whether it was a retransmission.
        package var message: String?, isReceived: Bool?, isRetransmission: Bool?
        /// The text of anything else.
        package var text: String?
        /// By party: `none`, `reserved`, `configured`, `open`, `flowing` or `relayed`.
        package var media: [String: String]
    }

    package var call: CallDescription
    /// The version of the program that wrote the journal.
    package var version: String?
    package var parties: [Party]
    package var steps: [Step]

    package init(_ record: CallDetailRecord, _ ladder: Ladder) {
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
