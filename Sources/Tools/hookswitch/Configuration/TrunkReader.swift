import Gateway
import Primitives
import SIP
import UserAgent
import Yams

/// Reads the `trunk` of a line.
struct TrunkReader {
    let file: String

    /// - Parameter value: where the entry stands.
    func read(_ node: Node, _ value: SettingValue) throws -> TrunkConfiguration {
        guard case .mapping(let mapping) = node else { throw value.fail("is written as { host: sip.example.test }") }
        try mapping.refuseUnknown(among: LineKey.names(in: "trunk")) { item($0, "trunk").place }
        var trunk = TrunkConfiguration(targets: try targets(of: mapping, value))
        for (key, node) in mapping { try apply(key.string ?? "", item(key, "trunk", node), node, to: &trunk) }
        try finish(&trunk, mapping, value)
        return trunk
    }

    private func apply(_ name: String, _ value: SettingValue, _ node: Node, to trunk: inout TrunkConfiguration) throws {
        switch name {
        case "username": trunk.user = Text(try value.text)
        case "password": trunk.password = Text(try value.text)
        case "password-file": trunk.password = Text(try value.secret)
        case "domain": trunk.domain = try value.host
        case "register": trunk.registration = try value.flag ? trunk.registration ?? .init() : nil
        case "health": trunk.health = try value.text == "none" ? nil : value.duration(1...3600)
        case "nodes": trunk.isOfEachNode = try value.oneOf(["one", "each"]) == "each"
        case "sources": trunk.sources = try list(node, value).map { try $0.network }
        case "hairpin": trunk.isHairpin = try value.flag
        case "incoming": trunk.incoming = Text(try value.text)
        case "caller": trunk.caller = Text(try value.text)
        case "rewrite": trunk.rewrites = try rewrites(node, value)
        case "rewrite-incoming": trunk.incomingRewrites = try rewrites(node, value)
        case "headers": trunk.headers = try headers(node, value)
        default: break
        }
    }

    /// Checks settings that only make sense together.
    private func finish(_ trunk: inout TrunkConfiguration, _ mapping: Node.Mapping, _ value: SettingValue) throws {
        if mapping.hasTwoPasswords { throw value.fail("has a 'password' and a 'password-file'; it is one or the other") }
        if trunk.password != nil, trunk.user == nil { throw value.fail("has a 'password' and no 'username'") }
        for name in ["expires", "keep-alive"] {
            guard let node = mapping[Node(name)] else { continue }
            let setting = SettingValue(scalars: [node.scalar?.string ?? ""], place: "\(file):\(node.mark?.line ?? 0): trunk.\(name)")
            guard trunk.registration != nil else { throw setting.fail("is for a trunk with 'register: true'") }
            if name == "expires" { trunk.registration?.expires = UInt32(try setting.integer(60...86_400)) }
            if name == "keep-alive" { trunk.registration?.keepAlive = try setting.text == "none" ? nil : setting.duration(5...600) }
        }
        if trunk.incoming != nil, trunk.registration == nil {
            throw value.fail("'incoming' is for a trunk with 'register: true': other calls name their number")
        }
    }

    // MARK: Targets

    private func targets(of mapping: Node.Mapping, _ value: SettingValue) throws -> [TrunkConfiguration.Target] {
        if let node = mapping[Node("targets")] {
            guard mapping[Node("host")] == nil else { throw value.fail("has a 'host' or 'targets', not both") }
            guard case .sequence(let sequence) = node, !sequence.isEmpty else {
                throw value.fail("'targets' takes a list as [{ host: a.example.test, priority: 1 }]")
            }
            let usual = try usualTransport(of: mapping)
            return try sequence.map { try readTarget($0, value, usual) }
        }
        guard let host = mapping[Node("host")] else { throw value.fail("needs a 'host'") }
        let (name, port) = try hostName(
            SettingValue(scalars: [host.scalar?.string ?? ""], place: "\(file):\(host.mark?.line ?? 0): trunk.host"))
        var target = TrunkConfiguration.Target(host: name, port: port)
        target.transport = try usualTransport(of: mapping)
        return [target]
    }

    /// Reads the transport of the trunk's own `transport`, or of `tcp: true`; targets may say otherwise.
    private func usualTransport(of mapping: Node.Mapping) throws -> Transport? {
        let given = mapping.filter { $0.key.string == "tcp" || $0.key.string == "transport" }
        if given.count > 1, let last = given.last {
            throw item(last.key, "trunk").fail("'tcp' and 'transport' say the same thing: leave one out")
        }
        guard let (key, node) = given.first.map({ ($0.key, $0.value) }) else { return nil }
        let setting = item(key, "trunk", node)
        return key.string == "tcp" ? (try setting.flag ? .tcp : nil) : try transport(setting)
    }

    private func readTarget(_ node: Node, _ value: SettingValue, _ usual: Transport?) throws -> TrunkConfiguration.Target {
        let usage = "a target is written as { host: a.example.test, priority: 1 }"
        guard case .mapping(let mapping) = node else { throw value.fail(usage) }
        try mapping.refuseUnknown(among: LineKey.names(in: "trunk.targets")) { item($0, "trunk.targets").place }
        guard let host = mapping[Node("host")] else { throw value.fail(usage) }
        let (name, port) = try hostName(
            SettingValue(scalars: [host.scalar?.string ?? ""], place: "\(file):\(host.mark?.line ?? 0): trunk.targets.host"))
        var target = TrunkConfiguration.Target(host: name, port: port)
        target.transport = usual
        for (key, node) in mapping {
            let setting = item(key, "trunk.targets", node)
            switch key.string ?? "" {
            case "transport": target.transport = try transport(setting)
            case "priority": target.priority = try setting.integer(0...65_535)
            case "weight": target.weight = try setting.integer(0...65_535)
            default: break
            }
        }
        return target
    }

    /// A name or an address, with a port or without.
    private func hostName(_ value: SettingValue) throws -> (host: Text, port: UInt16?) {
        let text = Text(try value.text)
        if let address = IPAddress(text.withoutBrackets) { return (Text("\(address)"), nil) }
        if let address = SocketAddress(text), address.port != 0 { return (Text("\(address.address)"), address.port) }
        let parts = text.bytes.split(separator: 0x3A, omittingEmptySubsequences: false).map { Text($0) }
        let port = parts.count == 2 ? parts[1].integer(UInt16.self) : nil
        let isName =
            !parts[0].isEmpty
            && parts[0].bytes.allSatisfy { byte in
                byte >= 0x61 && byte <= 0x7A || byte >= 0x41 && byte <= 0x5A || byte >= 0x30 && byte <= 0x39 || byte == 0x2D || byte == 0x2E
            }
        guard isName, parts.count == 1 || port ?? 0 != 0 else {
            throw value.fail("takes a name or an address as sip.example.test or 192.0.2.1:5060, got '\(text)'")
        }
        return (parts[0], port)
    }

    private func transport(_ value: SettingValue) throws -> Transport {
        switch try value.oneOf(["udp", "tcp", "tls"]) {
        case "tcp": .tcp
        case "tls": .tls
        default: .udp
        }
    }

    // MARK: Rules

    private func rewrites(_ node: Node, _ value: SettingValue) throws -> [NumberRewrite] {
        guard case .sequence(let sequence) = node else {
            throw value.fail("takes a list as [{ match: \"^0\", strip: 1, prefix: \"+49\" }]")
        }
        return try sequence.map { element in
            if case .mapping(let mapping) = element {
                try mapping.refuseUnknown(among: LineKey.names(in: "trunk.rewrite")) { item($0, "rewrite").place }
            }
            guard case .mapping(let mapping) = element, let match = mapping[Node("match")]?.scalar?.string,
                let pattern = NumberPattern(Text(match))
            else {
                throw value.fail("a rule needs a 'match' as \"^0\"")
            }
            var rule = NumberRewrite(pattern: pattern)
            for (key, node) in mapping {
                let setting = item(key, "rewrite", node)
                switch key.string ?? "" {
                case "strip": rule.strip = try setting.integer(0...64)
                case "prefix": rule.prefix = Text(try setting.text)
                default: break
                }
            }
            return rule
        }
    }

    private func headers(_ node: Node, _ value: SettingValue) throws -> HeaderRules {
        guard case .mapping(let mapping) = node else {
            throw value.fail("is written as { set: { X-Name: value }, copy: [\"X-*\"], remove: [X-Secret] }")
        }
        try mapping.refuseUnknown(among: LineKey.names(in: "trunk.headers")) { item($0, "headers").place }
        var rules = HeaderRules()
        for (key, node) in mapping {
            let setting = item(key, "headers", node)
            switch key.string ?? "" {
            case "set":
                guard case .mapping(let fields) = node else { throw setting.fail("is written as { X-Name: value }") }
                rules.set = try fields.map { try field($0.key, $0.value) }
            case "copy": rules.copy = try list(node, setting).map { try $0.headerName }
            case "remove": rules.remove = try list(node, setting).map { try $0.headerName }
            default: preconditionFailure("a key of the table without its case: trunk.headers.\(key.string ?? "")")
            }
        }
        return rules
    }

    private func field(_ key: Node, _ node: Node) throws -> HeaderRules.Field {
        let setting = item(key, "headers.set", node)
        guard let field = HeaderRules.Field(name: Text(key.string ?? ""), value: Text(try setting.text)) else {
            throw setting.fail("is no name of a header that may be set")
        }
        guard !field.value.bytes.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { throw setting.fail("takes one line, got several") }
        return field
    }

    // MARK: Places

    private func item(_ key: Node, _ group: String, _ node: Node? = nil) -> SettingValue {
        SettingValue(scalars: [node?.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): \(group).\(key.string ?? "")")
    }

    /// The elements of a list, or the one value.
    private func list(_ node: Node, _ value: SettingValue) throws -> [SettingValue] {
        guard case .sequence(let sequence) = node else { return [value] }
        return try sequence.map { element in
            guard let text = element.scalar?.string else { throw value.fail("takes a list of plain values") }
            return SettingValue(scalars: [text], place: value.place)
        }
    }
}
