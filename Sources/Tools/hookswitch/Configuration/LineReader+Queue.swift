import Gateway
import Primitives
import Yams

/// The `queue` of a line.
extension LineReader {
    mutating func queue(_ node: Node, _ value: SettingValue) throws -> QueueSettings {
        guard case .mapping(let mapping) = node else { throw value.fail("is written as { members: [\"1001\", \"1002\"] }") }
        try mapping.refuseUnknown(among: LineKey.names(in: "queue")) { item($0, "queue", node).place }
        var queue = QueueSettings(members: [])
        for (key, node) in mapping { try apply(key.string ?? "", item(key, "queue", node), node, to: &queue) }
        guard !queue.members.isEmpty else { throw value.fail("needs 'members'") }
        return queue
    }

    private mutating func apply(_ name: String, _ value: SettingValue, _ node: Node, to queue: inout QueueSettings) throws {
        switch name {
        case "members":
            queue.members = try items(node, value).map { Text(try $0.text) }
            guard queue.members.count <= 200 else { throw value.fail("takes up to 200 members") }
            references += queue.members.map { LineReference(number: $0, kind: .member, place: value.place, line: nil) }
        case "strategy":
            queue.strategy = QueueSettings.Strategy(rawValue: try value.oneOf(QueueSettings.Strategy.allCases.map(\.rawValue))) ?? .all
        case "ring": queue.ringTime = try value.duration(1...600)
        case "pause": queue.pause = try value.duration(1...600)
        case "greeting": queue.greeting = try prompt(node, value)
        case "music": queue.music = try prompt(node, value)
        case "position": queue.positions = try positions(node, value)
        case "every": queue.announcementInterval = try value.duration(5...600)
        case "length": queue.length = try value.integer(1...10_000)
        case "wait": queue.wait = try value.text == "none" ? nil : value.duration(1...86_400)
        case "overflow": queue.overflow = try lastChoice(node, value)
        default: preconditionFailure("a key of the table without its case: queue.\(name)")
        }
    }

    /// A text with `{position}` in it, for the first ten; or files, for the first, the second and so on.
    private mutating func positions(_ node: Node, _ value: SettingValue) throws -> [Menu.Prompt] {
        if case .sequence(let sequence) = node {
            return try sequence.map { try prompt($0, SettingValue(scalars: [$0.scalar?.string ?? ""], place: value.place)) }
        }
        guard case .text(let text) = try prompt(node, value), text.contains("{position}") else {
            throw value.fail("takes { say: \"You are number {position}.\" }, or a list of files")
        }
        return (1...10).map { .text(text.replacing("{position}", with: "\($0)")) }
    }
}
