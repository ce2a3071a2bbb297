import Console
import Foundation
import Gateway
import Primitives
import Testing

@testable import hookswitch

/// What a container gives beside the file: variables, mounted secrets, a folder of lines.
extension ConfigurationTests {
    private static let environment = ["SIP_PASSWORD": "s3cret", "EMPTY": ""]

    private func password(_ written: String) throws -> Text? {
        let yaml = "lines:\n  - number: \"1001\"\n    password: \(written)"
        return try load(yaml, environment: Self.environment).gateway.lines.first?.password
    }

    @Test(arguments: [
        ("${SIP_PASSWORD}", "s3cret"), ("a-${SIP_PASSWORD}-b", "a-s3cret-b"), ("${NOWHERE:-other}", "other"), ("${EMPTY:-other}", "other"),
        ("${SIP_PASSWORD:-other}", "s3cret"), ("$${SIP_PASSWORD}", "${SIP_PASSWORD}"), ("pa$$word$", "pa$$word$"),
        ("\"${SIP_PASSWORD}${SIP_PASSWORD}\"", "s3crets3cret"),
    ])
    func `a value of the file names variables`(written: String, password: Text) throws {
        #expect(try self.password(written) == password)
    }

    @Test func `settings that the console shows have no secrets, and their places`() throws {
        let yaml = """
            domain: x.test
            push.url: "https://hidden:hidden@push.example.test:8443/hidden?key=hidden"
            hook: { url: "http://127.0.0.1:9/hidden", default: as-dialled }
            speech.command: "say --key hidden {text}"
            lines: [{ number: "1001", password: hidden }]
            """
        let configuration = try load(yaml), summary = StartupSummary(configuration, listeners: [], ephemeral: nil)
        let report = SettingsReport(configuration, summary), text = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
        #expect(!text.contains("hidden"), "\(text)")
        let shown = Dictionary(uniqueKeysWithValues: report.settings.map { ($0.path, $0) })
        #expect(shown["push.url"]?.value == "https://push.example.test:8443/…" && shown["speech.command"]?.value == "say …")
        #expect(shown["domain"]?.value == "x.test" && shown["domain"]?.place?.contains(":1") == true)
        #expect(shown.count == Setting.all.count && shown["limits.legs"]?.value == nil)
    }

    @Test func `variables stand in lists, in trunks and in settings, and may begin as ours do`() throws {
        let yaml = """
            domain: ${HOOKSWITCH_CARRIER}
            sip: { udp: ["127.0.0.1:${PORT:-5070}"] }
            lines: [{ number: "8", trunk: { host: "${HOOKSWITCH_CARRIER}", username: u, password: "${SIP_PASSWORD}" } }]
            """
        let own = ["HOOKSWITCH_CARRIER": "sip.example.test"]
        let loaded = try load(yaml, environment: Self.environment.merging(own) { $1 })
        guard case .trunk(let trunk)? = loaded.gateway.lines.first?.endpoint else { throw CancellationError() }
        #expect(loaded.gateway.domain == "sip.example.test" && loaded.udp.first?.port == 5070)
        #expect(trunk.targets.first?.host == "sip.example.test" && trunk.password == "s3cret")
        #expect(complaint("", environment: own).hasPrefix("environment: unknown variable HOOKSWITCH_CARRIER"))
    }

    @Test(arguments: [
        (
            "lines:\n  - number: \"1\"\n    password: ${SIP_PASWORD}",
            "FILE:3: password: the variable SIP_PASWORD is not set (did you mean 'SIP_PASSWORD'?); ${SIP_PASWORD:-text} says what holds without it"
        ),
        ("domain: ${FAR}", "FILE:1: domain: the variable FAR is not set; ${FAR:-text} says what holds without it"),
        ("domain: ${}", "FILE:1: domain: '${}' names no variable: write ${NAME} or ${NAME:-default}, and $${ for the text ${"),
        ("domain: ${A", "FILE:1: domain: '${A' names no variable: write ${NAME} or ${NAME:-default}, and $${ for the text ${"),
        (
            "lines:\n  - { number: \"1\", password: ${SIP_PASSWORD} }",
            "FILE:2: is no YAML: did not find expected ',' or '}'; within braces a ${NAME} stands in quotes, as \"${NAME}\""
        ),
        ("lines:\n  - number: \"1\"\n    password: ${EMPTY}", "FILE:3: line 1: password: takes one value, got ''"),
    ])
    func `a variable that cannot be had is named, and no value of another is`(yaml: String, complaint: String) {
        let said = self.complaint(yaml, environment: Self.environment)
        #expect(said == complaint)
        #expect(!said.contains("s3cret"))
    }

    @Test(arguments: ["HOOKSWITCH_LINES", "HOOKSWITCH_LINE_0_NUMBER"])
    func `lines in the environment are told where they belong`(name: String) {
        #expect(
            complaint("", environment: [name: "1001"])
                == "environment: unknown variable \(name): lines are written in files (--config, or all of a folder by HOOKSWITCH_LINES_FOLDER), where ${NAME} takes a variable"
        )
    }

    // MARK: Files

    private func saying(_ text: String, name: String = "secret", _ body: (SoundFolder) throws -> Void) throws {
        let folder = try SoundFolder()
        try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
        try body(folder)
    }

    @Test(arguments: ["s3cret", "s3cret\n", "s3cret\r\n", "s3cret\n\n"])
    func `a password is the line of its file`(text: String) throws {
        try saying(text) { folder in
            let yaml = """
                lines:
                  - { number: "1", password-file: "\(folder.path)/secret" }
                  - { number: "2", trunk: { host: a.test, username: u, password-file: "\(folder.path)/secret" } }
                """
            let lines = try load(yaml).gateway.lines
            guard case .trunk(let trunk) = lines[1].endpoint else { throw CancellationError() }
            #expect(lines[0].password == "s3cret" && trunk.password == "s3cret")
        }
    }

    @Test(arguments: [
        ("\n", "password-file: F/secret", "line 1: password-file: 'F/secret' holds no secret in its first line"),
        ("s3cret\nother", "password-file: F/secret", "line 1: password-file: 'F/secret' holds more than one line"),
        ("s3cret", "password-file: F/none", "line 1: password-file: 'F/none' cannot be read (No such file or directory)"),
        ("s3cret", "password: a, password-file: F/secret", "line 1 has a 'password' and a 'password-file'; it is one or the other"),
        (
            "s3cret", "trunk: { host: a.test, username: u, password: a, password-file: F/secret }",
            "line 1: trunk: has a 'password' and a 'password-file'; it is one or the other"
        ),
    ])
    func `a file that holds no password is named, and its text is not`(text: String, keys: String, complaint: String) throws {
        try saying(text) { folder in
            let said = self.complaint("lines:\n  - { number: \"1\", \(keys.replacing("F/", with: folder.path + "/")) }")
            #expect(said.replacing(folder.path, with: "F") == "FILE:2: " + complaint)
        }
    }

    @Test func `the secret of nonces is the line of its file, and long enough`() throws {
        let secret = String(repeating: "0123456789abcdef", count: 2)
        try saying(secret + "\n") { folder in
            let loaded = try load("access: { nonce-secret-file: \(folder.path)/secret }")
            #expect(loaded.gateway.access.nonceSecret == Array(secret.utf8))
            let report = SettingsReport(loaded, StartupSummary(loaded, listeners: [], ephemeral: nil))
            #expect(!String(decoding: try JSONEncoder().encode(report), as: UTF8.self).contains(secret))
        }
        try saying(String(secret.dropLast())) { folder in
            let said = complaint("access: { nonce-secret-file: \(folder.path)/secret }")
            #expect(
                said.replacing(folder.path, with: "F")
                    == "FILE:1: access.nonce-secret-file: 'F/secret' holds fewer than 32 characters; 'openssl rand -hex 32' makes a secret")
        }
        #expect(try load("").gateway.access.nonceSecret == nil)
    }

    @Test func `a folder has further lines, file by file`() throws {
        try saying("- { number: \"3\", open: true }\n- { number: \"4\", password: \"${SIP_PASSWORD}\" }", name: "b.yaml") { folder in
            try Data("lines: [{ number: \"2\", open: true }]".utf8).write(to: URL(filePath: folder.path + "/a.yml"))
            for (name, text) in [("none.txt", "{"), (".hidden.yaml", "{"), ("empty.yaml", "")] {
                try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)"))
            }
            let yaml = "lines-folder: \(folder.path)\nlines: [{ number: \"1\", open: true }]"
            let loaded = try load(yaml, environment: Self.environment)
            #expect(loaded.gateway.lines.map(\.number) == ["1", "2", "3", "4"] && loaded.gateway.lines.last?.password == "s3cret")
            let alone = try ConfigurationFile.load(
                nil, environment: ["HOOKSWITCH_LINES_FOLDER": folder.path, "SIP_PASSWORD": "s3cret"], flags: [])
            #expect(alone.gateway.lines.map(\.number) == ["2", "3", "4"])
        }
    }

    @Test(arguments: [
        ("- { number: \"1\", open: true }", "F/a.yaml:1: line 1 is there already (FILE:2)"),
        ("domain: a.test", "F/a.yaml:1: 'domain': here are lines alone: unknown setting"),
        ("1001", "F/a.yaml:1: 'lines' takes a list of lines as '- { number: \"1001\", password: secret }'"),
        ("- number: \"2\"\n  password: ~", "F/a.yaml:2: 'password' has no value: '~' is null in YAML, and text only in quotes"),
        (
            "- number: \"2\"\n  password: ${FAR}",
            "F/a.yaml:2: password: the variable FAR is not set; ${FAR:-text} says what holds without it"
        ),
    ])
    func `a mistake in a file of the folder is named with its file and line`(text: String, complaint: String) throws {
        try saying(text, name: "a.yaml") { folder in
            let said = self.complaint("lines:\n  - { number: \"1\", open: true }\nlines-folder: \(folder.path)")
            #expect(said.replacing(folder.path, with: "F") == complaint)
        }
    }

    @Test func `a folder that is not there is the machine's fault`() throws {
        let error = try #require(throws: ConfigurationError.self) { try load("lines-folder: /nowhere") }
        #expect(error.exitCode == 3 && error.description == "FILE:1: lines-folder: the folder '/nowhere' cannot be read")
    }
}
