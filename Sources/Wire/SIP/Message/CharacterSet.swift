/// Sets of characters of the grammar (RFC 3261 §25.1), as bits of a table with one entry for each byte. Bytes from 0x80 up are in none.
struct CharacterSet: OptionSet, Sendable {
    let rawValue: UInt16

    static var token: CharacterSet { CharacterSet(rawValue: 1) }
    static var user: CharacterSet { CharacterSet(rawValue: 2) }
    static var bareUser: CharacterSet { CharacterSet(rawValue: 4) }
    static var password: CharacterSet { CharacterSet(rawValue: 8) }
    static var host: CharacterSet { CharacterSet(rawValue: 16) }
    static var scheme: CharacterSet { CharacterSet(rawValue: 32) }
    static var uriParameterName: CharacterSet { CharacterSet(rawValue: 64) }
    /// A token, as most parameters are named by, or what a URI's may be (RFC 3261 §25.1: paramchar).
    static var parameterName: CharacterSet { CharacterSet(rawValue: 1 | 64) }
    static var uriParameterValue: CharacterSet { CharacterSet(rawValue: 128) }
    static var uriParameters: CharacterSet { CharacterSet(rawValue: 256) }
    static var uriHeader: CharacterSet { CharacterSet(rawValue: 512) }
    static var parameterValue: CharacterSet { CharacterSet(rawValue: 1_024) }
    static var telephoneNumber: CharacterSet { CharacterSet(rawValue: 2_048) }
    static var opaque: CharacterSet { CharacterSet(rawValue: 4_096) }
    static var bareOpaque: CharacterSet { CharacterSet(rawValue: 8_192) }
    static var callID: CharacterSet { CharacterSet(rawValue: 16_384) }
    static var unreserved: CharacterSet { CharacterSet(rawValue: 32_768) }

    @inline(__always) func contains(_ byte: UInt8) -> Bool { Self.classes[Int(byte)] & rawValue != 0 }

    /// The sets that each byte is in; made once and never freed or changed, hence safe to share.
    nonisolated(unsafe) static let classes: UnsafePointer<UInt16> = {
        let table = UnsafeMutablePointer<UInt16>.allocate(capacity: 256)
        table.initialize(repeating: 0, count: 256)
        for (set, characters) in members {
            for byte in characters.utf8 { table[Int(byte)] |= set.rawValue }
        }
        return UnsafePointer(table)
    }()

    private static let members: [(CharacterSet, String)] = {
        let alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        let unreserved = alphanumeric + "-_.!~*'()"
        let visible = String(decoding: 0x21...0x7E as ClosedRange<UInt8>, as: UTF8.self)
        return [
            (.unreserved, unreserved),
            (.token, alphanumeric + "-.!%*_+`'~"),
            // With "#", which telephones send as they dial it.
            (.user, unreserved + "&=+$,;?/#"),
            // Without angle brackets, ";", "?" and "," belong to the header.
            (.bareUser, unreserved + "&=+$/#"),
            (.password, unreserved + "&=+$,"),
            // With the underscore that DNS zones in the field have.
            (.host, alphanumeric + "-._"),
            (.scheme, alphanumeric + "+-."),
            (.uriParameterName, unreserved + "[]/:&+$"),
            // With "=", which ends base64 text.
            (.uriParameterValue, unreserved + "[]/:&+$="),
            // Characters that stay as they are when a list of parameters is written.
            (.uriParameters, unreserved + "[]/:&+$=;"),
            (.uriHeader, unreserved + "[]/?:+$&="),
            // Wider than a token: addresses, tags and keys with ":", "=" or "/" are sent without quotes.
            (.parameterValue, visible.filter { !";,\"<>".contains($0) }),
            // Digits with their separators, and the letters of local numbers (RFC 3966 §3).
            (.telephoneNumber, alphanumeric + "+-.()*#"),
            (.opaque, visible.filter { !"<>\"".contains($0) }),
            (.bareOpaque, visible.filter { !"<>\",;?".contains($0) }),
            (.callID, alphanumeric + "-.!%*_+`'~()<>:\\\"/[]?{}@"),
        ]
    }()
}
