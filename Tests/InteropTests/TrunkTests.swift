import Foundation
import Testing

extension Calls {
    /// Trunks between two gateways of ours, and to sipp.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct TrunkTests {
        @Test func `check tells where the trunks are`() async throws {
            let folder = try Folder()
            let lines = [
                "domain: example.test", "sip: { udp: [\"127.0.0.1:7999\"] }", "data: \(folder.file("data"))", "lines:",
                #"  - { number: carrier, match: "^+", trunk: { targets: [{ host: "192.0.2.1:5070" }, { host: "192.0.2.2", transport: tcp, priority: 1 }] } }"#,
            ]
            let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "trunks.yaml")
            let said = try await Program.run(Place.hookswitch, ["check", "--config", file])
            #expect(said.code == 0 && said.lines.contains { $0.contains("the configuration is good") })
            let trunks = said.lines.filter { $0.hasPrefix("  trunk ") }
            #expect(
                trunks.count == 2 && trunks[0].contains("carrier") && trunks[0].contains("udp 192.0.2.1:5070")
                    && trunks[1].contains("tcp 192.0.2.2:5060"), "\(trunks)")
            let json = try await Program.run(Place.hookswitch, ["check", "--json", "--config", file]).lines.joined(separator: "\n")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let list = try #require(object["trunks"] as? [[String: Any]])
            #expect(
                list.map { $0["line"] as? String } == ["carrier", "carrier"]
                    && list.map { $0["servers"] as? [String] } == [["udp 192.0.2.1:5070"], ["tcp 192.0.2.2:5060"]])
        }

        /// The carrier is a gateway too: line 1002 is our account there, and what it calls is our echo.
        @Test(arguments: ["udp", "tcp", "tls"])
        func `a trunk registers, is called, calls, and leaves`(transport: String) async throws {
            let carrier = try await Gateway.start(.init(tls: []))
            let port = transport == "tls" ? carrier.tlsPort : carrier.sipPort
            let trunk =
                "{ host: \"127.0.0.1:\(port)\", transport: \(transport), username: \"1002\", password: secret-1002, register: true, incoming: \"9196\", caller: \"1002\" }"
            let lines = [#"{ number: "9196", application: echo }"#, #"{ number: carrier, match: "^9197", trunk: \#(trunk) }"#]
            let gateway = try await Gateway.start(.init(lines: lines, tls: []))
            try await eventually("the trunk is registered") {
                (try? Journal(file: gateway.journalFile))?.all("trunk.state").contains { $0.text("cause") == "registered" } == true
            }
            // In: somebody calls 1002 at the carrier, and hears our echo.
            try await Sipp.run(
                .init(scenario: "caller", port: carrier.clientPort(0), mediaPort: carrier.clientPort(10), target: "1002", duration: 500),
                to: carrier)
            // Out: somebody calls 9197 with us, and the carrier's tone answers, to a line of the carrier that proves itself.
            try await Sipp.run(
                .init(scenario: "caller", port: gateway.clientPort(0), mediaPort: gateway.clientPort(10), target: "9197", duration: 500),
                to: gateway)
            let ours = try await gateway.stop()
            ours.expectNothingLeft()
            #expect(ours.all("trunk.state").contains { $0.text("cause") == "unregistered" })
            #expect(Set(ours.all("sip.rx").compactMap { $0.text("transport") }).contains(transport))
            let theirs = try await carrier.stop()
            theirs.expectNothingLeft()
            #expect(theirs.count("report.incoming") == 2 && ours.count("report.incoming") == 2)
        }
    }
}
