import Console
import Foundation
import Primitives
import Testing

@testable import hookswitch

extension ConfigurationTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test func `a webhook has an address, secrets and a filter`() throws {
        let yaml = """
            data: d
            webhooks:
              - { name: a, url: "https://crm.example.test/x", secret: \(Self.secret) }
              - name: b
                url: http://127.0.0.1:1/
                secret: [\(Self.secret), whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA]
                types: [call.held, "transaction.*"]
                lines: ["1001"]
                timeout: 2.5
            """
        let webhooks = try load(yaml).webhooks
        #expect(webhooks.map(\.name) == ["a", "b"] && webhooks.map(\.secrets.count) == [1, 2])
        #expect(webhooks[0].types == nil && webhooks[0].lines == nil && webhooks[0].timeout == .seconds(10))
        #expect(webhooks[1].types == [.callHeld, .transactionAccepted, .transactionRefused])
        #expect(webhooks[1].lines == ["1001"] && webhooks[1].timeout == .milliseconds(2_500))
    }

    @Test(arguments: [
        ("name: a, url: \"ftp://x\", secret: \(secret)", "FILE:3: webhooks.url: takes an address as http://"),
        ("name: a, url: \"http://x\"", "FILE:3: a webhook needs a 'secret' or a 'secret-file': 'echo whsec_$(openssl"),
        (
            "name: a, url: \"http://x\", secret: hunter2",
            "FILE:3: webhooks.secret: takes whsec_ and 24 to 64 bytes in base64; this is not that"
        ),
        (
            "name: \"a/b\", url: \"http://x\", secret: \(secret)",
            "FILE:3: webhooks.name: takes up to 32 letters, digits, - and _, got 'a/b'"
        ),
        ("url: \"http://x\", secret: \(secret)", "FILE:3: a webhook needs a 'name'"),
        ("name: a, url: \"http://x\", secret: \(secret), tpyes: [x]", "FILE:3: webhooks.tpyes: unknown setting (did you mean 'types'?)"),
        (
            "name: a, url: \"http://x\", secret: \(secret), types: [call.endet]",
            "FILE:3: webhooks.types: there is no event 'call.endet' (did you mean 'call.ended'?)"
        ),
        ("name: a, url: \"http://x\", secret: \(secret), timeout: 0", "FILE:3: webhooks.timeout: takes a number from 1.0 to 60.0, got '0'"),
        (
            "name: a, url: \"http://x\", secret: \(secret) }\n  - { name: a, url: \"http://y\", secret: \(secret)",
            "FILE:2: two webhooks are named 'a'"
        ),
    ])
    func `a wrong webhook is told in one line, which shows no secret`(entry: String, words: String) {
        let said = complaint("data: d\nwebhooks:\n  - { \(entry) }")
        #expect(said.hasPrefix(words) && !said.contains("hunter2") && !said.contains("MfKQ"), "\(said)")
    }

    @Test func `webhooks need a place where the journal stands`() {
        let said = complaint("webhooks:\n  - { name: a, url: \"http://x\", secret: \(Self.secret) }")
        #expect(said.hasPrefix("FILE:1: webhooks: need 'data'"), "\(said)")
        let pipe = complaint(
            "data: d\njournal.file: /dev/null\nwebhooks:\n  - { name: a, url: \"http://x\", secret: \(Self.secret) }")
        #expect(pipe == "FILE:3: webhooks: are sent from the journal, and /dev/null is no file")
    }
}
