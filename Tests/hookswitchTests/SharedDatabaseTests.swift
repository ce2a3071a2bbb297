import CallKit
import Foundation
import Gateway
import Primitives
import Store
import Testing

@testable import hookswitch

extension Databases {
    /// Two gateways on one database.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct SharedDatabaseTests {
        private let postgres: PostgresServer

        init() throws { postgres = try PostgresServer.shared.get() }

        private func pair() throws -> (name: String, a: SharedGateway, b: SharedGateway) {
            let database = try postgres.makeDatabase()
            return (database.name, try SharedGateway(database.url, node: "a"), try SharedGateway(database.url, node: "b"))
        }

        private func stop(_ gateways: SharedGateway...) {
            for gateway in gateways { gateway.stop() }
        }

        private func call(_ line: String, at gateway: SharedGateway) throws {
            let caller = try BarePhone(gateway.address)
            Thread.detachNewThread { [caller = Unchecked(caller)] in _ = caller.value.call(line) }
        }

        @Test func `a device that registers at one gateway is called by the other, and no more when it has gone`() throws {
            let (_, a, b) = try pair(), phone = try BarePhone(a.address)
            defer { stop(a, b) }
            #expect(phone.register("1001") == 200)
            let begun = Date()
            #expect(try waits(5) { try b.line("1001").devices.count == 1 })
            #expect(Date().timeIntervalSince(begun) < 1, "within a second")
            try call("1001", at: b)
            #expect(phone.hearsCall())
            #expect(try waits(5) { try a.server.recents(ofLine: "1001")?.count == 1 && b.line("1001").devices.count == 1 })
            #expect(phone.register("1001", expires: 0) == 200)
            #expect(try waits(5) { try b.line("1001").devices.isEmpty })
        }

        @Test func `a device that moves from one gateway to the other is one device`() throws {
            let (name, a, b) = try pair(), contact = "<sip:1001@127.0.0.1:9>;+sip.instance=\"<urn:uuid:1>\""
            defer { stop(a, b) }
            #expect(try BarePhone(a.address).register("1001", contact: contact) == 200)
            #expect(try waits(5) { try b.line("1001").devices.count == 1 })
            let moved = "<sip:1001@127.0.0.1:10>;+sip.instance=\"<urn:uuid:1>\""
            #expect(try BarePhone(b.address).register("1001", contact: moved) == 200)
            #expect(try waits(5) { try a.line("1001").devices.map { "\($0.contact)" }.first?.contains("127.0.0.1:10") == true })
            #expect(try a.line("1001").devices.count == 1 && b.line("1001").devices.count == 1)
            #expect(a.settles() && b.settles())
            #expect(try postgres.query(name, "SELECT count(*), min(node) FROM registration") == "1|b")
        }

        @Test func `devices that register at both at the same time are all known to both`() throws {
            let (name, a, b) = try pair()
            defer { stop(a, b) }
            for number in 0..<4 {
                let one = try BarePhone(a.address), other = try BarePhone(b.address)
                #expect(one.register("1001", contact: "<sip:a\(number)@127.0.0.1:9>") == 200)
                #expect(other.register("1001", contact: "<sip:b\(number)@127.0.0.1:9>") == 200)
            }
            #expect(try waits(10) { try a.line("1001").devices.count == 8 && b.line("1001").devices.count == 8 })
            #expect(try postgres.query(name, "SELECT count(*) FROM registration") == "8")
        }

        @Test func `Do Not Disturb, blocks and recents of one are those of the other`() throws {
            let (_, a, b) = try pair(), phone = try BarePhone(a.address)
            defer { stop(a, b) }
            _ = a.server.setDoNotDisturb(true, ofLine: "1002")
            #expect(waits(5) { b.server.isDoNotDisturbOn(ofLine: "1002") == true })
            _ = b.server.setDoNotDisturb(false, ofLine: "1002")
            #expect(waits(5) { a.server.isDoNotDisturbOn(ofLine: "1002") == false })
            let caller = CXHandle(type: .phoneNumber, value: "+39055123")
            _ = a.server.setBlocked(true, caller: caller, ofLine: "1001")
            #expect(try waits(5) { try b.line("1001").blocked.count == 1 })
            _ = b.server.setBlocked(false, caller: caller, ofLine: "1001")
            #expect(try waits(5) { try a.line("1001").blocked.isEmpty })
            #expect(phone.register("1001") == 200)
            try call("1001", at: a)
            #expect(phone.hearsCall())
            #expect(waits(5) { b.server.recents(ofLine: "1001")?.map(\.outcome) == [.declined] })
        }

        @Test func `what was changed while a gateway had lost the database is read when it is back`() throws {
            let (name, a, b) = try pair()
            defer { stop(a, b) }
            #expect(a.settles() && b.settles())
            postgres.stop()
            #expect(waits(20) { !a.figures.isUp && !b.figures.isUp })
            let phone = try BarePhone(a.address)
            #expect(phone.register("1001") == 200)
            _ = b.server.setDoNotDisturb(true, ofLine: "1002")
            try postgres.start()
            #expect(try waits(30) { try b.line("1001").devices.count == 1 && a.server.isDoNotDisturbOn(ofLine: "1002") == true })
            #expect(try postgres.query(name, "SELECT count(*) FROM registration") == "1")
        }

        @Test func `a binding of a gateway that is gone is forgotten by the others, and its row removed in the end`() throws {
            let (name, a, b) = try pair(), store = try janitor(name)
            defer { stop(a, b) }
            try postgres.query(
                name,
                "INSERT INTO registration VALUES ('1001', encode(sha256('sip:1@192.0.2.1'), 'hex'), '<sip:1@192.0.2.1>', '', 'udp', '127.0.0.1:5060', '192.0.2.1:5060', NULL, 'c', 1, floor(extract(epoch FROM now())), floor(extract(epoch FROM now())) + 3, 'c'); NOTIFY hookswitch, '[\"c\",\"registrations\",\"1001\"]'"
            )
            #expect(try waits(5) { try a.line("1001").devices.count == 1 && b.line("1001").devices.count == 1 })
            #expect(try waits(10) { try a.line("1001").devices.isEmpty && b.line("1001").devices.isEmpty })
            #expect(a.settles() && b.settles())
            #expect(try postgres.query(name, "SELECT count(*) FROM registration") == "1", "it is nobody's to remove at its expiry")
            try postgres.query(name, "UPDATE registration SET expiry = expiry - 3600")
            #expect(try waits(10) { try postgres.query(name, "SELECT count(*) FROM registration") == "0" })
            store.finish()
        }

        @Test func `the lease of a gateway holds while it reads everything, and then as long as before`() throws {
            let (name, a, b) = try pair(), postgres = postgres
            defer { stop(a, b) }
            #expect(a.settles() && b.settles())
            func leases(_ condition: String) throws -> String {
                try postgres.query(name, "SELECT count(*) FROM node_lease WHERE renewed \(condition)")
            }
            // The reading waits for a table.
            Thread.detachNewThread { _ = try? postgres.query(name, "BEGIN; LOCK TABLE message; SELECT pg_sleep(60)") }
            let locks = "FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relname = 'message' AND mode = 'AccessExclusiveLock'"
            #expect(try waits(10) { try postgres.query(name, "SELECT count(*) \(locks)") == "1" })
            try postgres.query(name, "NOTIFY hookswitch, '[\"c\",\"all\"]'")
            #expect(try waits(10) { try leases("> clock_timestamp() + interval '5 s'") == "2" })
            try postgres.query(name, "SELECT pg_terminate_backend(pid) \(locks)")
            #expect(try waits(10) { try leases("BETWEEN clock_timestamp() - interval '3 s' AND clock_timestamp()") == "2" })
            #expect(!(a.logged + b.logged).contains { $0.contains("lease") })
        }

        /// A gateway that removes rows of dead ones every tenth of a second.
        private func janitor(_ name: String) throws -> PostgresStore {
            let address = try PostgresAddress("postgres://postgres@127.0.0.1:\(postgres.port)/\(name)")
            var settings = PostgresStore.Settings(address, password: PostgresServer.password, node: "janitor", recents: 1)
            (settings.hasLease, settings.cleaning) = (true, .milliseconds(100))
            let store = PostgresStore(settings) { _ in }
            _ = try store.load()
            return store
        }

        @Test func `a device behind a connection is of the gateway that has the connection, unless a Path leads to it`() throws {
            let (name, a, b) = try pair()
            defer { stop(a, b) }
            // As a gateway of another name has written them.
            for (key, path) in [("1", ""), ("2", "<sip:192.0.2.7;lr>")] {
                try postgres.query(
                    name,
                    "INSERT INTO registration VALUES ('1001', '\(key)', '<sip:\(key)@192.0.2.1;transport=tcp>', '\(path)', 'tcp', '127.0.0.1:5060', '192.0.2.1:5060', NULL, 'c\(key)', 1, extract(epoch FROM now()), extract(epoch FROM now()) + 600, 'c'); NOTIFY hookswitch, '[\"c\",\"registrations\",\"1001\"]'"
                )
            }
            #expect(try waits(5) { try a.line("1001").devices.count == 1 && b.line("1001").devices.count == 1 })
            #expect(try a.line("1001").devices.map { "\($0.contact)" }.first?.contains("sip:2@") == true)
        }

        @Test(arguments: ["", "{}", "[]", "[\"a\"]", "[\"a\",\"recent\",\"1001\",\"no\",\"incoming\"]", "[\"a\",\"drop\",\"x\"]"])
        func `a notification that no gateway wrote is nothing`(payload: String) throws {
            let (name, a, b) = try pair()
            defer { stop(a, b) }
            try postgres.query(name, "SELECT pg_notify('hookswitch', '\(payload)')")
            _ = a.server.setDoNotDisturb(true, ofLine: "1002")
            #expect(waits(5) { b.server.isDoNotDisturbOn(ofLine: "1002") == true })
        }
    }
}
