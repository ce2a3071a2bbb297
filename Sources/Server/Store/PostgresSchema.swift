import Runtime

/// The tables in PostgreSQL, by numbered migrations. A change comes as one more, behind those that are there.
enum PostgresSchema {
    typealias Statement = PostgresConnection.Statement

    /// The version that this program knows.
    static var version: Int { migrations.count }

    /// The first question: one row, whether there is a version. The second is asked only where there is one.
    static let isThere = Statement("SELECT to_regclass('schema_version') IS NOT NULL")
    static let current = Statement("SELECT coalesce(max(version), 0) FROM schema_version")

    /// The statements of the migrations behind a version. Two gateways that begin at the same time do not meet: the second fails on the
    /// version's key, and looks again.
    static func migration(from version: Int) -> [Statement] {
        [
            Statement("SELECT pg_advisory_xact_lock(\(lock))"),
            Statement(
                "CREATE TABLE IF NOT EXISTS schema_version (version integer PRIMARY KEY, migrated timestamptz NOT NULL DEFAULT now())"),
        ]
            + migrations.enumerated().dropFirst(version).flatMap { index, statements in
                [Statement("INSERT INTO schema_version (version) VALUES (\(index + 1))")] + statements.map { Statement($0) }
            }
    }

    /// Takes away what ended long ago, and nobody has: the gateway that would have is gone.
    static let cleaning = [
        Statement("DELETE FROM registration WHERE expiry < extract(epoch FROM now()) - 3600"),
        Statement("DELETE FROM push_binding WHERE kept_until < extract(epoch FROM now()) - 86400"),
    ]

    /// "hookswit" as a number: locks of other programs in the same database have others.
    private static let lock = 0x686F_6F6B_7377_6974

    private static let migrations: [[String]] = [
        [
            """
            CREATE TABLE registration (
                user_name text NOT NULL, key text NOT NULL, contact text NOT NULL, path text NOT NULL, transport text NOT NULL, local text NOT NULL,
                remote text NOT NULL, user_agent text, call_id text NOT NULL, cseq bigint NOT NULL, refreshed double precision NOT NULL,
                expiry double precision NOT NULL, node text NOT NULL, PRIMARY KEY (user_name, key))
            """,
            """
            CREATE TABLE push_binding (
                line text NOT NULL, key text NOT NULL, provider text NOT NULL, identifier text NOT NULL, parameter text,
                kept_until double precision NOT NULL, device text, PRIMARY KEY (line, key))
            """,
            "CREATE TABLE do_not_disturb (line text PRIMARY KEY, is_on boolean NOT NULL, paused_until double precision)",
            "CREATE TABLE blocked (line text NOT NULL, key text NOT NULL, caller text NOT NULL, PRIMARY KEY (line, key))",
            """
            CREATE TABLE recent (
                line text NOT NULL, id uuid NOT NULL, direction text NOT NULL, handle_type integer NOT NULL, handle text NOT NULL, name text,
                began double precision NOT NULL, connected double precision, ended double precision NOT NULL, outcome text NOT NULL,
                reason text NOT NULL, node text NOT NULL, PRIMARY KEY (line, id, direction))
            """,
            "CREATE INDEX recent_by_time ON recent (line, ended)",
            """
            CREATE TABLE message (
                line text NOT NULL, id uuid NOT NULL, caller text NOT NULL, name text, called text NOT NULL, received double precision NOT NULL,
                duration double precision NOT NULL, path text NOT NULL, is_heard boolean NOT NULL, node text NOT NULL, PRIMARY KEY (line, id))
            """,
        ],
        [
            "CREATE TABLE node_lease (run text PRIMARY KEY, node text NOT NULL, renewed timestamptz NOT NULL)",
            """
            CREATE TABLE dialog (
                call uuid PRIMARY KEY, line text NOT NULL, peer uuid, call_id text NOT NULL, local text NOT NULL, remote text NOT NULL,
                cseq bigint NOT NULL, routes text NOT NULL, target text NOT NULL, is_secure boolean NOT NULL, transport text NOT NULL,
                address text NOT NULL, server_name text NOT NULL, node text NOT NULL, run text NOT NULL, orphan_of text)
            """,
            "CREATE INDEX dialog_by_run ON dialog (run)",
            "CREATE INDEX recent_by_id ON recent (id)",
        ],
        [
            """
            CREATE TABLE trunk_lease (
                trunk text PRIMARY KEY, run text NOT NULL, node text NOT NULL, is_registered boolean NOT NULL DEFAULT false, status integer,
                routes text NOT NULL DEFAULT '', silent text NOT NULL DEFAULT '')
            """,
            "ALTER TABLE dialog ADD COLUMN trunk text",
        ],
        [
            "ALTER TABLE dialog ADD COLUMN last_word text"
        ],
        [
            "ALTER TABLE dialog ADD COLUMN answered text"
        ],
    ]
}
