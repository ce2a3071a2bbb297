import Foundation
import Gateway
import Testing

@testable import hookswitch

/// The tables of settings and of keys of lines say the same as the reader does.
@Suite struct SettingTableTests {
    /// Without the places of what is set.
    private func load(_ yaml: String, in folder: SoundFolder, flags: [String] = []) throws -> ServeConfiguration {
        let file = folder.path + "/hookswitch.yaml"
        try folder.write(tone: 440, seconds: 0.2, to: "tone.wav")
        try Data("secret".utf8).write(to: URL(filePath: folder.path + "/secret"))
        try Data(yaml.replacing("FOLDER", with: folder.path).utf8).write(to: URL(filePath: file))
        var loaded = try ConfigurationFile.load(file, environment: [:], flags: flags)
        (loaded.places, loaded.written) = ([:], [:])
        return loaded
    }

    // MARK: Settings

    /// All that a configuration holds with these flags.
    private func picture(_ flags: [String]) throws -> String { Self.picture(of: try load("", in: SoundFolder(), flags: flags)) }

    /// All that a value holds, as text; what has no order is sorted.
    private static func picture(of value: Any) -> String {
        // A status that was chosen and is the default is the same.
        if let statuses = value as? RefusalStatuses { return "\(RefusalStatuses.Kind.allCases.map { statuses[$0] })" }
        let mirror = Mirror(reflecting: value), parts = mirror.children.map { "\($0.label ?? ""): \(picture(of: $0.value))" }
        guard !parts.isEmpty else { return String(reflecting: value) }
        let isSorted = mirror.displayStyle == .set || mirror.displayStyle == .dictionary
        return "\(mirror.subjectType)(\((isSorted ? parts.sorted() : parts).joined(separator: ", ")))"
    }

    static let defaults = Setting.all.compactMap { setting in
        if case .value(let text) = setting.default { (setting.path, text) } else { nil }
    }

    @Test(arguments: defaults) func `a default that can be written changes nothing when it is`(path: String, text: String) throws {
        #expect(try picture(["\(path)=\(text)"]) == picture([]))
    }

    @Test func `settings with a default that can be written are found, and others change something`() throws {
        #expect(Self.defaults.count > 30)
        #expect(try picture(["media.quarantine=2"]) != picture([]))
    }

    // MARK: Keys of a line

    /// For each key where it stands (WHAT), and something that it takes.
    static let examples: [String: (place: String, written: String)] = [
        "number": ("WHAT, open: true", "number: \"1\""), "name": ("open: true, WHAT", "name: Alice"), "password": ("WHAT", "password: a"),
        "password-file": ("WHAT", "password-file: FOLDER/secret"),
        "open": ("WHAT", "open: true"), "match": ("open: true, WHAT", "match: \"^+39\""), "domain": ("open: true, WHAT", "domain: a.test"),
        "ring-timeout": ("open: true, WHAT", "ring-timeout: 5"), "max-duration": ("open: true, WHAT", "max-duration: 5"),
        "calls": ("open: true, WHAT", "calls: 1"), "takes-calls": ("open: true, WHAT", "takes-calls: false"),
        "tap": ("open: true, WHAT", "tap: true"),
        "do-not-disturb": ("open: true, WHAT", "do-not-disturb: true"),
        "do-not-disturb.on": ("open: true, do-not-disturb: { WHAT }", "on: true"),
        "do-not-disturb.vips": ("open: true, do-not-disturb: { WHAT }", "vips: [\"1002\"]"),
        "do-not-disturb.schedule": ("open: true, do-not-disturb: { WHAT }", "schedule: [{ from: \"22:00\", to: \"07:00\" }]"),
        "do-not-disturb.schedule.days": (Self.schedule("from: \"22:00\", to: \"07:00\", WHAT"), "days: mon-fri"),
        "do-not-disturb.schedule.from": (Self.schedule("to: \"07:00\", WHAT"), "from: \"22:00\""),
        "do-not-disturb.schedule.to": (Self.schedule("from: \"22:00\", WHAT"), "to: \"07:00\""),
        "do-not-disturb.time-zone": ("open: true, do-not-disturb: { WHAT }", "time-zone: Pacific/Kiritimati"),
        "block": ("open: true, WHAT", "block: [\"1002\"]"), "directories": ("open: true, WHAT", "directories: [spam]"),
        "contacts": ("open: true, WHAT", "contacts: { \"+39055\": Mamma }"),
        "refusals": ("open: true, WHAT", "refusals: { directory: 603 }"),
        "refusals.do-not-disturb": ("open: true, refusals: { WHAT }", "do-not-disturb: 486"),
        "refusals.block-list": ("open: true, refusals: { WHAT }", "block-list: 603"),
        "refusals.directory": ("open: true, refusals: { WHAT }", "directory: 603"),
        "refusals.unentitled": ("open: true, refusals: { WHAT }", "unentitled: 404"),
        "refusals.maximum-calls": ("open: true, refusals: { WHAT }", "maximum-calls: 600"),
        "recents": ("open: true, WHAT", "recents: false"), "handles": ("open: true, WHAT", "handles: [phone-number]"),
        "application": ("WHAT", "application: echo"), "file": ("application: playback, WHAT", "file: FOLDER/tone.wav"),
        "loop": ("application: playback, file: FOLDER/tone.wav, WHAT", "loop: true"), "record": ("open: true, WHAT", "record: FOLDER/"),
        "url": ("application: stream, WHAT", "url: \"ws://a.test/calls\""), "format": (Self.program("WHAT"), "format: raw"),
        "encoding": (Self.program("format: raw, WHAT"), "encoding: opus"), "headers": (Self.program("WHAT"), "headers: { X-Tenant: a }"),
        "header-files": (Self.program("WHAT"), "header-files: { Authorization: FOLDER/secret }"),
        "on-failure": (Self.program("WHAT"), "on-failure: { transfer: \"2\" }"),
        "on-failure.announcement": (Self.program("on-failure: { WHAT }"), "announcement: FOLDER/tone.wav"),
        "on-failure.transfer": (Self.program("on-failure: { WHAT }"), "transfer: \"2\""),
        "hold-music": ("open: true, WHAT", "hold-music: theirs"), "srtp": ("open: true, WHAT", "srtp: required"),
        "srtp-keying": ("open: true, WHAT", "srtp-keying: dtls"), "ice": ("open: true, WHAT", "ice: lite"),
        "media-timeout": ("open: true, WHAT", "media-timeout: 5"), "first-media-timeout": ("open: true, WHAT", "first-media-timeout: 5"),
        "group": ("WHAT", "group: { members: [\"2\"] }"), "group.members": ("group: { WHAT }", "members: [\"2\"]"),
        "group.members.number": ("group: { members: [{ WHAT }] }", "number: \"2\""),
        "group.members.delay": ("group: { members: [{ number: \"2\", WHAT }] }", "delay: 5"),
        "group.in-turn": ("group: { members: [\"2\"], WHAT }", "in-turn: 20"), "script": ("WHAT", "script: { ring: true }"),
        "script.answer": ("script: { WHAT }", "answer: true"), "script.ring": ("script: { WHAT }", "ring: true"),
        "script.reject": ("script: { WHAT }", "reject: 486"), "script.after": ("script: { answer: true, WHAT }", "after: 500"),
        "script.busy-every": ("script: { answer: true, WHAT }", "busy-every: 3"), "trunk": ("WHAT", "trunk: { host: a.test }"),
        "trunk.host": ("trunk: { WHAT }", "host: a.test"), "trunk.targets": ("trunk: { WHAT }", "targets: [{ host: a.test }]"),
        "trunk.targets.host": ("trunk: { targets: [{ WHAT }] }", "host: a.test"),
        "trunk.targets.transport": (Self.target, "transport: tcp"), "trunk.targets.priority": (Self.target, "priority: 1"),
        "trunk.targets.weight": (Self.target, "weight: 3"), "trunk.transport": (Self.trunk, "transport: tls"),
        "trunk.tcp": (Self.trunk, "tcp: true"), "trunk.username": (Self.trunk, "username: u"),
        "trunk.password": ("trunk: { host: a.test, username: u, WHAT }", "password: p"), "trunk.domain": (Self.trunk, "domain: b.test"),
        "trunk.password-file": ("trunk: { host: a.test, username: u, WHAT }", "password-file: FOLDER/secret"),
        "trunk.register": (Self.trunk, "register: true"), "trunk.expires": (Self.registered, "expires: 300"),
        "trunk.keep-alive": (Self.registered, "keep-alive: none"), "trunk.health": (Self.trunk, "health: 30"),
        "trunk.nodes": (Self.registered, "nodes: each"),
        "trunk.sources": (Self.trunk, "sources: [\"192.0.2.0/28\"]"), "trunk.hairpin": (Self.trunk, "hairpin: true"),
        "trunk.incoming": (Self.registered, "incoming: \"1\""), "trunk.caller": (Self.trunk, "caller: \"+49\""),
        "trunk.rewrite": (Self.trunk, "rewrite: [{ match: \"^0\" }]"),
        "trunk.rewrite.match": ("trunk: { host: a.test, rewrite: [{ WHAT }] }", "match: \"^0\""),
        "trunk.rewrite.strip": ("trunk: { host: a.test, rewrite: [{ match: \"^0\", WHAT }] }", "strip: 1"),
        "trunk.rewrite.prefix": ("trunk: { host: a.test, rewrite: [{ match: \"^0\", WHAT }] }", "prefix: \"+49\""),
        "trunk.rewrite-incoming": (Self.trunk, "rewrite-incoming: [{ match: \"^0\" }]"),
        "trunk.headers": (Self.trunk, "headers: { copy: [\"X-*\"] }"), "trunk.headers.copy": (Self.headers, "copy: [\"X-*\"]"),
        "trunk.headers.remove": (Self.headers, "remove: [X-A]"), "trunk.headers.set": (Self.headers, "set: { X-A: b }"),
        "mailbox": (Self.record, "mailbox: { maximum: 60 }"), "mailbox.maximum": (Self.mailbox, "maximum: 60"),
        "mailbox.silence-end": (Self.mailbox, "silence-end: 5"), "mailbox.minimum": (Self.mailbox, "minimum: 0"),
        "mailbox.owners": (Self.mailbox, "owners: [\"2\"]"),
        "menu": ("application: menu, WHAT", "menu: { prompt: FOLDER/tone.wav, choices: { \"1\": hang-up } }"),
        "menu.greeting": (Self.menu, "greeting: FOLDER/tone.wav"),
        "menu.prompt": ("application: menu, menu: { choices: { \"1\": hang-up }, WHAT }", "prompt: FOLDER/tone.wav"),
        "menu.prompt.file": (Self.prompt, "file: FOLDER/tone.wav"), "menu.prompt.say": (Self.prompt, "say: Good morning"),
        "menu.invalid": (Self.menu, "invalid: { say: No }"), "menu.unavailable": (Self.menu, "unavailable: { say: Busy }"),
        "menu.choices": ("application: menu, menu: { prompt: FOLDER/tone.wav, WHAT }", "choices: { \"1\": hang-up }"),
        "menu.choices.line": (Self.choice, "line: \"2\""),
        "menu.choices.menu": (Self.choice, "menu: { prompt: { say: A }, choices: { \"1\": back } }"),
        "menu.choices.mailbox": (Self.choice, "mailbox: \"3\""),
        "menu.choices.trunk": (Self.choice.replacing("WHAT", with: "number: \"+39\", WHAT"), "trunk: \"4\""),
        "menu.choices.number": (Self.choice.replacing("WHAT", with: "trunk: \"4\", WHAT"), "number: \"+39\""),
        "menu.timeout": (Self.menu, "timeout: 7"), "menu.digit-timeout": (Self.menu, "digit-timeout: 7"),
        "menu.retries": (Self.menu, "retries: 0"), "menu.barge-in": (Self.menu, "barge-in: false"),
        "queue": ("application: queue, WHAT", "queue: { members: [\"2\"] }"),
        "queue.members": ("application: queue, queue: { WHAT }", "members: [\"2\"]"),
        "queue.strategy": (Self.queue, "strategy: in-turn"), "queue.ring": (Self.queue, "ring: 7"), "queue.pause": (Self.queue, "pause: 7"),
        "queue.greeting": (Self.queue, "greeting: { say: Hello }"), "queue.music": (Self.queue, "music: FOLDER/tone.wav"),
        "queue.position": (Self.queue, "position: { say: \"Number {position}\" }"), "queue.every": (Self.queue, "every: 60"),
        "queue.length": (Self.queue, "length: 3"), "queue.wait": (Self.queue, "wait: 60"),
        "queue.overflow": (Self.queue, "overflow: { mailbox: \"3\" }"),
        "menu.otherwise": (Self.menu, "otherwise: hook"),
    ]

    private static let trunk = "trunk: { host: a.test, WHAT }", target = "trunk: { targets: [{ host: a.test, WHAT }] }"
    private static let registered = "trunk: { host: a.test, register: true, WHAT }"
    private static let headers = "trunk: { host: a.test, headers: { WHAT } }"
    private static let record = "application: record, record: FOLDER/, WHAT"
    private static let mailbox = "application: record, record: FOLDER/, mailbox: { WHAT }"
    private static let menu = "application: menu, menu: { prompt: FOLDER/tone.wav, choices: { \"1\": hang-up }, WHAT }"
    private static let queue = "application: queue, queue: { members: [\"2\"], WHAT }"
    private static let prompt = "application: menu, menu: { prompt: { WHAT }, choices: { \"1\": hang-up } }"
    private static let choice = "application: menu, menu: { prompt: FOLDER/tone.wav, choices: { \"1\": { WHAT } } }"
    private static func program(_ keys: String) -> String { "application: stream, url: \"ws://a.test/calls\", \(keys)" }
    private static func schedule(_ window: String) -> String { "open: true, do-not-disturb: { schedule: [{ \(window) }] }" }

    /// The line as it was read, or what is wrong with it.
    private func outcome(_ place: String, _ written: String) -> (text: String, isGood: Bool) {
        let number = written.hasPrefix("number: \"1\"") || place == Self.examples["number"]?.place ? "" : "number: \"1\", "
        let yaml =
            "directories: { block: [spam=spam.csv] }\nlines:\n  - { \(number)\(place.replacing("WHAT", with: written)) }\n  - { number: \"2\", open: true }\n"
            + "  - { number: \"3\", application: record, record: FOLDER/ }\n  - { number: \"4\", trunk: { host: a.test } }\n"
        guard let folder = try? SoundFolder() else { return ("no folder", false) }
        do { return (Self.picture(of: try load(yaml, in: folder).gateway.lines[0]).replacing(folder.path, with: "FOLDER"), true) } catch {
            return ("\(error)".replacing(folder.path, with: "FOLDER"), false)
        }
    }

    @Test func `every key of the table has an example`() {
        #expect(Set(Self.examples.keys) == Set(LineKey.all.map(\.path)) && LineKey.all.count == Self.examples.count)
    }

    @Test(arguments: LineKey.all.map(\.path)) func `every key of the table is taken, and changes the line`(path: String) throws {
        let example = try #require(Self.examples[path])
        let with = outcome(example.place, example.written)
        #expect(with.isGood, "\(with.text)")
        #expect(with.text != outcome(example.place, "").text)
    }

    static let defaultKeys = LineKey.all.compactMap { key in if case .value(let text) = key.default { (key.path, text) } else { nil } }

    @Test(arguments: defaultKeys) func `the default of a key changes nothing when it is written`(path: String, text: String) throws {
        let example = try #require(Self.examples[path]), name = try #require(LineKey.all.first { $0.path == path }?.name)
        #expect(outcome(example.place, "\(name): \(text.contains(",") ? "[\(text)]" : text)").text == outcome(example.place, "").text)
    }

    @Test(arguments: LineKey.all.filter { $0.default == .needed }.map(\.path))
    func `a key that is needed is missed`(path: String) throws {
        #expect(!outcome(try #require(Self.examples[path]).place, "").isGood)
    }
}
