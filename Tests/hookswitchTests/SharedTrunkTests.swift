import Foundation
import Gateway
import Primitives
import Testing

@testable import hookswitch

extension Databases {
    /// Gateways that share a database and a trunk: one is registered with the carrier, which is a gateway, too.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct SharedTrunkTests {
        private let postgres: PostgresServer, carrier: SharedGateway, url: String, database: String

        init() throws {
            postgres = try PostgresServer.shared.get()
            carrier = try SharedGateway(try postgres.makeDatabase().url, node: "carrier")
            let made = try postgres.makeDatabase()
            (url, database) = (made.url, made.name)
        }

        private func start(_ node: String, at address: SocketAddress? = nil) throws -> GatewayProcess {
            let trunk = "{ host: \"\(carrier.address)\", username: \"1001\", register: true, incoming: \"1002\" }"
            return try GatewayProcess(
                url, node: node, address: address, further: "  - { number: carrier, match: \"^+\", trunk: \(trunk) }")
        }

        /// The address in each Contact that the carrier has.
        private var registered: Set<String> {
            get throws {
                Set(try carrier.line("1001").devices.compactMap { $0.contact.description.split(separator: "@").last.map(String.init) })
            }
        }

        private func isOnly(_ gateway: GatewayProcess) throws -> Bool { try registered == ["\(gateway.address)"] }

        private func hears(_ cause: String, _ gateway: GatewayProcess) -> Bool {
            gateway.events.contains { $0.kind == .trunkState && $0.details.text(.cause) == Text(cause) }
        }

        private var holder: String {
            get throws { try postgres.query(database, "SELECT node, is_registered, status FROM trunk_lease WHERE trunk = 'carrier'") }
        }

        @Test func `one gateway registers, and another one within five seconds of its death or at once after its stop`() throws {
            let a = try start("a")
            #expect(try waits(10) { try isOnly(a) && holder == "a|t|200" })
            let begun = Date().timeIntervalSince1970, b = try start("b")
            #expect(waits(10) { hears("elsewhere", b) && hears("held", a) } && !hears("registered", b))
            let isWatched = """
                SELECT a.renewed > to_timestamp(\(begun)) AND b.renewed > a.renewed FROM node_lease AS a, node_lease AS b
                    WHERE a.node = 'a' AND b.node = 'b'
                """
            #expect(try waits(10) { try postgres.query(database, isWatched) == "t" }, "b has seen a alive")
            #expect(try isOnly(a))
            a.kill()
            let killed = Date()
            #expect(try waits(10) { try registered.contains("\(b.address)") }, "\(b.said)")
            #expect(Date().timeIntervalSince(killed) < 5)
            #expect(try waits(10) { try holder == "b|t|200" } && waits(10) { hears("held", b) })

            let again = try start("a", at: a.address)
            #expect(waits(10) { hears("elsewhere", again) })
            #expect(b.stop() == 0)
            let stopped = Date()
            #expect(try waits(10) { try isOnly(again) && holder == "a|t|200" })
            #expect(Date().timeIntervalSince(stopped) < 2)
            #expect(again.stop() == 0)
            #expect(try registered.isEmpty && holder.isEmpty)
            carrier.stop()
        }

        @Test func `a gateway that comes back at once takes its trunk before its lease runs out`() throws {
            let a = try start("a")
            #expect(try waits(10) { try holder == "a|t|200" })
            a.kill()
            // Its lease would hold for long: only the name tells that its run is over.
            try postgres.query(database, "UPDATE node_lease SET renewed = clock_timestamp() + interval '1 minute'")
            let again = try start("a", at: a.address)
            #expect(try waits(10) { try hears("held", again) && hears("registered", again) && holder == "a|t|200" })
            #expect(again.stop() == 0)
            carrier.stop()
        }

        @Test func `while the database is away the one that is registered stays so, and nobody else registers`() throws {
            let a = try start("a"), b = try start("b")
            #expect(try waits(10) { try holder == "a|t|200" } && waits(10) { hears("elsewhere", b) })
            postgres.stop()
            #expect(waits(20) { a.said.contains("cannot be used") && b.said.contains("cannot be used") })
            let c = try start("c"), away = Date()
            #expect(waits(20) { Date().timeIntervalSince(away) > 4 }, "all leases run out meanwhile")
            #expect(try isOnly(a) && !hears("unregistered", a))
            // It finds the database later than all others.
            a.pause(true)
            try postgres.start()
            let renewed = "SELECT count(*) FROM node_lease WHERE renewed > to_timestamp(\(Date().timeIntervalSince1970 + 4))"
            #expect(try waits(40) { try postgres.query(database, renewed) == "2" }, "others do, for longer than a lease holds")
            a.pause(false)
            #expect(try waits(40) { try postgres.query(database, renewed) == "3" })
            #expect(waits(10) { hears("elsewhere", c) })
            #expect(try isOnly(a) && holder == "a|t|200" && !hears("held", b) && !hears("held", c))
            #expect(c.stop() == 0 && b.stop() == 0 && a.stop() == 0)
            carrier.stop()
        }
    }
}
