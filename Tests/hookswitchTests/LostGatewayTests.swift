import Dispatch
import Foundation
import Gateway
import Primitives
import Synchronization
import Testing

@testable import hookswitch

extension Databases {
    /// Gateways that die with calls up, and those that share a database with them.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct LostGatewayTests {
        private let postgres: PostgresServer

        init() throws { postgres = try PostgresServer.shared.get() }

        /// A call over a gateway between two telephones of loopback addresses of their own.
        private struct Call {
            let caller: BarePhone, callee: BarePhone

            init(over gateway: GatewayProcess) throws {
                (caller, callee) = (try BarePhone(gateway.address, at: "127.0.0.2"), try BarePhone(gateway.address, at: "127.0.0.3"))
                try #require(callee.register("1002") == 200)
                let answering = Thread.detached { [callee = Unchecked(callee)] in callee.value.answersCall() }
                try #require(caller.connect("1002"), "the callee answers")
                try #require(answering.value)
            }
        }

        private func count(_ table: String, _ name: String) throws -> String { try postgres.query(name, "SELECT count(*) FROM \(table)") }

        @Test func `a survivor ends the calls of a gateway that was killed, within five seconds`() throws {
            let database = try postgres.makeDatabase()
            let a = try GatewayProcess(database.url, node: "a"), b = try GatewayProcess(database.url, node: "b")
            let begun = Date().timeIntervalSince1970, call = try Call(over: a)
            #expect(try waits(10) { try count("dialog", database.name) == "2" }, "each dialog has a row")
            let isWatched = """
                SELECT a.renewed > to_timestamp(\(begun)) AND b.renewed > a.renewed FROM node_lease AS a, node_lease AS b
                    WHERE a.node = 'a' AND b.node = 'b'
                """
            #expect(try waits(10) { try postgres.query(database.name, isWatched) == "t" }, "b has seen a alive")
            #expect(try postgres.query(database.name, "SELECT string_agg(node, ',' ORDER BY node) FROM node_lease") == "a,b")
            a.kill()
            let killed = Date()
            let hears = Thread.detached { [callee = Unchecked(call.callee)] in callee.value.hearsBye(10) }
            let first = try #require(call.caller.hearsBye(10), "\(b.said)"), second = try #require(hears.value)
            #expect(Date().timeIntervalSince(killed) < 5)
            for bye in [first, second] {
                #expect(bye.contains("\r\nReason: Q.850;cause=41;text=\"gateway lost\"\r\n"), "\(bye)")
                #expect(bye.contains("\r\nVia: SIP/2.0/UDP \(b.address);"), "\(bye)")
            }
            #expect(try waits(10) { try count("dialog", database.name) == "0" && count("node_lease", database.name) == "1" })
            #expect(waits(10) { b.events.count { $0.kind == .callOrphanEnded } == 2 })
            let ended = b.events.filter { $0.kind == .callOrphanEnded }
            #expect(ended.allSatisfy { $0.details.text(.node) == "a" && $0.details.number(.status) == 200 && $0.line == "1002" })
            #expect(Set(ended.compactMap { $0.details.text(.callid) }).count == 2)
            let audit = try AuditCommand.check([a.journal, b.journal])
            #expect(audit.isClean && audit.orphanedCalls.map(\.node) == ["a", "a"] && audit.unfinishedCalls.isEmpty)
            #expect(try AuditCommand.check([a.journal]).unfinishedCalls.count == 2)
            let recents = { try postgres.query(database.name, "SELECT line, outcome, reason, node FROM recent") }
            #expect(try waits(10) { try recents() == "1002|answered|failed|b" }, "once")
            #expect(b.stop() == 0)
            #expect(try count("node_lease", database.name) == "0", "an orderly stop leaves no lease")
        }

        @Test func `with takeover: reinvite one of two survivors goes on with both ends of a call, until it is over`() throws {
            let database = try postgres.makeDatabase(), further = "takeover: reinvite"
            let nodes = try ["a", "b", "c"].map { try GatewayProcess(database.url, node: $0, further: further) }
            let begun = Date().timeIntervalSince1970, call = try Call(over: nodes[0])
            #expect(try waits(10) { try postgres.query(database.name, "SELECT count(*) FROM dialog WHERE answered IS NOT NULL") == "2" })
            let isWatched = "SELECT count(*) FROM node_lease WHERE renewed > to_timestamp(\(begun + 1))"
            #expect(try waits(10) { try postgres.query(database.name, isWatched) == "3" }, "all have seen each other alive")
            nodes[0].kill()
            let killed = Date()
            let taken = Thread.detached { [callee = Unchecked(call.callee)] in callee.value.takesReinvite(15) }
            let first = try #require(call.caller.takesReinvite(15)), second = try #require(taken.value)
            let survivors = nodes.dropFirst()
            let survivor = try #require(survivors.first { first.contains("\r\nVia: SIP/2.0/UDP \($0.address);") })
            #expect(second.contains("\r\nVia: SIP/2.0/UDP \(survivor.address);"), "the same one has both")
            #expect(waits(10) { survivor.events.count { $0.kind == .mediaStarted } == 2 }, "\(survivor.said)")
            #expect(Date().timeIntervalSince(killed) < 5)
            let isTaken = "SELECT count(*) FROM dialog WHERE node <> 'a' AND cseq > 1000 AND orphan_of IS NULL"
            #expect(try waits(10) { try postgres.query(database.name, isTaken) == "2" })
            call.caller.hangUp(over: survivor.address)
            #expect(call.callee.hearsBye(10)?.contains("gateway lost") == false, "it ends as calls end")
            #expect(try waits(10) { try count("dialog", database.name) == "0" })
            let recents = { try postgres.query(database.name, "SELECT line, outcome, reason, ended > connected FROM recent") }
            #expect(try waits(10) { try recents() == "1002|answered|remoteEnded|t" }, "once")
            #expect(survivors.allSatisfy { $0.stop() == 0 })
            #expect(survivors.map { $0.events.count { $0.kind == .callAdopted } }.sorted() == [0, 2])
            let audit = try AuditCommand.check(nodes.map(\.journal))
            #expect(audit.isClean && audit.adoptedCalls.map(\.node) == ["a", "a"] && audit.unfinishedCalls.isEmpty)
            #expect(audit.orphanedCalls.isEmpty)
        }

        @Test func `a survivor cancels what rang at a gateway that was killed, and refuses the caller`() throws {
            let database = try postgres.makeDatabase()
            let a = try GatewayProcess(database.url, node: "a"), b = try GatewayProcess(database.url, node: "b")
            let begun = Date().timeIntervalSince1970
            let caller = try BarePhone(a.address, at: "127.0.0.2"), device = try BarePhone(a.address, at: "127.0.0.3")
            try #require(device.register("1002") == 200)
            caller.beginCall("1002")
            let branch = try #require(device.rings(5)), rows = "SELECT count(*) FROM dialog WHERE last_word IS NOT NULL"
            #expect(try waits(10) { try postgres.query(database.name, rows) == "2" }, "each leg has a row")
            let isWatched = """
                SELECT a.renewed > to_timestamp(\(begun)) AND b.renewed > a.renewed FROM node_lease AS a, node_lease AS b
                    WHERE a.node = 'a' AND b.node = 'b'
                """
            #expect(try waits(10) { try postgres.query(database.name, isWatched) == "t" }, "b has seen a alive")
            a.kill()
            let killed = Date()
            let hears = Thread.detached { [device = Unchecked(device)] in device.value.hearsCancel(10) }
            let status = caller.finalStatus(10), cancel = try #require(hears.value, "\(b.said)")
            #expect(status == 503 && Date().timeIntervalSince(killed) < 5)
            #expect(cancel.contains(branch) && cancel.contains("\r\nReason: Q.850;cause=41;text=\"gateway lost\"\r\n"), "\(cancel)")
            #expect(try waits(10) { try count("dialog", database.name) == "0" })
            #expect(waits(10) { b.events.count { $0.kind == .callOrphanEnded } == 2 })
            let ends = b.events.filter { $0.kind == .callOrphanEnded }
            #expect(Set(ends.map { $0.details.number(.status) }) == [nil, 200])
            let audit = try AuditCommand.check([a.journal, b.journal])
            #expect(audit.isClean && audit.orphanedCalls.map(\.node) == ["a", "a"] && audit.unfinishedCalls.isEmpty)
            #expect(b.stop() == 0)
        }

        @Test func `a gateway that comes back at once ends its own calls before its lease runs out`() throws {
            let database = try postgres.makeDatabase(), a = try GatewayProcess(database.url, node: "a")
            let call = try Call(over: a)
            #expect(try waits(10) { try count("dialog", database.name) == "2" })
            a.kill()
            // Alone it would wait for longer than that: it has not seen its predecessor alive.
            let again = try GatewayProcess(database.url, node: "a", address: a.address)
            #expect(call.caller.hearsBye(15)?.contains("cause=41") == true && call.callee.hearsBye(15)?.contains("cause=41") == true)
            #expect(waits(10) { again.events.count { $0.kind == .callOrphanEnded } == 2 })
            #expect(try waits(10) { try count("dialog", database.name) == "0" && count("node_lease", database.name) == "1" })
            #expect(again.stop() == 0)
        }

        @Test func `a gateway that was taken for dead leaves the rows of calls that another one has taken`() throws {
            let database = try postgres.makeDatabase(), a = try GatewayProcess(database.url, node: "a")
            let call = try Call(over: a)
            #expect(try waits(10) { try count("dialog", database.name) == "2" })
            try postgres.query(database.name, "UPDATE dialog SET run = 'another', node = 'b'")
            call.caller.hangUp()
            #expect(call.callee.hearsBye(10) != nil && a.stop() == 0, "all is written")
            #expect(try postgres.query(database.name, "SELECT count(*) FROM dialog WHERE node = 'b'") == "2")
        }

        @Test func `an outage of the database ends nobody's call`() throws {
            let database = try postgres.makeDatabase()
            let a = try GatewayProcess(database.url, node: "a"), b = try GatewayProcess(database.url, node: "b")
            let call = try Call(over: a)
            #expect(try waits(10) { try count("dialog", database.name) == "2" })
            postgres.stop()
            #expect(waits(20) { a.said.contains("cannot be used") && b.said.contains("cannot be used") })
            let away = Date()
            #expect(waits(20) { Date().timeIntervalSince(away) > 4 }, "all leases run out meanwhile")
            try postgres.start()
            let fresh = "SELECT count(*) FROM node_lease WHERE renewed > to_timestamp(\(Date().timeIntervalSince1970 + 4))"
            #expect(try waits(40) { try postgres.query(database.name, fresh) == "2" }, "both renew their leases, for longer than one holds")
            #expect(call.caller.hearsBye(0) == nil && call.callee.hearsBye(0) == nil && b.events.allSatisfy { $0.kind != .callOrphanEnded })
            #expect(try count("dialog", database.name) == "2")
            call.caller.hangUp()
            #expect(call.callee.hearsBye(10)?.contains("gateway lost") == false, "it ends as calls end")
            #expect(try waits(10) { try count("dialog", database.name) == "0" })
            #expect(a.stop() == 0 && b.stop() == 0)
        }

        @Test func `two gateways of one name are told so, and leave each other's calls alone`() throws {
            let database = try postgres.makeDatabase(), a = try GatewayProcess(database.url, node: "a")
            let call = try Call(over: a)
            #expect(try waits(10) { try count("dialog", database.name) == "2" })
            let other = try GatewayProcess(database.url, node: "a")
            #expect(waits(10) { other.said.contains("another gateway of the name 'a' uses the database") }, "\(other.said)")
            #expect(call.caller.hearsBye(0) == nil)
            call.caller.hangUp()
            #expect(call.callee.hearsBye(10)?.contains("gateway lost") == false)
            #expect(a.stop() == 0 && other.stop() == 0)
        }

        @Test func `tables of the version before get those of leases and dialogs, and keep what is in them`() throws {
            let database = try postgres.makeDatabase(), first = try SharedGateway(database.url, node: "a")
            let phone = try BarePhone(first.address)
            #expect(phone.register("1001") == 200)
            first.stop()
            try postgres.query(
                database.name,
                "DROP TABLE dialog, node_lease, trunk_lease; DROP INDEX recent_by_id; DELETE FROM schema_version WHERE version >= 2")
            let second = try SharedGateway(database.url, node: "a", address: first.address)
            defer { second.stop() }
            #expect(try second.line("1001").devices.count == 1)
            #expect(try postgres.query(database.name, "SELECT max(version) FROM schema_version") == "5")
            #expect(try count("node_lease", database.name) == "1" && count("dialog", database.name) == "0")
        }
    }
}

/// The result of work on a thread of its own.
private final class Promise<Value: Sendable>: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let result = Mutex<Value?>(nil)

    func keep(_ value: Value) {
        result.withLock { $0 = value }
        done.signal()
    }

    /// Waits for it; once.
    var value: Value {
        done.wait()
        return result.withLock { $0! }
    }
}

extension Thread {
    fileprivate static func detached<Value: Sendable>(_ work: @escaping @Sendable () -> Value) -> Promise<Value> {
        let promise = Promise<Value>()
        detachNewThread { promise.keep(work()) }
        return promise
    }
}
