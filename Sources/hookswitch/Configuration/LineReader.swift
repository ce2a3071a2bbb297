import Gateway
import Primitives
import Yams

/// Reads one entry of `lines`.
struct LineReader {
    let file: String
    /// `file:line` of the entry.
    let place: String
    private var hasEndpoint = false
    /// The line's schedule has a time zone of its own.
    var namesTimeZone = false
    /// Where its directories are named.
    var placeOfDirectories = ""

    static let keys = [
        "number", "name", "password", "open", "application", "trunk", "match", "ring-timeout", "calls", "takes-calls", "do-not-disturb", "block", "directories",
        "contacts", "refusals", "recents", "handles", "max-duration", "media-timeout", "first-media-timeout",
    ]
    static let trunkKeys = ["host", "tcp", "username", "password", "domain"]

    init(file: String, place: String) { (self.file, self.place) = (file, place) }

    mutating func read(_ mapping: Node.Mapping) throws -> LineConfiguration {
        guard let number = mapping[Node("number")]?.scalar?.string, !number.isEmpty else { throw error("a line needs a 'number'") }
        var line = LineConfiguration(number: Text(number))
        for (key, node) in mapping {
            let name = key.string ?? ""
            let value = SettingValue(scalars: [node.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): line \(number): \(name)")
            try apply(name, value, node, to: &line)
        }
        try check(line)
        return line
    }

    private mutating func apply(_ name: String, _ value: SettingValue, _ node: Node, to line: inout LineConfiguration) throws {
        switch name {
        case "number": break
        case "name": line.name = Text(try value.text)
        case "password": line.password = Text(try value.text)
        case "open": line.isOpen = try value.flag
        case "application": try setEndpoint(.application(try application(value)), of: &line)
        case "trunk": try setEndpoint(.trunk(try trunk(node, value)), of: &line)
        case "match":
            guard let pattern = NumberPattern(Text(try value.text)) else { throw value.fail("is no pattern as '^+39' or '2...'") }
            line.match = pattern
        case "ring-timeout": line.ringTimeout = try value.text == "none" ? nil : value.duration(1...3600)
        case "max-duration": line.maximumDuration = try value.duration(1...604_800)
        case "media-timeout": line.mediaTimeout = try value.duration(1...86_400)
        case "first-media-timeout": line.firstMediaTimeout = try value.duration(1...86_400)
        case "calls": line.maximumCalls = try value.integer(1...1_000_000)
        case "takes-calls": line.takesCalls = try value.flag
        case "do-not-disturb": try readDoNotDisturb(node, value, &line)
        case "block": line.block = try patterns(node, value)
        case "directories":
            line.directories = try items(node, value).map { try $0.text }
            placeOfDirectories = value.place
        case "contacts": try entries(node, value) { line.addContact($0, name: try $1.text) }
        case "recents": line.recents = try value.flag
        case "handles": line.handles = Set(try items(node, value).map { try $0.handleType })
        case "refusals": try readRefusals(node, value, &line)
        default: throw ConfigurationError(place: value.place, message: "unknown setting\(Nearest.hint(for: name, among: Self.keys))")
        }
    }

    private mutating func setEndpoint(_ endpoint: LineEndpoint, of line: inout LineConfiguration) throws {
        guard !hasEndpoint else { throw error("line \(line.number) is either a trunk or an application") }
        hasEndpoint = true
        line.endpoint = endpoint
    }

    private func application(_ value: SettingValue) throws -> LineEndpoint.Application {
        let name = try value.oneOf(LineEndpoint.Application.allCases.map(\.rawValue))
        return LineEndpoint.Application(rawValue: name)!
    }

    private func trunk(_ node: Node, _ value: SettingValue) throws -> LineEndpoint.Trunk {
        guard case .mapping(let mapping) = node else { throw value.fail("is written as { host: 192.0.2.1:5060 }") }
        guard let host = mapping[Node("host")]?.scalar?.string else { throw value.fail("needs a 'host'") }
        guard let address = SocketAddress(host, defaultPort: 5060) else {
            throw value.fail("'\(host)': takes an address as 192.0.2.1:5060 (names are not resolved in this version)")
        }
        var trunk = LineEndpoint.Trunk(address: address)
        for (key, entry) in mapping {
            let name = key.string ?? ""
            let item = SettingValue(scalars: [entry.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): trunk.\(name)")
            switch name {
            case "host": break
            case "tcp": trunk.usesTCP = try item.flag
            case "username": trunk.user = Text(try item.text)
            case "password": trunk.password = Text(try item.text)
            case "domain": trunk.host = Text(try item.text)
            case "register" where try !item.flag: break
            case "register": throw item.fail("registration with a trunk is not in this version; take the setting out")
            default: throw item.fail("unknown setting\(Nearest.hint(for: name, among: Self.trunkKeys))")
            }
        }
        return trunk
    }

    private func check(_ line: LineConfiguration) throws {
        if line.isOpen, line.password != nil { throw error("line \(line.number) has a password and is open; it is one or the other") }
        if line.endpoint == .devices, !line.isOpen, line.password == nil, line.match == nil {
            throw error("line \(line.number) needs a 'password', or 'open: true' for devices without one, or an 'application' or a 'trunk'")
        }
    }

    private func error(_ message: String) -> ConfigurationError { ConfigurationError(place: place, message: message) }
}
