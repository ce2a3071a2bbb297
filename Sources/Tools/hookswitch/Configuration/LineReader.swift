import Audio
import Gateway
import Primitives
import SDP
import Yams

/// Reads one entry of `lines`.
struct LineReader {
    let file: String
    /// `file:line` of the entry.
    let place: String
    private var hasEndpoint = false
    /// Sound files by path, each read once.
    var sounds: [String: WAV] = [:]
    /// The sound that the line's application plays, and whether it plays it again and again.
    var sound: WAV?, loops: Bool?
    /// The keys of a stream.
    var stream = StreamKeys()
    /// The line's schedule has a time zone of its own.
    var namesTimeZone = false
    /// The menu that the line's application plays.
    var menu: Menu?
    /// The queue that callers of the line wait in.
    var queue: QueueSettings?
    /// The limits of the messages that the line's application takes.
    var mailbox: MailboxSettings?
    /// Lines that it names.
    var references: [LineReference] = []
    /// The place at which its directories are named.
    var placeOfDirectories = ""

    init(file: String, place: String) { (self.file, self.place) = (file, place) }

    mutating func read(_ mapping: Node.Mapping) throws -> LineConfiguration {
        let number = mapping[Node("number")]?.scalar?.string ?? "", owner = number.isEmpty ? "" : "line \(number): "
        try mapping.refuseUnknown(among: LineKey.names()) { "\(file):\($0.mark?.line ?? 0): \(owner)\($0.string ?? "")" }
        guard !number.isEmpty else { throw error("a line needs a 'number'") }
        guard number.utf8.count <= 64, !number.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F || "@<>\"".utf8.contains($0) }) else {
            throw error("the 'number' of a line is what is dialled, as 1001 or alice: at most 64 bytes without spaces, @, <, > and quotes")
        }
        guard !mapping.hasTwoPasswords else { throw error("line \(number) has a 'password' and a 'password-file'; it is one or the other") }
        var line = LineConfiguration(number: Text(number))
        for (key, node) in mapping {
            let name = key.string ?? ""
            let value = SettingValue(scalars: [node.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): line \(number): \(name)")
            try apply(name, value, node, to: &line)
        }
        try finishApplication(of: &line)
        for index in references.indices { references[index].line = line.number }
        try check(line)
        return line
    }

    private mutating func apply(_ name: String, _ value: SettingValue, _ node: Node, to line: inout LineConfiguration) throws {
        switch name {
        case "number": break
        case "name": line.name = Text(try value.text)
        case "password": line.password = Text(try value.text)
        case "password-file": line.password = Text(try value.secret)
        case "open": line.isOpen = try value.flag
        case "application": try setEndpoint(.application(try application(value)), of: &line)
        case "trunk": try setEndpoint(.trunk(try TrunkReader(file: file).read(node, value)), of: &line)
        case "group": try setEndpoint(.group(try group(node, value)), of: &line)
        case "script": try setEndpoint(.script(try script(node, value)), of: &line)
        case "domain": line.domain = try value.host
        case "match":
            guard let pattern = NumberPattern(Text(try value.text)) else {
                throw value.fail(
                    "is no pattern as '^+39' or '2...', got \(value.shown); a sign of a regular expression takes a \\ before it")
            }
            line.match = pattern
        case "ring-timeout": line.ringTimeout = try value.text == "none" ? nil : value.duration(1...3600)
        case "max-duration": line.maximumDuration = try value.duration(1...604_800)
        case "media-timeout": line.mediaTimeout = try value.duration(1...86_400)
        case "first-media-timeout": line.firstMediaTimeout = try value.duration(1...86_400)
        case "srtp": line.srtp = SRTPPolicy(rawValue: try value.oneOf(SRTPPolicy.allCases.map(\.rawValue))) ?? .optional
        case "srtp-keying": line.srtpKeying = SRTPKeying(rawValue: try value.oneOf(SRTPKeying.allCases.map(\.rawValue))) ?? .sdes
        case "ice": line.ice = ICEPolicy(rawValue: try value.oneOf(ICEPolicy.allCases.map(\.rawValue))) ?? .auto
        case "calls": line.maximumCalls = try value.integer(1...1_000_000)
        case "takes-calls": line.takesCalls = try value.flag
        case "tap": line.mayBeTapped = try value.flag
        case "do-not-disturb": try readDoNotDisturb(node, value, &line)
        case "block": line.block = try patterns(node, value)
        case "directories":
            line.directories = try items(node, value).map { try $0.text }
            placeOfDirectories = value.place
        case "contacts": try entries(node, value) { name, item, _ in line.addContact(name, name: try item.text) }
        case "recents": line.recents = try value.flag
        case "handles": line.handles = Set(try items(node, value).map { try $0.handleType })
        case "file": sound = try readSound(value)
        case "loop": loops = try value.flag
        case "menu": menu = try menu(node, value)
        case "queue": queue = try queue(node, value)
        case "url", "format", "encoding", "headers", "header-files", "on-failure": try readStream(name, value, node)
        case "mailbox": mailbox = try mailbox(node, value)
        case "record": line.recording = try recordingPlace(value)
        case "hold-music":
            line.holdMusic =
                switch try value.text {
                case "silence": nil
                case "theirs": .theirs
                default: .sound(try readSound(value))
                }
        case "refusals": try readRefusals(node, value, &line)
        default: preconditionFailure("a key of the table without its case: \(name)")
        }
    }

    private mutating func setEndpoint(_ endpoint: LineEndpoint, of line: inout LineConfiguration) throws {
        guard !hasEndpoint else { throw error("line \(line.number) is one of a trunk, an application, a group and a script") }
        hasEndpoint = true
        line.endpoint = endpoint
    }

    private func application(_ value: SettingValue) throws -> LineEndpoint.Application {
        LineEndpoint.Application(named: try value.oneOf(LineEndpoint.Application.names)) ?? .echo
    }

    private func group(_ node: Node, _ value: SettingValue) throws -> RingGroup {
        let usage = "is written as { members: [\"1001\", { number: \"1002\", delay: 5 }] }, with 'in-turn: 20' for one after the other"
        guard case .mapping(let mapping) = node else { throw value.fail(usage) }
        try mapping.refuseUnknown(among: LineKey.names(in: "group")) { item($0, "group", node).place }
        guard case .sequence(let members)? = mapping[Node("members")], !members.isEmpty else { throw value.fail(usage) }
        var group = RingGroup(try members.map { try member($0, value, usage) })
        for (key, node) in mapping where key.string == "in-turn" {
            group.strategy = .inTurn(try item(key, "group", node).duration(1...600))
        }
        if case .inTurn = group.strategy, group.members.contains(where: { $0.delay > .zero }) {
            throw value.fail("has members in turn, and so none with a 'delay'")
        }
        return group
    }

    private func member(_ node: Node, _ value: SettingValue, _ usage: String) throws -> RingGroup.Member {
        if let number = node.scalar?.string { return RingGroup.Member(Text(number)) }
        guard case .mapping(let mapping) = node else { throw value.fail(usage) }
        try mapping.refuseUnknown(among: LineKey.names(in: "group.members")) { item($0, "group.members", node).place }
        guard let number = mapping[Node("number")]?.scalar?.string else { throw value.fail(usage) }
        var member = RingGroup.Member(Text(number))
        for (key, node) in mapping where key.string == "delay" { member.delay = try item(key, "group.members", node).duration(0...600) }
        return member
    }

    private func script(_ node: Node, _ value: SettingValue) throws -> LineScript {
        let usage = "is written as { answer: true }, { ring: true } or { reject: 486 }, with 'after: 500' (ms) and 'busy-every: 3'"
        guard case .mapping(let mapping) = node else { throw value.fail(usage) }
        try mapping.refuseUnknown(among: LineKey.names(in: "script")) { item($0, "script", node).place }
        var script = LineScript(.ring), acts = 0
        for (key, node) in mapping {
            let setting = item(key, "script", node), name = key.string ?? ""
            switch name {
            case "answer", "ring":
                guard try setting.flag else { throw setting.fail("takes true") }
                (script.act, acts) = (name == "ring" ? .ring : .answer, acts + 1)
            case "reject": (script.act, acts) = (.reject(try setting.integer(300...699)), acts + 1)
            case "after": script.after = .milliseconds(Int64(try setting.integer(0...600_000)))
            case "busy-every": script.busyEvery = try setting.integer(1...1_000_000)
            default: preconditionFailure("a key of the table without its case: script.\(name)")
            }
        }
        guard acts == 1 else { throw value.fail(usage) }
        return script
    }

    func item(_ key: Node, _ group: String, _ node: Node) -> SettingValue {
        SettingValue(scalars: [node.scalar?.string ?? ""], place: "\(file):\(key.mark?.line ?? 0): \(group).\(key.string ?? "")")
    }

    private func check(_ line: LineConfiguration) throws {
        if line.isOpen, line.password != nil { throw error("line \(line.number) has a password and is open; it is one or the other") }
        if line.endpoint == .devices, !line.isOpen, line.password == nil, line.match == nil {
            throw error("line \(line.number) needs a 'password', or 'open: true' for devices without one, or an 'application' or a 'trunk'")
        }
    }

    func error(_ message: String) -> ConfigurationError { ConfigurationError(place: place, message: message) }
}
