import Console
import Foundation
import Primitives
import Yams

/// Reads one entry of `webhooks`.
struct WebhookEntryReader {
    let file: String

    func read(_ node: Node) throws -> WebhookSettings {
        let place = "\(file):\(node.mark?.line ?? 0)"
        guard case .mapping(let mapping) = node else {
            throw ConfigurationError(place: place, message: "a webhook is written as { name: crm, url: http://…, secret: whsec_… }")
        }
        try mapping.refuseUnknown(among: LineKey.webhook.map(\.name)) { value($0, "", $0).place }
        let name = try needed("name", mapping, place)
        guard name.scalars[0].wholeMatch(of: /[A-Za-z0-9_-]{1,32}/) != nil else {
            throw name.fail("takes up to 32 letters, digits, - and _, got \(name.shown)")
        }
        return WebhookSettings(
            name: name.scalars[0], url: try needed("url", mapping, place).webURL, secrets: try secrets(mapping, place),
            types: try all("types", mapping)?.reduce(into: []) { $0.formUnion(try Self.types($1)) },
            lines: try all("lines", mapping).map { Set(try $0.map { Text(try $0.text) }) },
            timeout: try all("timeout", mapping)?.first?.duration(1...60) ?? .seconds(10))
    }

    private func needed(_ name: String, _ mapping: Node.Mapping, _ place: String) throws -> SettingValue {
        guard let value = try all(name, mapping)?.first else {
            throw ConfigurationError(place: place, message: "a webhook needs a '\(name)'")
        }
        return value
    }

    /// The values of a key: one, or those of a list.
    private func all(_ name: String, _ mapping: Node.Mapping) throws -> [SettingValue]? {
        guard let (key, node) = mapping.first(where: { $0.key.string == name }).map({ ($0.key, $0.value) }) else { return nil }
        let nodes = if case .sequence(let sequence) = node { Array(sequence) } else { [node] }
        guard !nodes.isEmpty, !nodes.contains(where: { $0.scalar == nil }) else {
            throw value(key, "", key).fail("takes a plain value or a list of them")
        }
        return nodes.map { value(key, $0.scalar?.string ?? "", $0) }
    }

    private func value(_ key: Node, _ text: String, _ node: Node) -> SettingValue {
        SettingValue(scalars: [text], place: "\(file):\(node.mark?.line ?? 0): webhooks.\(key.string ?? "")")
    }

    /// In no error: they are secret.
    private func secrets(_ mapping: Node.Mapping, _ place: String) throws -> [WebhookSecret] {
        let written = try (all("secret", mapping) ?? []).map { ($0, try $0.text) }
        let read = try (all("secret-file", mapping) ?? []).map { ($0, try $0.secret) }
        let secrets = try (written + read).map { value, text in
            guard let secret = WebhookSecret(text) else { throw value.fail("takes whsec_ and 24 to 64 bytes in base64; this is not that") }
            return secret
        }
        guard (1...8).contains(secrets.count) else {
            throw ConfigurationError(
                place: place,
                message: secrets.isEmpty
                    ? "a webhook needs a 'secret' or a 'secret-file': 'echo whsec_$(openssl rand -base64 32)' makes one"
                    : "a webhook has 8 secrets at most")
        }
        return secrets
    }

    private static func types(_ value: SettingValue) throws -> Set<EventType> {
        let name = try value.text
        guard let types = EventType.named(name) else {
            throw value.fail(
                "there is no event \(value.shown)\(SpellingSuggestion.hint(for: name, among: EventType.allCases.map(\.rawValue)))")
        }
        return types
    }
}
