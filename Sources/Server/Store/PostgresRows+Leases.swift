import Foundation
import Gateway
import Primitives
import Runtime

// Leases of gateways, and the dialogs of those that have died.
extension PostgresRows {
    /// Dialogs that are taken at a time, besides those of the parties that they talk with.
    static let mostOrphans = 200

    private static let dialog =
        """
        dialog.call, line, peer, call_id, local, remote, cseq, routes, target, is_secure, transport, address, server_name, trunk, last_word,
        answered
        """
    static let length = "interval '\(LeaseWatch.length.wholeMilliseconds) milliseconds'"
    /// Lists of texts are one value.
    private static let listed = "IN (SELECT jsonb_array_elements_text($1::jsonb))"

    /// Renews the lease of a run, and reads those of the others and of trunks. The lock of the name ends with the connection, and so with its process.
    /// - Parameter claimsName: asks for the lock, too: whether it was got is the last row of the last answer.
    static func renewal(run: String, node: String, claimsName: Bool) -> [Statement] {
        [
            Statement(
                """
                INSERT INTO node_lease (run, node, renewed) VALUES ($1, $2, clock_timestamp())
                    ON CONFLICT (run) DO UPDATE SET renewed = clock_timestamp() RETURNING xmax = 0
                """, [run, StoreChange.clean(node)]),
            Statement(
                """
                SELECT run, node, extract(epoch FROM renewed), extract(epoch FROM clock_timestamp() - renewed) FROM node_lease WHERE run <> $1
                """, [run]), trunks,
        ]
            + (claimsName
                ? [Statement("SELECT pg_try_advisory_lock(hashtextextended('hookswitch node ' || $1, 0))", [StoreChange.clean(node)])] : [])
    }

    static func leases(_ rows: Rows) -> [NodeLease] {
        rows.map { columns in
            var row = RowReader(columns)
            let (run, node, renewed, age) = (row.text(), row.text(), row.seconds(), row.seconds())
            return NodeLease(run: run, node: node, renewed: renewed, age: .milliseconds(Int64(max(0, min(age * 1_000, 1e12)))))
        }
    }

    /// Makes the dialogs of dead runs those of this one, so that another gateway ends them when this one dies over it. Gateways that do so at
    /// the same time share them, and the two dialogs of a conversation go to one: that of the smaller UUID is asked for. A run whose lease was renewed meanwhile keeps its dialogs; the earlier runs of this node are known to be over.
    static func taking(from dead: [NodeLease], run: String, node: String) -> [Statement] {
        let runs = json(dead.map(\.run)), node = StoreChange.clean(node)
        return [
            Statement(
                """
                WITH orphan AS MATERIALIZED (
                    SELECT call AS first, peer AS second, run AS dead FROM dialog AS d WHERE run \(listed) AND NOT EXISTS (
                        SELECT FROM node_lease AS l WHERE l.run = d.run AND l.node <> $3 AND l.renewed > clock_timestamp() - \(length))
                    AND NOT EXISTS (
                        SELECT FROM dialog AS p WHERE p.call = d.peer AND p.peer = d.call AND p.run = d.run AND p.call < d.call)
                    LIMIT \(mostOrphans) FOR UPDATE SKIP LOCKED)
                UPDATE dialog SET run = $2, node = $3, orphan_of = coalesce(orphan_of, node) FROM orphan
                    WHERE dialog.call = first OR dialog.call = second AND dialog.peer = first AND dialog.run = dead
                RETURNING orphan_of, \(dialog)
                """, [runs, run, node]),
            Statement(
                """
                DELETE FROM node_lease WHERE run \(listed) AND (node = $2 OR renewed < clock_timestamp() - \(length))
                    AND NOT EXISTS (SELECT FROM dialog WHERE dialog.run = node_lease.run)
                """, [runs, node]),
        ]
    }

    static func orphans(_ rows: Rows) -> [OrphanedDialog] {
        rows.compactMap { columns in
            var row = RowReader(columns)
            let node = row.text()
            guard let call = UUID(uuidString: row.text()) else { return nil }
            return OrphanedDialog(
                SavedDialog(
                    call: call, line: row.text(), peer: row.optional().flatMap(UUID.init(uuidString:)), callID: row.text(),
                    local: row.text(), remote: row.text(), sequence: UInt32(clamping: row.number()),
                    routes: row.text().split(separator: "\n").map(String.init), target: row.text(), isSecure: row.flag(),
                    transport: row.text(), address: row.text(), serverName: row.text(), trunk: row.optional(),
                    lastWord: row.optional(),
                    answered: row.optional().flatMap { try? JSONDecoder().decode(SavedCall.self, from: Data($0.utf8)) }),
                node: node)
        }
    }

    /// Recents of these calls that stand as they were written while the calls were up.
    static func unfinishedRecents(of dialogs: [OrphanedDialog]) -> Statement {
        let ids = dialogs.flatMap(\.dialog.recentIDs)
        return Statement(
            "SELECT \(recent) FROM recent WHERE id IN (SELECT jsonb_array_elements_text($1::jsonb)::uuid) AND reason = $2",
            [json(ids.map(\.uuidString)), RecentCall.gatewayKilled])
    }

    /// Ends the leases of a run; its own stays where it has dialogs, for others to end them.
    static func release(run: String) -> [Statement] {
        [
            giving(trunks: nil, run: run),
            Statement("DELETE FROM node_lease WHERE run = $1 AND NOT EXISTS (SELECT FROM dialog WHERE run = $1)", [run]),
            ChangeNotice(run: run, topic: .trunks).statement,
        ]
    }

    static func json(_ texts: [String]) -> String { String(decoding: (try? JSONEncoder().encode(texts)) ?? Data(), as: UTF8.self) }
}
