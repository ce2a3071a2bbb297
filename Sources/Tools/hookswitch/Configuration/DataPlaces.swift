import Foundation
import Store

/// A folder and the URL of a database, as they are written in one text.
enum DataPlaces {
    /// Parts `folder, postgres://…` and `postgres://…, folder`. A URL may have commas between hosts; a blank behind a comma ends it.
    static func split(_ text: String) -> [String] {
        guard let url = text.firstRange(of: /postgres(ql)?:\/\/.*/) else { return [text] }
        let before = text[..<url.lowerBound].trimmingCharacters(in: CharacterSet(charactersIn: ", "))
        let parts = text[url].components(separatedBy: ", ").map(\.trimmingSpaces)
        return (before.isEmpty ? [] : [before]) + parts
    }

    /// The data folder of commands beside a gateway: the one that was typed, else that of `HOOKSWITCH_DATA`, else `data`.
    static func folder(_ typed: String?) -> String {
        typed ?? ProcessInfo.processInfo.environment["HOOKSWITCH_DATA"].flatMap { split($0).first { !PostgresAddress.isMeant(by: $0) } }
            ?? "data"
    }
}
