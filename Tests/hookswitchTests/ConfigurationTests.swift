import ArgumentParser
import Foundation
import Gateway
import Primitives
import Runtime
import Testing
import UserAgent

@testable import hookswitch

@Suite struct ConfigurationTests {
    func load(_ yaml: String, environment: [String: String] = [:], flags: [String] = []) throws -> ServeConfiguration {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID()).yaml")
        try! Data(yaml.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            return try ConfigurationFile.load(file.path, environment: environment, flags: flags)
        } catch let error as ConfigurationError {
            throw ConfigurationError(
                place: error.place.replacingOccurrences(of: file.path, with: "FILE"),
                message: error.message.replacingOccurrences(of: file.path, with: "FILE"), kind: error.kind)
        }
    }

    func complaint(_ yaml: String, environment: [String: String] = [:], flags: [String] = []) -> String {
        do {
            _ = try load(yaml, environment: environment, flags: flags)
            return "no complaint"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        ("data: ~", "FILE:1: 'data' has no value: '~' is null in YAML, and text only in quotes"),
        ("domain: null", "FILE:1: 'domain' has no value: 'null' is null in YAML, and text only in quotes"),
        ("domain:\n", "FILE:1: 'domain' has no value"),
        ("sip:\n  udp: [\"127.0.0.1:5060\", ~]", "FILE:2: 'udp' has no value: '~' is null in YAML, and text only in quotes"),
        ("lines:\n  - number: \"1\"\n    password: ~", "FILE:3: 'password' has no value: '~' is null in YAML, and text only in quotes"),
        (
            "lines:\n  - number: \"1\"\n    trunk:\n      host: NULL",
            "FILE:4: 'host' has no value: 'NULL' is null in YAML, and text only in quotes"
        ),
        ("domian: x", "FILE:1: unknown setting 'domian' (did you mean 'domain'?)"),
        ("domain: x\nsip:\n  upd: [\"127.0.0.1:5060\"]", "FILE:3: unknown setting 'sip.upd' (did you mean 'sip.udp'?)"),
        ("media:\n  ports: 20000", "FILE:2: media.ports: takes a range of ports from 1024 on as 20000-20199, got '20000'"),
        ("media:\n  ports: 20000-x-20100", "FILE:2: media.ports: takes a range of ports from 1024 on as 20000-20199, got '20000-x-20100'"),
        ("media:\n  ports: 20000--20100", "FILE:2: media.ports: takes a range of ports from 1024 on as 20000-20199, got '20000--20100'"),
        ("media:\n  ports: 20000-+20100", "FILE:2: media.ports: takes a range of ports from 1024 on as 20000-20199, got '20000-+20100'"),
        ("media:\n  quarantine: 0x1p4", "FILE:2: media.quarantine: takes a number from 1.0 to 3600.0, got '0x1p4'"),
        ("media:\n  codecs: [opus, pcmu, opus]", "FILE:2: media.codecs: names a codec twice: the 3. of [opus, pcmu, opus]"),
        (
            "advertise:\n  address: 0.0.0.0",
            "FILE:2: advertise.address: takes the address of one machine as 203.0.113.7, got '0.0.0.0', where nobody can be reached"
        ),
        (
            "advertise:\n  address: 224.1.1.1",
            "FILE:2: advertise.address: takes the address of one machine as 203.0.113.7, got '224.1.1.1', where nobody can be reached"
        ),
        (
            "sip:\n  udp: [\"224.0.0.1:5060\"]",
            "FILE:2: sip.udp: takes an address of this machine, got '224.0.0.1:5060', which is for several"
        ),
        ("headers:\n  copy: [X-*, Via]", "FILE:2: headers.copy: 'Via' is no name of a header that may be passed, as X-Name or \"X-*\""),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, headers: { set: { X-A: \"b\\nc\" } } } }",
            "FILE:2: headers.set.X-A: takes one line, got several"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: \"a.test:0\" } }",
            "FILE:2: trunk.host: takes a name or an address as sip.example.test or 192.0.2.1:5060, got 'a.test:0'"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: \"192.0.2.1:0\" } }",
            "FILE:2: trunk.host: takes a name or an address as sip.example.test or 192.0.2.1:5060, got '192.0.2.1:0'"
        ),
        (
            "dns:\n  servers: \"192.0.2.1:0\"",
            "FILE:2: dns.servers: takes an address and port as 192.0.2.1:53, got '192.0.2.1:0', where nobody answers"
        ),
        (
            "api:\n  phone-server: https://pbx.example.test",
            "FILE:2: api.phone-server: takes the address of a WebSocket as wss://pbx.example.test/sip, got 'https://pbx.example.test'"
        ),
        (
            "api:\n  phone-server: \"wss://pbx.example.test; script-src *\"",
            "FILE:2: api.phone-server: takes the address of a WebSocket as wss://pbx.example.test/sip, got 'wss://pbx.example.test; script-src *'"
        ),
        (
            "api:\n  origins: console.example.test",
            "FILE:2: api.origins: takes an origin as https://console.example.test, got 'console.example.test'"
        ),
        (
            "api:\n  origins: [\"https://a.test:8443\", \"https://b.test:443/\"]",
            "FILE:2: api.origins: takes an origin as a browser writes it, https://b.test, got 'https://b.test:443/'"
        ),
        (
            "push:\n  url: http://127.0.0.1:99999/push",
            "FILE:2: push.url: takes an address as http://127.0.0.1:8090/push or https://push.example.test/push"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { transport: sctp, targets: [{ host: a.test }] } }",
            "FILE:2: trunk.transport: takes one of udp, tcp, tls, got 'sctp' (did you mean 'tcp'?)"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { transport: udp, tcp: true, host: a.test } }",
            "FILE:2: trunk.tcp: 'tcp' and 'transport' say the same thing: leave one out"
        ),
        (
            "sip:\n  session-expires: 100\n  min-se: 200",
            "FILE:2: sip.session-expires: 100 is shorter than sip.min-se, which is 200: we would refuse ourselves"
        ),
        (
            "sip: { min-se: 2000 }",
            "FILE:1: sip.min-se: 2000 is longer than sip.session-expires, which is 1800 where nothing is set: we would refuse ourselves"
        ),
        ("lines:\n  - { numbr: \"1\" }", "FILE:2: numbr: unknown setting (did you mean 'number'?)"),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, rewrite: [{ mach: \"^0\" }] } }",
            "FILE:2: rewrite.mach: unknown setting (did you mean 'match'?)"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { targets: [{ hots: b }] } }",
            "FILE:2: trunk.targets.hots: unknown setting (did you mean 'host'?)"
        ),
        ("lines:\n  - { number: \"1\", group: { member: [\"2\"] } }", "FILE:2: group.member: unknown setting (did you mean 'members'?)"),
        (
            "lines:\n  - { number: \"1\", group: { members: [{ numbr: \"2\" }] } }",
            "FILE:2: group.members.numbr: unknown setting (did you mean 'number'?)"
        ),
        ("directories:\n  block: [spam=b.csv, spam=a.csv]", "FILE:2: directories.block: names the directory 'spam' twice"),
        ("headers:\n  copy: []", "FILE:2: headers.copy: takes one header or more, got none; write none"),
        (
            "metrics:\n  listen: 239.1.1.1:9464",
            "FILE:2: metrics.listen: takes an address of this machine, got '239.1.1.1:9464', which is for several"
        ),
        ("sip:\n  udp: [\"127.0.0.1:5060\"]\nsip.udp: \"127.0.0.1:5062\"", "FILE:3: 'sip.udp' is set twice"),
        (
            "lines:\n  - { number: \"10 01\", open: true }",
            "FILE:2: the 'number' of a line is what is dialled, as 1001 or alice: at most 64 bytes without spaces, @, <, > and quotes"
        ),
        (
            "lines:\n  - { number: \"1\", match: \"^[0-9]+\", open: true }",
            "FILE:2: line 1: match: is no pattern as '^+39' or '2...', got '^[0-9]+'; a sign of a regular expression takes a \\ before it"
        ),
        (
            "media:\n  codecs: [opus, pcmx]",
            "FILE:2: media.codecs: knows no codec 'pcmx' (did you mean 'pcmu'?); there are opus, g722, pcmu, pcma, l16/48000, l16/44100, l16/16000, l16/8000"
        ),
        ("sip:\n  udp: [\"localhost\"]", "FILE:2: sip.udp: takes an address and port as 0.0.0.0:5060 or [::]:5060, got 'localhost'"),
        ("lines:\n  - { number: \"1\", pasword: x }", "FILE:2: line 1: pasword: unknown setting (did you mean 'password'?)"),
        (
            "lines:\n  - { number: \"1\", application: ehco }",
            "FILE:2: line 1: application: takes one of echo, tone, conference, playback, record, menu, queue, stream, got 'ehco' (did you mean 'echo'?)"
        ),
        ("lines:\n  - { number: \"1\", open: true }\n  - { number: \"1\", open: true }", "FILE:3: line 1 is there already (FILE:2)"),
        (
            "lines:\n  - { number: \"1\" }",
            "FILE:2: line 1 needs a 'password', or 'open: true' for devices without one, or an 'application' or a 'trunk'"
        ),
        (
            "lines:\n  - { number: \"1\", open: true, srtp: requird }",
            "FILE:2: line 1: srtp: takes one of off, optional, required, got 'requird' (did you mean 'required'?)"
        ),
        ("lines:\n  - { number: \"1\", trunk: { hots: a.test } }", "FILE:2: trunk.hots: unknown setting (did you mean 'host'?)"),
        (
            "lines:\n  - { number: \"1\", trunk: { host: \"a b\" } }",
            "FILE:2: trunk.host: takes a name or an address as sip.example.test or 192.0.2.1:5060, got 'a b'"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, password: x } }",
            "FILE:2: line 1: trunk: has a 'password' and no 'username'"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, expires: 600 } }",
            "FILE:2: trunk.expires: is for a trunk with 'register: true'"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, transport: tlss } }",
            "FILE:2: trunk.transport: takes one of udp, tcp, tls, got 'tlss' (did you mean 'tls'?)"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, headers: { set: { Via: x } } } }",
            "FILE:2: headers.set.Via: is no name of a header that may be set"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { targets: [{ host: a.test, wieght: 2 }] } }",
            "FILE:2: trunk.targets.wieght: unknown setting (did you mean 'weight'?)"
        ),
        ("lines:\n  - { number: \"1\", group: { members: [\"2\"] } }", "FILE:2: line 1: its member 2 is no line"),
        (
            "lines:\n  - { number: \"1\", group: { members: [\"9\"] } }\n  - { number: \"9\", application: echo }",
            "FILE:2: line 1: its member 9 is a line without devices and no trunk"
        ),
        ("lines:\n  - { number: \"1\", script: { anser: true } }", "FILE:2: script.anser: unknown setting (did you mean 'answer'?)"),
        (
            "lines:\n  - { number: \"1\", script: { reject: 200 } }",
            "FILE:2: script.reject: takes a whole number from 300 to 699, got '200'"
        ),
        ("limits:\n  calls-per-secnd: 5", "FILE:2: unknown setting 'limits.calls-per-secnd' (did you mean 'limits.calls-per-second'?)"),
        (
            "access:\n  digests: [SHA-265]",
            "FILE:2: access.digests: knows no digest 'SHA-265' (did you mean 'SHA-256'?); there are MD5, MD5-sess, SHA-256, SHA-256-sess, SHA-512-256, SHA-512-256-sess"
        ),
        ("lines:\n  - { number: \"1\", application: playback }", "FILE:2: line 1 plays back, and needs a 'file'"),
        ("lines:\n  - { number: \"1\", application: record }", "FILE:2: line 1 takes messages, and needs a folder to 'record' them in"),
        (
            "lines:\n  - { number: \"1\", application: echo, loop: true }",
            "FILE:2: line 1: 'file' and 'loop' are for an application that plays back or records"
        ),
        (
            "lines:\n  - { number: \"1\", application: playback, file: /dev/null }",
            "FILE:2: line 1: file: /dev/null cannot be played: neither WAV nor Ogg Opus"
        ),
        ("lines:\n  - { number: \"1\", open: true, hold-music: /nowhere.wav }", "FILE:2: line 1: hold-music: /nowhere.wav cannot be read"),
        (
            "lines:\n  - { number: \"1\", open: true, record: \"{wen}.wav\" }",
            "FILE:2: line 1: record: has no '{wen}'; there are {called} {caller} {line} {date} {time} {call}"
        ),
        (
            "lines:\n  - { number: \"1\", open: true, record: \"a.mp3\" }",
            "FILE:2: line 1: record: knows no format '.mp3'; there are .wav and .opus"
        ),
        (
            "lines:\n  - { number: \"1\", open: true, record: /dev/null/x/ }",
            "FILE:2: line 1: record: the folder '/dev/null/x/' cannot be written"
        ),
        ("sip: 5060", "FILE:1: 'sip' is a group of settings"),
        (
            "\ndomain: pbx.example.test:5060",
            "FILE:2: domain: takes a host name or an address alone as pbx.example.test, got 'pbx.example.test:5060'; write 'pbx.example.test'"
        ),
        (
            "domain: sip.a.test:5060",
            "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'sip.a.test:5060'; write 'sip.a.test'"
        ),
        ("domain: \"sip:a\"", "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'sip:a'; write 'a'"),
        (
            "domain: https://pbx.test/",
            "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'https://pbx.test/'; write 'pbx.test'"
        ),
        (
            "domain: \"[2001:db8::1]:5060\"",
            "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got '[2001:db8::1]:5060'; write '[2001:db8::1]'"
        ),
        ("domain: my pbx", "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'my pbx'"),
        ("domain: ü.test", "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'ü.test'"),
        (
            "domain: \"a.test\\r\\nVia: x\"",
            "FILE:1: domain: takes a host name or an address alone as pbx.example.test, got 'a.test\\r\\nVia: x'"
        ),
        (
            "lines:\n  - { number: \"1\", open: true, domain: \"a:1\" }",
            "FILE:2: line 1: domain: takes a host name or an address alone as pbx.example.test, got 'a:1'; write 'a'"
        ),
        (
            "lines:\n  - { number: \"1\", trunk: { host: a.test, domain: \"b:1\" } }",
            "FILE:2: trunk.domain: takes a host name or an address alone as pbx.example.test, got 'b:1'; write 'b'"
        ),
        ("media: { codecs: [] }", "FILE:1: media.codecs: takes one codec or more, got none"),
        ("access: { digests: \"\" }", "FILE:1: access.digests: takes one digest or more, got none"),
        (
            "media:\n  targets: { allow: [] }",
            "FILE:2: media.targets.allow: takes one network or more, got none; without the setting media may go anywhere"
        ),
        ("a: 1\ndomain: a\ndomain: b", "FILE:2: 'domain' is set twice"),
        ("lines:\n  - number: \"1\"\n    password: a\n    password: b", "FILE:3: 'password' is set twice"),
        ("# ü\r\ndomain: a\u{1}b", "FILE:2: is no YAML: control characters are not allowed (U+1)"),
        ("domain: a\nsip:\n\tudp: \"127.0.0.1\"", "FILE:3: is no YAML: the line is indented with a tab; YAML takes spaces"),
        ("domain: a\r\nsip:\r\n  \tudp: x", "FILE:3: is no YAML: the line is indented with a tab; YAML takes spaces"),
        ("domain: a\n---\ndomain: b", "FILE:2: is no YAML: expected a single document in the stream but found another document"),
        ("? [a, b]\n: c", "FILE:1: a setting has a plain name as 'domain'"),
        ("sip:\n  udp: \"::1:5060\"", "FILE:2: sip.udp: is [::1:5060] or [::1]:5060: write the brackets, got '::1:5060'"),
        (
            "api: { listen: \"192.0.2.1:8080\" }",
            "FILE:1: api.listen: others can reach 192.0.2.1:8080: set api.tls to true, or take 127.0.0.1"
        ),
        ("api: { listen: [\"127.0.0.1:8080\"], tls: true }", "FILE:1: api.tls: needs sip.tls.certificate and sip.tls.key"),
        ("hook: { url: \"http://127.0.0.1:1/\" }", "FILE:1: hook.url: needs hook.default: as-dialled, 'number 1001' or 'reject 503'"),
        (
            "hook: { default: \"reject 200\" }",
            "FILE:1: hook.default: takes as-dialled, 'number 1001' or 'reject 503' (300 to 699), got 'reject 200'"
        ),
        ("api: { listn: \"127.0.0.1:8080\" }", "FILE:1: unknown setting 'api.listn' (did you mean 'api.listen'?)"),
    ])
    func `a mistake gets one line with its place and the nearest valid name`(yaml: String, line: String) {
        #expect(complaint(yaml) == line)
    }

    @Test(arguments: [
        ("do-not-disturb: { vip: [\"1\"] }", "do-not-disturb.vip: unknown setting (did you mean 'vips'?)"),
        ("do-not-disturb: { schedule: [{ from: \"22:00\" }] }", "do-not-disturb.schedule: a window has a 'from' and a 'to'"),
        (
            "do-not-disturb: { schedule: [{ from: \"10:00\", to: \"10:00\" }] }",
            "do-not-disturb.schedule: a window that ends when it begins: for a whole day write from: \"00:00\", to: \"24:00\""
        ),
        (
            "do-not-disturb: { schedule: [{ from: \"22.00\", to: \"23:00\" }] }",
            "do-not-disturb.schedule.from: takes a time in quotes as \"22:00\", got '22.00'"
        ),
        (
            "do-not-disturb: { schedule: [{ days: mon-fry, from: \"22:00\", to: \"23:00\" }] }",
            "do-not-disturb.schedule.days: takes days as mon, mon-fri or daily, got 'mon-fry'"
        ),
        ("do-not-disturb: { time-zone: Rome }", "do-not-disturb.time-zone: knows no time zone 'Rome'; they are named as Europe/Rome"),
        ("refusals: { block-list: 486 }", "refusals.block-list: takes one of 607, 603, 403, 480, got '486' (did you mean '480'?)"),
        ("refusals: { blocklist: 603 }", "refusals.blocklist: unknown setting (did you mean 'block-list'?)"),
        (
            "directories: [spam]",
            "directories: no directory is named 'spam'; there are none (see directories.block and directories.identify)"
        ),
        ("block: [[1]]", "block: takes a list of plain values"),
    ])
    func `a mistake in what a line has of a telephone is named`(entry: String, line: String) {
        #expect(complaint("lines:\n  - { number: \"1\", open: true, \(entry) }") == "FILE:2: line 1: " + line)
    }

    @Test func `a line has Do Not Disturb, a block list, contacts, directories and refusals of its own`() throws {
        let yaml = """
            time-zone: Asia/Tokyo
            directories: { block: [spam=lists/spam.csv], identify: ["lists/company.csv", "spam=names.csv"], call-info: "https://example.test/card" }
            refusals: { do-not-disturb: 486 }
            lines:
              - number: "1"
                open: true
                do-not-disturb: { on: false, vips: ["+39*"], time-zone: Europe/Rome, schedule: [{ days: [mon-wed, sat], from: "22:00", to: "07:00" }, { from: "13:00", to: "24:00" }] }
                block: ["+15550100", "^+1900"]
                directories: [company, spam]
                contacts: { "+39 055 1234": Alice }
                refusals: { block-list: 603 }
              - { number: "2", open: true, takes-calls: no, do-not-disturb: on }
            """
        let configuration = try load(yaml)
        let lines = configuration.gateway.lines
        #expect(
            lines[0].doNotDisturb.schedule.windows == [
                .init(days: [.monday, .tuesday, .wednesday, .saturday], from: 1_320, to: 420),
                .init(days: Set(WeeklySchedule.Weekday.allCases), from: 780, to: 1_440),
            ])
        #expect(
            lines[0].doNotDisturb.schedule.timeZone.identifier == "Europe/Rome"
                && lines[1].doNotDisturb.schedule.timeZone.identifier == "Asia/Tokyo")
        #expect(lines[0].doNotDisturb.vips.map(\.description) == ["+39*"] && lines[0].block.map(\.description) == ["+15550100", "^+1900"])
        #expect(lines[0].directories == ["company", "spam"] && lines[0].contacts == ["390551234": "Alice"])
        #expect(lines[0].refusals[.blockList] == 603 && configuration.gateway.refusals[.doNotDisturb] == 486)
        #expect(lines[0].takesCalls && !lines[1].takesCalls && lines[1].doNotDisturb.isOn)
        #expect(
            configuration.directories == [
                DirectorySource(name: "spam", block: "lists/spam.csv", identify: "names.csv"),
                DirectorySource(name: "company", identify: "lists/company.csv"),
            ])
        #expect(configuration.gateway.callInfo == "https://example.test/card")
        #expect(
            complaint(yaml, environment: ["HOOKSWITCH_DIRECTORIES_CALL_INFO": "http://x"])
                == "environment: HOOKSWITCH_DIRECTORIES_CALL_INFO: takes an address as https://example.test/card, got 'http://x'")
    }

    @Test(arguments: [
        ("pbx_1.example.test.", "pbx_1.example.test."), ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "[2001:db8::1]"),
        ("[2001:db8::1]", "[2001:db8::1]"), ("localhost", "localhost"),
    ])
    func `a domain is a name or an address`(written: String, domain: String) throws {
        #expect(try load("domain: \"\(written)\"").gateway.domain.description == domain)
    }

    @Test func `an empty list is refused in a variable and a flag too`() {
        #expect(
            complaint("", environment: ["HOOKSWITCH_MEDIA_CODECS": ""])
                == "environment: HOOKSWITCH_MEDIA_CODECS: takes one codec or more, got none")
        #expect(complaint("", flags: ["media.codecs="]) == "--set media.codecs: takes one codec or more, got none")
    }

    @Test(arguments: [
        ("/nowhere/a.yaml", "/nowhere/a.yaml: cannot be read (No such file or directory)"),
        ("/tmp", "/tmp: cannot be read (Is a directory)"),
    ])
    func `a file that cannot be read is told with the cause`(path: String, line: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load(path, environment: [:], flags: []) }
        #expect(error.description == line)
    }

    @Test(arguments: [Array("domain: ".utf8) + [0xFC], [0xFF, 0xFE, 0x61, 0x00]])
    func `a file that is no UTF-8 is called that`(bytes: [UInt8]) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID()).yaml")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let error = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load(file.path, environment: [:], flags: []) }
        #expect(error.description == "\(file.path): is not UTF-8 text")
    }

    @Test func `a configuration is read from a pipe`() throws {
        let path = NSTemporaryDirectory() + "hookswitch-\(UUID()).fifo"
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        Thread.detachNewThread {
            let file = FileHandle(forWritingAtPath: path)
            try? file?.write(contentsOf: Data("domain: piped.test".utf8))
            try? file?.close()
        }
        #expect(try ConfigurationFile.load(path, environment: [:], flags: []).gateway.domain == "piped.test")
    }

    /// Ten of ten of ten …
    @Test func `aliases within aliases are bounded`() {
        let levels = zip("bcdefgh", "abcdefg").map {
            "\($0): &\($0) [\([String](repeating: "*\($1)", count: 10).joined(separator: ","))]\n"
        }
        let yaml = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + levels.joined()
        #expect(complaint(yaml) == "FILE:6: the aliases up to here stand for more than 1000000 values")
    }

    @Test func `an alias is what it stands for`() throws {
        let lines = try load("lines:\n- &a { number: \"1\", password: &p secret }\n- { number: \"2\", password: *p }").gateway.lines
        #expect(lines.count == 2 && lines[0].password == lines[1].password)
    }

    @Test func `a file that does not end is not read for ever`() throws {
        let error = try #require(throws: ConfigurationError.self) { try ConfigurationFile.load("/dev/zero", environment: [:], flags: []) }
        #expect(error.description == "/dev/zero: is longer than 64 MB")
    }

    @Test func `what is no YAML is said with its line`() {
        #expect(complaint("domain: [\nlines: }").hasPrefix("FILE:2: is no YAML: "))
    }

    @Test func `a flag beats the environment, which beats the file`() throws {
        let yaml = "domain: file.test\nmedia:\n  ports: 20000-20099"
        #expect(try load(yaml).gateway.domain == "file.test")
        let environment = ["HOOKSWITCH_DOMAIN": "environment.test", "HOOKSWITCH_MEDIA_PORTS": "21000-21099"]
        #expect(try load(yaml, environment: environment).gateway.domain == "environment.test")
        let loaded = try load(yaml, environment: environment, flags: ["domain=flag.test"])
        #expect(loaded.gateway.domain == "flag.test")
        #expect(loaded.gateway.media.ports == 21000...21099)
    }

    @Test(
        arguments: [
            ("", "localhost", nil), ("domain: any", "localhost", nil), ("domain: a.test", "a.test", []),
            ("domain: [a.test, b.test]", "a.test", ["b.test"]),
            ("domain: [a.test, any]", "a.test", nil),
        ] as [(String, Text, [Text]?)])
    func `the first domain is ours, and devices register under the others, too`(yaml: String, domain: Text, aliases: [Text]?) throws {
        let gateway = try load(yaml).gateway
        #expect(gateway.domain == domain && gateway.aliases == aliases)
    }

    @Test func `a list of directories replaces that of a weaker source, and not the other list`() throws {
        let yaml = "directories: { block: [spam=a.csv, both=b.csv], identify: [both=c.csv] }"
        let loaded = try load(yaml, environment: ["HOOKSWITCH_DIRECTORIES_BLOCK": "other=d.csv"])
        #expect(loaded.directories == [DirectorySource(name: "both", identify: "c.csv"), DirectorySource(name: "other", block: "d.csv")])
    }

    @Test(arguments: [
        ("HOOKSWITCH_SERVICE_HOST", "10.0.0.11"), ("HOOKSWITCH_SERVICE_PORT", "5060"), ("HOOKSWITCH_SERVICE_PORT_SIP", "5060"),
        ("HOOKSWITCH_PORT", "udp://10.0.0.11:5060"),
        ("HOOKSWITCH_PORT_5060_UDP", "udp://10.0.0.11:5060"), ("HOOKSWITCH_PORT_5060_UDP_ADDR", "10.0.0.11"),
        ("HOOKSWITCH_METRICS_SERVICE_HOST", "10.0.0.12"),
        ("HOOKSWITCH_METRICS_PORT", "tcp://10.0.0.12:9464"), ("HOOKSWITCH_TEST_FUZZ", "0"), ("HOOKSWITCH_FIRST_SEED", "7"),
    ])
    func `variables of an orchestrator's services and of our tests are no settings`(name: String, text: String) {
        #expect(complaint("", environment: [name: text]) == "no complaint")
    }

    @Test func `an unknown variable and an unknown flag are refused`() {
        #expect(
            complaint("", environment: ["HOOKSWITCH_MEDIA_PORT": "20000-20099"])
                == "environment: unknown variable HOOKSWITCH_MEDIA_PORT (did you mean 'HOOKSWITCH_MEDIA_PORTS'?)")
        #expect(
            complaint("", environment: ["HOOKSWITCH_SIP_UPD": "x"])
                == "environment: unknown variable HOOKSWITCH_SIP_UPD (did you mean 'HOOKSWITCH_SIP_UDP'?)")
        #expect(complaint("", flags: ["sip.upd=x"]) == "--set: unknown setting 'sip.upd' (did you mean 'sip.udp'?)")
    }

    @Test func `an unreadable certificate is the machine's fault`() throws {
        let yaml = "sip:\n  tls: { listen: [\"0.0.0.0:5061\"], certificate: /nowhere/cert.pem, key: /nowhere/key.pem }"
        let error = try #require(throws: ConfigurationError.self) { try load(yaml) }
        #expect(error.exitCode == 3)
        #expect(error.description == "FILE:2: sip.tls.certificate: '/nowhere/cert.pem' cannot be read")
    }

    @Test(arguments: [
        ("server.pem", "other.key", "the key 'CERTS/other.key' does not belong to the certificate 'CERTS/server.pem'"),
        ("leaf.key", "leaf.key", "'CERTS/leaf.key' holds no certificate (PEM)"),
        ("server.pem", "server.pem", "'CERTS/server.pem' holds no private key without a password (PEM)"),
    ])
    func `a certificate and a key that do not fit are the machine's fault`(certificate: String, key: String, complaint: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates")
            .path
        let yaml = "sip:\n  tls: { listen: [\"0.0.0.0:5061\"], certificate: \(folder)/\(certificate), key: \(folder)/\(key) }"
        let error = try #require(throws: ConfigurationError.self) { try load(yaml) }
        #expect(error.exitCode == 3)
        #expect(error.description == "sip.tls: " + complaint.replacingOccurrences(of: "CERTS", with: folder))
    }

    @Test func `a certificate that ended is told at the start`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates")
            .path
        func warnings(_ certificate: String) throws -> [String] {
            let configuration = try load(
                "sip:\n  tls: { listen: [\"0.0.0.0:5061\"], certificate: \(folder)/\(certificate), key: \(folder)/leaf.key }")
            return StartupSummary(configuration, listeners: configuration.listeners, ephemeral: nil).warnings
        }
        let told = try #require(try warnings("expired.pem").first)
        #expect(
            told.hasPrefix("the certificate \(folder)/expired.pem ended ") && told.hasSuffix(" days ago: clients that look will refuse it"))
        #expect(try warnings("server.pem").isEmpty)
    }

    @Test func `TLS needs a certificate to listen, and a key for each`() {
        #expect(
            complaint("sip:\n  tls: { listen: [\"0.0.0.0:5061\"] }")
                == "FILE:2: sip.tls.listen: needs a 'certificate' and a 'key' to listen")
        #expect(
            complaint("sip:\n  tls: { certificate: \(#filePath) }")
                == "FILE:2: sip.tls.certificate: takes as many keys as certificates, got 0 and 1")
        #expect(complaint("sip:\n  tls: { lisen: [] }") == "FILE:2: unknown setting 'sip.tls.lisen' (did you mean 'sip.tls.listen'?)")
    }

    @Test func `WebSockets have addresses, origins, proxies, and the certificate of TLS or their own`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(path: "Corpus/certificates")
            .path
        let own = "certificate: \(folder)/server.pem, key: \(folder)/leaf.key"
        let configuration = try load(
            "sip:\n  ws: [\"127.0.0.1\"]\n  wss: { listen: [\"0.0.0.0\"], \(own) }\n"
                + "  ws-origins: [\"https://phone.example.test\"]\n  ws-proxies: [\"127.0.0.0/8\"]")
        #expect(configuration.listeners.map { "\($0.transport) \($0.address)" }.suffix(2) == ["ws 127.0.0.1:5066", "wss 0.0.0.0:5067"])
        let server = configuration.server
        #expect(server.webSocketTLS?.identities.count == 1 && server.tls == nil)
        #expect(server.webSocketOrigins == ["https://phone.example.test"] && server.webSocketProxies.count == 1)
        let shared = try load("sip:\n  tls: { \(own) }\n  wss: { listen: [\"0.0.0.0\"] }").server
        #expect(shared.webSocketTLS?.identities == shared.tls?.identities && shared.tls?.identities.count == 1)
        #expect(
            complaint("sip:\n  wss: { listen: [\"0.0.0.0\"] }")
                == "FILE:2: sip.wss.listen: needs a 'certificate' and a 'key', here or in sip.tls")
        #expect(
            complaint("sip:\n  ws: [\"127.0.0.1:5060\"]\n  tcp: [\"127.0.0.1:5060\"]").contains("sip.ws: 127.0.0.1:5060"))
    }

    @Test func `a trunk is read whole`() throws {
        let yaml = """
            lines:
              - number: "8000"
                trunk:
                  targets: [{ host: "192.0.2.10", weight: 3 }, { host: "b.test:5080", transport: tls, priority: 1 }]
                  username: u
                  password: p
                  register: true
                  expires: 300
                  keep-alive: none
                  health: 30
                  sources: ["192.0.2.0/28"]
                  hairpin: true
                  rewrite: [{ match: "^0", strip: 1, prefix: "+49" }]
                  headers: { copy: ["X-*"], set: { X-Tenant: acme } }
            """
        guard case .trunk(let trunk)? = try load(yaml).gateway.lines.first?.endpoint else { return #expect(Bool(false), "no trunk") }
        #expect(trunk.targets.map(\.host) == ["192.0.2.10", "b.test"] && trunk.targets.map(\.port) == [nil, 5080])
        #expect(
            trunk.targets.map(\.transport) == [nil, .tls] && trunk.targets.map(\.weight) == [3, 1]
                && trunk.targets.map(\.priority) == [0, 1])
        #expect(
            trunk.registration?.expires == 300 && trunk.registration != nil && trunk.registration?.keepAlive == nil
                && trunk.health == .seconds(30))
        #expect(
            trunk.isHairpin && trunk.sources == [IPNetwork("192.0.2.0/28")!] && trunk.rewrites.count == 1 && trunk.headers.set.count == 1
                && trunk.headers.copy.count == 1)
    }

    @Test func `a trunk's transport is that of its targets, where they say no other`() throws {
        let yaml = "lines:\n  - { number: \"1\", trunk: { transport: tls, targets: [{ host: a.test }, { host: b.test, transport: udp }] } }"
        guard case .trunk(let trunk)? = try load(yaml).gateway.lines.first?.endpoint else { return #expect(Bool(false), "no trunk") }
        #expect(trunk.targets.map(\.transport) == [.tls, .udp])
    }

    @Test(arguments: [
        (
            "sip:\n  udp: [\"127.0.0.1:5060\", \"127.0.0.1:5060\"]",
            "FILE:2: sip.udp: 127.0.0.1:5060 cannot be listened on beside 127.0.0.1:5060: it is the same port"
        ),
        (
            "sip:\n  udp: [\"0.0.0.0:5060\", \"127.0.0.1:5060\"]",
            "FILE:2: sip.udp: 127.0.0.1:5060 cannot be listened on beside 0.0.0.0:5060: it is the same port"
        ),
        (
            "sip: { tcp: \"127.0.0.1:9464\" }\nmetrics: { listen: \"0.0.0.0\" }",
            "FILE:2: metrics.listen: 0.0.0.0:9464 cannot be listened on beside 127.0.0.1:9464 of sip.tcp: it is the same port"
        ),
        ("sip: { udp: [\"0.0.0.0:5060\", \"[::]:5060\"], tcp: [\"127.0.0.1:5060\", \"127.0.0.2:5060\"] }", "no complaint"),
        ("sip: { udp: [\"127.0.0.1:0\", \"127.0.0.1:0\"] }", "no complaint"),
    ])
    func `no port is listened on twice`(yaml: String, line: String) { #expect(complaint(yaml) == line) }

    /// As in the file: the last of two would count without a word.
    @Test(arguments: [
        (["domain=a", "domain=b"], "--set domain"), (["--domain=a", "--domain=b"], "--domain"), (["domain=a", "--domain=b"], "--domain"),
        (["directories.block=a=x", "directories.block=b=y"], "--set directories.block"),
    ])
    func `a setting that is typed twice is refused`(flags: [String], place: String) {
        #expect(complaint("domain: c", flags: flags) == "\(place): is set twice; several values are one with commas")
        #expect(complaint("domain: c", flags: [flags[0]]) == "no complaint")
    }

    @Test(arguments: [
        (
            ["check", "--media-prots", "1-2"],
            "there is no option '--media-prots' (did you mean '--media-ports'?) (see 'hookswitch check --help')"
        ),
        (
            ["serve", "--media-prots=1-2"],
            "there is no option '--media-prots' (did you mean '--media-ports'?) (see 'hookswitch serve --help')"
        ),
        (["doctor", "--confg", "x"], "there is no option '--confg' (did you mean '--config'?) (see 'hookswitch doctor --help')"),
        (
            ["check", "--config", "a", "--json", "--config=b"],
            "--config is typed twice: there is one file, and --set for what is else in it"
        ),
        (["check", "--json", "--media-ports"], "--media-ports takes a value: <first-last>"),
    ])
    func `a flag that is mistyped, or has no value, is named`(arguments: [String], line: String) throws {
        let failure = try #require(throws: Failure.self) { try SettingFlags.expand(arguments) }
        #expect(failure.message == line && failure.exitCode == 2)
        #expect(try SettingFlags.expand(["check", "--json", "--config=a", "--set", "domain=b", "--help"]).count == 6)
    }

    @Test func `no file is named by an empty word`() {
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationFile.load("", environment: [:], flags: []) }
        #expect(error?.description == "--config: takes a file, got ''")
    }

    @Test func `what is wrong with a flag is said of the flag`() {
        #expect(complaint("", flags: ["--media-ports=5"]) == "--media-ports: takes a range of ports from 1024 on as 20000-20199, got '5'")
        #expect(complaint("", flags: ["media.ports=5"]) == "--set media.ports: takes a range of ports from 1024 on as 20000-20199, got '5'")
    }

    @Test func `the trace and the log are set, and the trace has flags that are shorter than its settings`() throws {
        let words = try SettingFlags.expand(["serve", "--trace", "t.pcapng", "--hep=192.0.2.1", "--trace-rotate", "2", "--log-format=json"])
        #expect(words.prefix(3) == ["serve", "--set=--trace=t.pcapng", "--set=--hep=192.0.2.1"])
        let flags = words.dropFirst().map { String($0.dropFirst("--set=".count)) }
        let loaded = try load("trace: { memory: 1, hep-id: 7 }", flags: flags)
        #expect(loaded.trace.file == "t.pcapng" && loaded.trace.collector == SocketAddress("192.0.2.1:9060") && loaded.trace.capture == 7)
        #expect(loaded.trace.rotation == 2 << 20 && loaded.trace.memory == 1 << 20 && loaded.log.format == "json")
        #expect(
            complaint("", flags: ["--hep=0.0.0.0"])
                == "--hep: takes an address and port as 192.0.2.1:9060, got '0.0.0.0', where nobody answers")
        #expect(complaint("trace: { rtp: headers }") == "FILE:1: trace.rtp: needs trace.file, where the packets go")
        #expect(complaint("log: { format: jsn }") == "FILE:1: log.format: takes one of text, json, got 'jsn' (did you mean 'json'?)")
        let failure = #expect(throws: Failure.self) { try SettingFlags.expand(["serve", "--trase", "x"]) }
        #expect(failure?.message == "there is no option '--trase' (did you mean '--trace'?) (see 'hookswitch serve --help')")
    }

    @Test(arguments: [("/nowhere.csv", "No such file or directory"), ("/tmp", "Is a directory")])
    func `a directory that cannot be read has the place of its setting`(path: String, cause: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hookswitch-\(UUID()).yaml")
        try Data("directories:\n  identify: [a=\(path)]\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let command = try #require(try Hookswitch.parseAsRoot(["check", "--config", file.path]) as? Check)
        let error = try #require(throws: ConfigurationError.self) { try command.run() }
        #expect(error.place == "\(file.path):2: directories.identify: directory a" && error.exitCode == 3)
        #expect(error.message == "\(path): cannot be read (\(cause))")
    }

    @Test func `every setting is a flag and a variable of its own`() throws {
        for setting in Setting.all {
            for command in ["serve", "check", "doctor"] {
                let expanded = try SettingFlags.expand([command, "--\(SettingFlags.flagName(setting))", "x"])
                #expect(expanded == [command, "--set=--\(SettingFlags.flagName(setting))=x"])
                #expect(SettingFlags.setting("--\(SettingFlags.flagName(setting))")?.path == setting.path)
            }
        }
        #expect(Set(Setting.all.map(\.environmentName)).count == Setting.all.count)
    }

    @Test(arguments: ["hookswitch.yaml", "lan.yaml", "routing.yaml", "sound.yaml", "tls.yaml", "telephones.yaml", "trunk.yaml"])
    func `the configurations that we ship are good`(name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let configuration = try ConfigurationFile.load(root.appending(path: "Configs/\(name)").path, environment: [:], flags: [])
        #expect(!configuration.gateway.lines.isEmpty)
    }

    @Test(arguments: ["~", "null"]) func `what is null in YAML is text in quotes`(text: String) throws {
        #expect(try load("lines:\n  - { number: \"1\", password: \"\(text)\" }").gateway.lines[0].password == Text(text))
        #expect(try load("lines:\n  - { number: \"1\", password: !!str \(text) }").gateway.lines[0].password == Text(text))
    }

    @Test func `without a configuration anybody registers on loopback and 9196 echoes`() throws {
        let configuration = try ConfigurationFile.load(nil, environment: [:], flags: [])
        #expect(configuration.udp == [SocketAddress(.loopback, port: 5060)])
        #expect(configuration.gateway.lines.contains { $0.number == "9196" && $0.endpoint == .application(.echo) })
        #expect(configuration.gateway.lines.filter { $0.endpoint == .devices }.allSatisfy { $0.isOpen })
    }
}
