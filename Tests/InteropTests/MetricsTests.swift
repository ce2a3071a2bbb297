import Foundation
import FoundationNetworking
import Testing

extension Calls {
    /// What a monitor and an orchestrator read of a running gateway.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct MetricsTests {
        private func gateway(_ settings: [String] = []) async throws -> (gateway: Gateway, url: String) {
            let ports = try await Ports.take(1)
            var setup = Gateway.Setup()
            setup.others = ports
            setup.settings = ["metrics: { listen: \"127.0.0.1:\(ports[0])\" }"] + settings
            return (try await Gateway.start(setup), "http://127.0.0.1:\(ports[0])")
        }

        private func get(_ url: String) async throws -> (status: Int, text: String) {
            let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            return (try #require(response as? HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
        }

        /// Families with their labels, as Prometheus reads them.
        private func metrics(_ url: String) async throws -> [String: Double] {
            let answer = try await get(url + "/metrics")
            #expect(answer.status == 200)
            var values: [String: Double] = [:], types: Set<String> = []
            for line in answer.text.split(separator: "\n") {
                let words = line.split(separator: " ")
                if words[0] == "#" {
                    guard words[1] == "TYPE" else { continue }
                    let names = words[3] == "histogram" ? ["_bucket", "_sum", "_count"].map { words[2] + $0 } : [String(words[2])]
                    for name in names { #expect(types.insert(name).inserted, "\(name) comes twice") }
                    continue
                }
                #expect(words.count == 2 && types.contains(String(words[0].prefix { $0 != "{" })), "\(line)")
                #expect(values.updateValue(try #require(Double(words[1])), forKey: String(words[0])) == nil, "\(line) comes twice")
            }
            return values
        }

        @Test func `calls, their media and what was refused are counted, and nothing is left`() async throws {
            let (gateway, url) = try await gateway()
            let before = try await metrics(url)
            #expect(before[#"hookswitch_refused_total{cause="unreadable"}"#] == 0)
            let call = try await Program.run(
                Place.hookswitch,
                ["call", "9196", "--server", gateway.address, "--duration", "2", "--register", "1001", "--password", "secret-1001"])
            #expect(call.code == 0, "\(call.lines)")
            let peer = try UDPPeer()
            peer.send(Array("no SIP at all".utf8), to: gateway.sipPort)
            peer.send(
                Array(
                    "OPTIONS sip:a@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nFrom: <sip:a@a>;tag=1\r\nTo: <sip:b@b>\r\nCall-ID: 1\r\nCSeq: 8 INVITE\r\n\r\n"
                        .utf8), to: gateway.sipPort)
            try await gateway.waitForNoMediaSocket()
            var after: [String: Double] = [:]
            try await eventually("both are counted") {
                after = try await metrics(url)
                return after[#"hookswitch_refused_total{cause="unreadable"}"#] == 1
                    && after[#"hookswitch_refused_total{cause="malformed"}"#] == 1
            }
            #expect(after[#"hookswitch_calls_ended_total{reason="remoteEnded"}"#] == 1)
            #expect(
                after[#"hookswitch_events_total{kind="media.opened"}"#] == 1
                    && after[#"hookswitch_events_total{kind="media.released"}"#] == 1)
            // As many as the caller says that it sent, however late this machine let it send them.
            let sent = try #require(call.lines.first { $0.hasPrefix("packets") }.flatMap { Double($0.split(separator: " ")[1]) })
            #expect(sent > 50 && after[#"hookswitch_rtp_packets_total{fate="received"}"#] ?? 0 > sent - 10, "\(sent)")
            for kind in ["legs", "bridges", "calls", "dialogs", "media-legs", "media-sockets", "media-timers"] {
                #expect(after[#"hookswitch_resources_open{kind="\#(kind)"}"#] == 0, "\(kind)")
            }
            #expect(after[#"hookswitch_answers_total{status="200"}"#] == 1 && after["hookswitch_setup_seconds_count"] == 1)
            #expect(after[#"hookswitch_registrations_total{status="200"}"#] ?? 0 > 0)
            for name in ["rtp_loss_ratio", "rtp_jitter_seconds", "mos"] {
                #expect(after["hookswitch_\(name)_count{direction=\"received\"}"] == 1, "\(name)")
            }
            #expect(after.keys.contains { $0.hasPrefix("hookswitch_build_info{version=") })
            #expect(after["hookswitch_violations_total"] == 0)
            try await gateway.stop()
        }

        @Test func `a gateway that drains is alive and not ready`() async throws {
            let (gateway, url) = try await gateway(["drain: 30"])
            #expect(try await get(url + "/health/ready").status == 200)
            #expect(try await get(url + "/nothing").status == 404)
            let call = try Program(
                Place.hookswitch,
                ["call", "9196", "--server", gateway.address, "--duration", "4", "--register", "1001", "--password", "secret-1001"])
            try await eventually("the call is up") { !gateway.mediaSockets.isEmpty }
            gateway.program.signal(SIGTERM)
            try await gateway.program.line(containing: "draining")
            let ready = try await get(url + "/health/ready")
            #expect(ready.status == 503 && ready.text == "draining\n")
            #expect(try await get(url + "/health/live").status == 200)
            #expect(try await call.exitCode(within: .seconds(15)) == 0)
            #expect(try await gateway.program.exitCode(within: .seconds(15)) == 0)
        }

        @Test func `who holds connections and asks nothing keeps nobody from asking`() async throws {
            let (gateway, url) = try await gateway()
            let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
            let idle = try (0..<80).map { _ in try TCPPeer(port: port) }
            #expect(try await get(url + "/health/ready").status == 200)
            withExtendedLifetime(idle) {}
            try await gateway.stop()
        }

        @Test func `a port in use is one clear line and code 3`() async throws {
            let (gateway, url) = try await gateway()
            let port = try #require(url.split(separator: ":").last)
            let other = try await Program.run(
                Place.hookswitch,
                ["serve", "--sip-udp", "127.0.0.1:0", "--sip-tcp", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:\(port)"])
            #expect(other.code == 3)
            #expect(other.lines.contains { $0.contains("TCP 127.0.0.1:\(port) is already in use by another program") }, "\(other.lines)")
            try await gateway.stop()
        }
    }
}
