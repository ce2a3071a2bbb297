import Foundation
import HTTP
import Primitives

// The rights of a client, as one gateway tells them to another that it asks for this client.
extension AccessGrant {
    /// The field that has them, beside the secret of the gateways.
    static let field = HTTPField.Name("Hookswitch-Grant")!

    private struct Told: Codable {
        var scopes: [AccessScope]
        var lines: [String]?
        var name: String?
    }

    /// Their text: JSON, in Base64.
    var told: String {
        let told = Told(
            scopes: scopes.sorted { $0.rawValue < $1.rawValue }, lines: lines.map { $0.map(\.description).sorted() }, name: name)
        return String(decoding: Base64.encode(JSONBody.encode(told)), as: UTF8.self)
    }

    /// The rights of a client of another gateway. They hold as long as that lets the client in.
    init?(told text: String) {
        guard text.utf8.count <= 65_536, let bytes = Data(base64Encoded: text), let told = try? JSONDecoder().decode(Told.self, from: bytes)
        else { return nil }
        self.init(scopes: Set(told.scopes), lines: told.lines.map { Set($0.map { Text($0) }) }, name: told.name, holder: .node)
    }
}
