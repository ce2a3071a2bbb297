import Foundation
import Testing

extension Calls {
    /// A page in a browser behind the proxy of a cluster, as `Configs/kamailio/cluster.cfg` has it: over wss to Kamailio, and over UDP from there.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct ClusterProxyTests {
        @Test(arguments: ["calls", "called", "reloaded"]) func `a page with SIP.js has its calls through the proxy of a cluster`(
            scene: String
        )
            async throws
        {
            let ports = try await Ports.take(100), folder = try Folder()
            let (proxy, secure, page) = ("127.0.0.1:\(ports[0])", "127.0.0.1:\(ports[1])", ports[2])
            // An address of its own: Kamailio knows a gateway by it, also over TCP.
            let address = "127.0.75.1:\(ports[3])", journal = folder.file("data/journal.jsonl")
            let gateway = try Self.gateway(at: address, media: ports.part(20, 60), in: folder)
            defer { gateway.kill() }
            let kamailio = try Self.kamailio(
                before: address, in: folder, ["PROXY": proxy, "SECURE": secure, "PAGE_ORIGIN": "http://127.0.0.1:\(page)"])
            defer { kamailio.kill() }
            try await gateway.line(containing: "is ready")
            try await eventually("Kamailio listens", within: .seconds(20)) { KernelSockets.boundPorts.contains(ports[0]) }
            let person = try Program(
                Place.python,
                [
                    Place.scenario("sipjs.py"), scene, "wss://\(secure)", proxy, Place.hookswitch, Place.screenshots, "\(page)",
                    Place.certificate("server.pem"),
                ])
            defer { person.kill() }
            let code = try await person.exitCode(within: .seconds(120))
            #expect(code == 0 && person.lines.all.last == "DONE", "\(person.transcript) \(kamailio.transcript)")
            try await gateway.stopped()
            let told = try Journal(file: journal)
            told.expectNothingLeft()
            #expect(Set(told.all("sip.rx").compactMap { $0.text("remote") }) == [proxy], "all came by the proxy")
            if scene == "calls" { #expect(told.all("dtmf.received").compactMap { $0.text("digits") } == ["5", "7"]) }
        }

        private static func gateway(at address: String, media: ClosedRange<UInt16>, in folder: Folder) throws -> Program {
            let browser = "srtp: required, srtp-keying: dtls, ice: lite, media-timeout: 5"
            let file = try folder.write(
                """
                domain: 127.0.0.1
                sip: { udp: ["\(address)"], tcp: ["\(address)"] }
                media: { ports: \(media.lowerBound)-\(media.upperBound) }
                data: \(folder.file("data"))
                test-mode: true
                limits.backlog: 0
                lines:
                  - { number: "1001", password: secret-1001, \(browser) }
                  - { number: "1002", password: secret-1002, \(browser) }
                  - { number: "1003", password: secret-1003 }
                  - { number: "9196", application: echo, srtp: optional }
                """, to: "hookswitch.yaml")
            return try Program(Place.hookswitch, ["serve", "--config", file], playsSound: true)
        }

        /// - Parameter values: of the configuration's definitions, by their names.
        private static func kamailio(before gateway: String, in folder: Folder, _ values: [String: String]) throws -> Program {
            let shipped = Place.tests.deletingLastPathComponent().deletingLastPathComponent().appending(
                path: "Configs/kamailio/cluster.cfg")
            var values = values
            values["GATEWAYS"] = try folder.write("1 sip:\(gateway)\n", to: "gateways.list")
            (values["TLS_CERTIFICATE"], values["TLS_KEY"]) = (Place.certificate("server.pem"), Place.certificate("leaf.key"))
            var text = try String(contentsOf: shipped, encoding: .utf8)
            for (name, value) in values { text = text.replacing(try Regex("\"!\(name)![^!]*!g\""), with: "\"!\(name)!\(value)!g\"") }
            let file = try folder.write(text, to: "kamailio.cfg")
            // Its children end with it: they are in a namespace of processes of their own.
            let apart = ["--fork", "--pid", "--kill-child"] + (getuid() == 0 ? [] : ["--map-root-user"])
            return try Program(
                "/usr/bin/unshare", apart + ["/usr/sbin/kamailio", "-DD", "-E", "-f", file, "-P", folder.file("kamailio.pid")])
        }
    }
}
