import Console
import Gateway
import Glibc
import Primitives
import SDP
import SIP

/// A value as a person wrote it, and where: one scalar, or a list of them.
struct SettingValue {
    var scalars: [String]
    /// The place that errors name: `hookswitch.yaml:12: media.ports`.
    var place: String
    var isList = false

    func fail(_ message: String) -> ConfigurationError { ConfigurationError(place: place, message: message) }

    var text: String {
        get throws {
            guard scalars.count == 1, !isList, let scalar = scalars.first, !scalar.isEmpty else {
                throw fail("takes one value, got \(shown)")
            }
            return scalar
        }
    }

    /// A list, or one value, or several behind commas.
    func list<Element>(_ convert: (SettingValue) throws -> Element) throws -> [Element] {
        let parts = isList ? scalars : scalars.flatMap { $0.split(separator: ",").map { String($0).trimmingSpaces } }
        var elements: [Element] = []
        for part in parts { elements.append(try convert(SettingValue(scalars: [part], place: place))) }
        return elements
    }

    /// A list of one or more; `otherwise` says what the empty one would have meant.
    func someOf<Element: Equatable>(_ what: String, otherwise: String = "", _ convert: (SettingValue) throws -> Element) throws -> [Element]
    {
        let elements = try list(convert)
        guard !elements.isEmpty else { throw fail("takes one \(what) or more, got none\(otherwise)") }
        if let twice = elements.indices.first(where: { elements[..<$0].contains(elements[$0]) }) {
            throw fail("names a \(what) twice: the \(twice + 1). of \(shown)")
        }
        return elements
    }

    /// The places of `data`. Folders may have commas in their names.
    var dataPlaces: [String] {
        get throws {
            let places = isList ? scalars : DataPlaces.split(try text)
            guard !places.isEmpty, places.allSatisfy({ !$0.isEmpty }) else { throw fail("takes a folder, a database, or both") }
            return places
        }
    }

    /// The host of a URI (RFC 3261 §25.1): a name or an address, without scheme and port. IPv6 gets its brackets.
    var host: Text {
        get throws {
            let written = Text(try text)
            if let host = Self.host(written) { return host }
            throw fail(
                "takes a host name or an address alone as pbx.example.test, got \(shown)\(Self.hostWithin(written).map { "; write '\($0)'" } ?? "")"
            )
        }
    }

    private static func host(_ text: Text) -> Text? {
        let host = IPAddress(text.withoutBrackets)?.family == .v6 ? "[" + text.withoutBrackets + "]" : text
        guard let uri = try? URI(parsing: "sip:" + host), uri.host == host, uri.text == "sip:" + host else { return nil }
        return host
    }

    /// The host of an address with a scheme, a user, a port or a path.
    private static func hostWithin(_ text: Text) -> Text? {
        var rest = text.description
        for scheme in ["sips:", "sip:", "https:", "http:"] where rest.hasPrefix(scheme) { rest.removeFirst(scheme.count) }
        let place = rest.split(separator: "/").first ?? ""
        return (try? URI(parsing: Text("sip:\(place)"))).flatMap { host($0.host) }
    }

    var flag: Bool {
        get throws {
            switch try text {
            case "true", "yes", "on", "1": true
            case "false", "no", "off", "0": false
            default: throw fail("takes true or false, got \(shown)")
            }
        }
    }

    func integer(_ range: ClosedRange<Int>) throws -> Int {
        guard let value = Int(try text), range.contains(value) else {
            throw fail("takes a whole number from \(range.lowerBound) to \(range.upperBound), got \(shown)")
        }
        return value
    }

    func number(_ range: ClosedRange<Double>) throws -> Double {
        guard let value = try text.contains(where: { "xX".contains($0) }) ? nil : Double(text), range.contains(value) else {
            throw fail("takes a number from \(range.lowerBound) to \(range.upperBound), got \(shown)")
        }
        return value
    }

    /// Seconds.
    func duration(_ range: ClosedRange<Double>) throws -> Duration {
        .milliseconds(Int64(try number(range) * 1000))
    }

    func address(_ defaultPort: UInt16) throws -> SocketAddress {
        guard let address = SocketAddress(try text, defaultPort: defaultPort) else {
            throw fail("takes an address and port as 0.0.0.0:5060 or [::]:5060, got \(shown)")
        }
        if let readings = SocketAddress.readings(of: try text) {
            throw fail("is \(readings.0) or \(readings.1): write the brackets, got \(shown)")
        }
        return address
    }

    /// An address and port to listen on: of one machine, or all of this one.
    func listening(_ defaultPort: UInt16) throws -> SocketAddress {
        let address = try address(defaultPort)
        guard !address.address.isForSeveral else { throw fail("takes an address of this machine, got \(shown), which is for several") }
        return address
    }

    /// The decision on a call.
    var decision: CallDecision {
        get throws {
            let words = try text.split(separator: " ").map(String.init)
            switch (words.first, words.count) {
            case ("as-dialled", 1): return .asDialled
            case ("number", 2): return .number(Text(words[1]))
            case ("reject", 2):
                if let status = Int(words[1]), (300...699).contains(status) { return .refused(status: status) }
            default: break
            }
            throw fail("takes as-dialled, 'number 1001' or 'reject 503' (300 to 699), got \(shown)")
        }
    }

    /// An address and port that somebody else listens on.
    func server(_ defaultPort: UInt16) throws -> SocketAddress {
        let address = try address(defaultPort)
        guard address.port != 0, !address.address.isAny, !address.address.isForSeveral else {
            throw fail("takes an address and port as 192.0.2.1:\(defaultPort), got \(shown), where nobody answers")
        }
        return address
    }

    var ip: IPAddress {
        get throws {
            guard let address = IPAddress(try text) else { throw fail("takes an IP address, got \(shown)") }
            return address
        }
    }

    /// An address that one machine can be reached at.
    var reachable: IPAddress {
        get throws {
            let address = try ip
            guard !address.isForSeveral, !address.isAny else {
                throw fail("takes the address of one machine as 203.0.113.7, got \(shown), where nobody can be reached")
            }
            return address
        }
    }

    var network: IPNetwork {
        get throws {
            guard let network = IPNetwork(try text) else { throw fail("takes a network as 10.0.0.0/8, got \(shown)") }
            return network
        }
    }

    var portRange: ClosedRange<UInt16> {
        get throws {
            guard let ports = MediaPorts.range(try text) else {
                throw fail("takes a range of ports from 1024 on as 20000-20199, got \(shown)")
            }
            return ports
        }
    }

    var codec: Codec {
        get throws {
            let name = try text
            guard let codec = Codec(catalogueName: Text(name)) else {
                let known = Codec.catalogue.map { $0.catalogueName.description }
                throw fail(
                    "knows no codec '\(name)'\(SpellingSuggestion.hint(for: name, among: known)); there are \(known.joined(separator: ", "))"
                )
            }
            return codec
        }
    }

    var headerName: HeaderRules.NamePattern {
        get throws {
            guard let pattern = HeaderRules.NamePattern(Text(try text)) else {
                throw fail("\(shown) is no name of a header that may be passed, as X-Name or \"X-*\"")
            }
            return pattern
        }
    }

    var digest: DigestAlgorithm {
        get throws {
            let names = DigestAlgorithm.allCases.map { $0.text.description }
            guard let algorithm = DigestAlgorithm(Text(try text)) else {
                throw fail(
                    "knows no digest \(shown)\(SpellingSuggestion.hint(for: try text, among: names)); there are \(names.joined(separator: ", "))"
                )
            }
            return algorithm
        }
    }

    /// The path of a file that we can read; where we cannot the machine is at fault, not the setting.
    var file: String {
        get throws {
            let path = try text
            guard access(path, R_OK) == 0 else {
                throw ConfigurationError(place: place, message: "'\(path)' cannot be read", kind: .environment)
            }
            return path
        }
    }

    /// The text of the one line of a file, as a mounted secret has it; it stands in no error.
    var secret: String {
        get throws {
            let path = try text, read: String
            do throws(NamedFile.Unreadable) { read = try NamedFile.text(of: path) } catch {
                throw ConfigurationError(place: place, message: "'\(path)' \(error.text)", kind: .environment)
            }
            let lines = read.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            guard let secret = lines.first, !secret.isEmpty else { throw fail("'\(path)' holds no secret in its first line") }
            guard lines.dropFirst().allSatisfy(\.isEmpty) else { throw fail("'\(path)' holds more than one line") }
            return String(secret)
        }
    }

    /// The bytes of a secret that a machine made.
    var longSecret: [UInt8] {
        get throws {
            let secret = try Array(secret.utf8)
            guard secret.count >= 32 else {
                throw fail("\(shown) holds fewer than 32 characters; 'openssl rand -hex 32' makes a secret")
            }
            return secret
        }
    }

    func oneOf(_ names: [String]) throws -> String {
        let name = try text
        guard names.contains(name) else {
            throw fail("takes one of \(names.joined(separator: ", ")), got '\(name)'\(SpellingSuggestion.hint(for: name, among: names))")
        }
        return name
    }

    var shown: String { isList ? "[\(scalars.joined(separator: ", "))]" : "'\(scalars.first ?? "")'" }
}

extension String {
    /// With what is a command to a terminal as Swift writes it.
    var onOneLine: String { unicodeScalars.contains(where: \.isControlCharacter) ? unicodeScalars.map(\.shown).joined() : self }

    var trimmingSpaces: String { Text(self).trimmed.description }
}

extension Unicode.Scalar {
    fileprivate var shown: String { isControlCharacter ? escaped(asASCII: true) : String(self) }
}
