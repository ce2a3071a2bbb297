import Gateway
import Primitives
import Yams

/// The `mailbox` of a line.
extension LineReader {
    mutating func mailbox(_ node: Node, _ value: SettingValue) throws -> MailboxSettings {
        guard case .mapping(let mapping) = node else { throw value.fail("is written as { maximum: 120, silence-end: 10 }") }
        try mapping.refuseUnknown(among: LineKey.names(in: "mailbox")) { item($0, "mailbox", node).place }
        var mailbox = MailboxSettings()
        for (key, node) in mapping { try apply(key.string ?? "", item(key, "mailbox", node), node, to: &mailbox) }
        return mailbox
    }

    private mutating func apply(_ name: String, _ value: SettingValue, _ node: Node, to mailbox: inout MailboxSettings) throws {
        switch name {
        case "maximum": mailbox.maximum = try value.text == "none" ? nil : value.duration(1...7_200)
        case "silence-end": mailbox.silenceEnd = try value.text == "none" ? nil : value.duration(1...600)
        case "minimum": mailbox.minimum = try value.duration(0...60)
        case "owners":
            mailbox.owners = try items(node, value).map { Text(try $0.text) }
            guard mailbox.owners.count <= 200 else { throw value.fail("takes up to 200 owners") }
            references += mailbox.owners.map { LineReference(number: $0, kind: .owner, place: value.place, line: nil) }
        default: preconditionFailure("a key of the table without its case: mailbox.\(name)")
        }
    }

    func takesNoMessages(_ line: LineConfiguration) -> ConfigurationError {
        error("line \(line.number): 'mailbox' is for a line with 'application: record'")
    }
}
