import GRDB

/// The tables. A change comes as a migration of its own, behind those that are there.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("lines") { try $0.execute(sql: lines) }
        migrator.registerMigration("directories") { try $0.execute(sql: directories) }
        migrator.registerMigration("pushedDevices") { try $0.execute(sql: "ALTER TABLE pushBinding ADD COLUMN device TEXT") }
        migrator.registerMigration("messages") { try $0.execute(sql: messages) }
        return migrator
    }

    private static let lines = """
        CREATE TABLE opened (id INTEGER PRIMARY KEY, date REAL NOT NULL);
        CREATE TABLE recent (
            id TEXT NOT NULL, line TEXT NOT NULL, direction TEXT NOT NULL, handleType INTEGER NOT NULL, handle TEXT NOT NULL, name TEXT,
            began REAL NOT NULL, connected REAL, ended REAL NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
            PRIMARY KEY (line, id, direction)
        );
        CREATE INDEX recentByTime ON recent (line, ended);
        CREATE TABLE doNotDisturb (line TEXT PRIMARY KEY NOT NULL, isOn INTEGER NOT NULL, pausedUntil REAL);
        CREATE TABLE blocked (line TEXT NOT NULL, caller TEXT NOT NULL, PRIMARY KEY (line, caller)) WITHOUT ROWID;
        CREATE TABLE pushBinding (
            line TEXT NOT NULL, position INTEGER NOT NULL, provider TEXT NOT NULL, identifier TEXT NOT NULL, parameter TEXT, keptUntil REAL NOT NULL,
            PRIMARY KEY (line, position)
        );
        CREATE TABLE registration (
            user TEXT NOT NULL, position INTEGER NOT NULL, contact TEXT NOT NULL, path TEXT NOT NULL, transport TEXT NOT NULL, local TEXT NOT NULL,
            remote TEXT NOT NULL, userAgent TEXT, callID TEXT NOT NULL, cseq INTEGER NOT NULL, refreshed REAL NOT NULL, expiry REAL NOT NULL,
            PRIMARY KEY (user, position)
        );
        """

    private static let messages = """
        CREATE TABLE message (
            line TEXT NOT NULL, id TEXT NOT NULL, caller TEXT NOT NULL, name TEXT, called TEXT NOT NULL, received REAL NOT NULL,
            duration REAL NOT NULL, path TEXT NOT NULL, isHeard INTEGER NOT NULL, PRIMARY KEY (line, id)
        );
        """

    private static let directories = """
        CREATE TABLE directory (
            identifier TEXT PRIMARY KEY NOT NULL, loaded REAL, failureDomain TEXT, failureCode INTEGER, failureMessage TEXT, failureDate REAL
        );
        CREATE TABLE directoryPiece (
            directory TEXT NOT NULL, list TEXT NOT NULL, position INTEGER NOT NULL, entries BLOB NOT NULL,
            PRIMARY KEY (directory, list, position)
        );
        """
}
