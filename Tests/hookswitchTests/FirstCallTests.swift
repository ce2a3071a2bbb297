import Foundation
import Gateway
import Primitives
import Runtime
import SDP
import Testing

@testable import hookswitch

/// The line that a start proposes to type.
@Suite struct FirstCallTests {
    private func summary(_ configuration: ServeConfiguration) -> StartupSummary {
        StartupSummary(configuration, listeners: configuration.listeners, ephemeral: nil)
    }

    @Test(
        arguments: [
            ("hookswitch.yaml", "sip:9196@127.0.0.1:5060"), ("telephones.yaml", "sip:9196@127.0.0.1:5060"),
            ("tls.yaml", "sip:9196@127.0.0.1:5060"),
            ("lan.yaml", "sip:9196@127.0.0.1:5060 --from 2000"), ("routing.yaml", "sip:9101@127.0.0.1:5060"),
            ("sound.yaml", "sip:9200@127.0.0.1:5060"), ("trunk.yaml", nil),
        ] as [(String, String?)])
    func `each configuration that we ship proposes what it answers`(name: String, target: String?) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let summary = summary(try ConfigurationFile.load(root.appending(path: "Configs/\(name)").path, environment: [:], flags: []))
        #expect(summary.tryNext == target.map { "hookswitch call \($0)" })
        #expect(summary.text.contains("\n  try ") == (target != nil))
    }

    private func configuration(_ flags: [String]) throws -> ServeConfiguration {
        try ConfigurationFile.load(nil, environment: [:], flags: flags)
    }

    @Test func `where nobody is a guest it proposes a line of ours, and no password`() throws {
        var configuration = try configuration(["access.guests="])
        #expect(summary(configuration).tryNext == "hookswitch call sip:9196@127.0.0.1:5060 --from 1001")
        configuration.gateway.lines.removeAll { $0.isOpen }
        #expect(summary(configuration).tryNext == nil)
        var line = LineConfiguration(number: "1001")
        line.password = "secret"
        configuration.gateway.lines.append(line)
        #expect(summary(configuration).tryNext == "hookswitch call sip:9196@127.0.0.1:5060 --from 1001 --password PASSWORD")
    }

    @Test(arguments: [
        (["1001", "1005", "1003"], "1001, 1005, 1003"), (["1001", "1002", "1003"], "1001-1003"), (["1001", "1002"], "1001, 1002"),
        (["1", "b", "3"], "1, b, 3"),
    ])
    func `only numbers that follow each other are told by their ends`(numbers: [String], text: String) throws {
        var configuration = try configuration([])
        configuration.gateway.lines = numbers.map { LineConfiguration(number: Text($0)) }
        #expect(summary(configuration).text.contains("numbers     \(text) (devices)"))
    }

    @Test func `where the line wants encryption, so does the call`() throws {
        var configuration = try configuration([])
        for index in configuration.gateway.lines.indices { configuration.gateway.lines[index].srtp = .required }
        #expect(summary(configuration).tryNext == "hookswitch call sip:9196@127.0.0.1:5060 --srtp sdes")
        for index in configuration.gateway.lines.indices { configuration.gateway.lines[index].srtpKeying = .dtls }
        #expect(summary(configuration).tryNext == "hookswitch call sip:9196@127.0.0.1:5060 --srtp dtls")
    }

    @Test func `it goes by the transport that there is`() throws {
        var configuration = try configuration([])
        configuration.udp = []
        #expect(summary(configuration).tryNext == "hookswitch call sip:9196@127.0.0.1:5060 --transport tcp")
        (configuration.tcp, configuration.tls, configuration.gateway.domain) = ([], [SocketAddress(.anyV4, port: 5061)], "example.test")
        #expect(summary(configuration).tryNext == "hookswitch call sips:9196@127.0.0.1:5061 --tls-name example.test")
        configuration.clientAuthorities = "ca.pem"
        #expect(summary(configuration).tryNext == nil)
    }

    @Test func `a port of SIP's among those of media is warned of, and not counted`() throws {
        let summary = summary(try configuration(["sip.udp=127.0.0.1:20002", "media.ports=20000-20099"]))
        #expect(summary.warnings == ["SIP's udp 127.0.0.1:20002 is one of the media ports 20000-20099: no call can have it"])
        #expect(summary.legs == 99 && summary.text.contains("range allows 99 calls"))
    }
}
