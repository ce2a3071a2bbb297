import Foundation
import HTTP

/// Refuses members of a request's content that its schema does not have: a name that is mistyped is never passed over.
enum UnknownMembers {
    /// - Parameter schema: the name of the content's schema.
    static func check(_ body: [UInt8], _ schema: String) throws(Problem) {
        guard let value = try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) else { return }
        try check(value, JSONSchema.reference(schema).json, at: "")
    }

    private static func check(_ value: Any, _ schema: JSONValue, at place: String) throws(Problem) {
        let schema = resolved(schema, for: value)
        if let elements = value as? [Any], let items = schema["items"] {
            for (index, element) in elements.enumerated() { try check(element, items, at: "\(place)[\(index)]") }
        }
        guard let members = value as? [String: Any], case .object(let known)? = schema["properties"] else { return }
        for (name, member) in members.sorted(by: { $0.key < $1.key }) {
            let path = place.isEmpty ? name : "\(place).\(name)"
            guard let own = known[name] else {
                let hint = SpellingSuggestion.name(for: name, among: known.keys.sorted()).map { ": did you mean '\($0)'?" }
                throw Problem(
                    .badRequest, "unknownMember",
                    "\(path) is not known\(hint ?? "; there are \(known.keys.sorted().joined(separator: ", "))")")
            }
            try check(member, own, at: path)
        }
    }

    /// Behind references, and among several the one that the value names.
    private static func resolved(_ schema: JSONValue, for value: Any) -> JSONValue {
        if case .array(let choices)? = schema["anyOf"], schema["properties"] == nil, let first = choices.first {
            return resolved(first, for: value)
        }
        if let mapping = schema["discriminator"]?["mapping"], case .text(let property)? = schema["discriminator"]?["propertyName"] {
            guard let name = (value as? [String: Any])?[property] as? String, let target = mapping[name] else { return .null }
            return resolved(["$ref": target], for: value)
        }
        guard case .text(let place)? = schema["$ref"], let name = place.split(separator: "/").last else { return schema }
        return OpenAPISchemas.all[String(name)].map { resolved($0.json, for: value) } ?? .null
    }
}
