import Gateway
import Runtime

/// The lease of a trunk as the database has it.
struct TrunkRow: Equatable {
    var trunk: String
    /// The run and the name of the gateway that has it.
    var run: String, node: String
    /// That run has a lease of its own, which may have run out.
    var hasLease: Bool
    var state: TrunkState
}

// Leases of trunks. One holds as long as the lease of the run that has it.
extension PostgresRows {
    static let trunks = Statement(
        """
        SELECT trunk, run, node, EXISTS (SELECT FROM node_lease AS l WHERE l.run = t.run), is_registered, status, routes, silent
            FROM trunk_lease AS t ORDER BY trunk
        """)

    static func trunks(_ rows: Rows) -> [TrunkRow] {
        rows.map { columns in
            var row = RowReader(columns)
            return TrunkRow(
                trunk: row.text(), run: row.text(), node: row.text(), hasLease: row.flag(),
                state: TrunkState(
                    isRegistered: row.flag(), status: row.optional().flatMap { Int($0) }, routes: lines(row.text()),
                    silent: lines(row.text())))
        }
    }

    private static func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    /// Takes trunks that are free: those without a row, and those of runs that are over. A run whose lease was renewed meanwhile keeps its
    /// trunks; the earlier runs of this node are known to be over. Of gateways that take one at the same time the first gets it.
    /// - Parameter runs: those whose trunks are free.
    static func taking(trunks: [String], of runs: [String], run: String, node: String) -> Statement {
        Statement(
            """
            INSERT INTO trunk_lease (trunk, run, node) SELECT jsonb_array_elements_text($1::jsonb), $3, $4
                ON CONFLICT (trunk) DO UPDATE SET run = excluded.run, node = excluded.node, is_registered = false, status = NULL, silent = ''
                WHERE trunk_lease.run IN (SELECT jsonb_array_elements_text($2::jsonb)) AND NOT EXISTS (
                    SELECT FROM node_lease AS l
                        WHERE l.run = trunk_lease.run AND l.node <> $4 AND l.renewed > clock_timestamp() - \(length))
            """, [json(trunks.map(StoreChange.clean)), json(runs), run, StoreChange.clean(node)])
    }

    /// Gives trunks of this run up; nil: all of them.
    static func giving(trunks: [String]?, run: String) -> Statement {
        guard let trunks else { return Statement("DELETE FROM trunk_lease WHERE run = $1", [run]) }
        return Statement(
            "DELETE FROM trunk_lease WHERE run = $2 AND trunk IN (SELECT jsonb_array_elements_text($1::jsonb))",
            [json(trunks.map(StoreChange.clean)), run])
    }
}

extension StoreChange {
    /// Only of a trunk whose lease this run has.
    static func statement(_ state: TrunkState, ofTrunk line: String, run: String) -> PostgresConnection.Statement {
        PostgresConnection.Statement(
            "UPDATE trunk_lease SET is_registered = $3, status = $4, routes = $5, silent = $6 WHERE trunk = $1 AND run = $2",
            [
                clean(line), run, state.isRegistered ? "true" : "false", state.status.map(String.init),
                clean(state.routes.joined(separator: "\n")), clean(state.silent.joined(separator: "\n")),
            ])
    }
}
