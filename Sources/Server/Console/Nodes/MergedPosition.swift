/// A place in the events of several gateways: one position for each, written `gateway-1:0123abcd.42,gateway-2:89abcdef.7`.
struct MergedPosition: Equatable, CustomStringConvertible {
    /// By the names of the gateways.
    private(set) var parts: [String: EventPosition]

    init(_ parts: [String: EventPosition] = [:]) { self.parts = parts }

    /// nil for what is no such place.
    init?(_ text: String) {
        parts = [:]
        guard text.utf8.count <= 16_384 else { return nil }
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let colon = part.firstIndex(of: ":"), let position = EventPosition(part[part.index(after: colon)...]) else { return nil }
            let name = part[..<colon]
            guard NodeSettings.isName(name), parts.updateValue(position, forKey: String(name)) == nil else { return nil }
        }
    }

    subscript(node: String) -> EventPosition? {
        get { parts[node] }
        set { parts[node] = newValue }
    }

    var description: String { parts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",") }
}
