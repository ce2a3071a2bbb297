#!/usr/bin/env python3
"""What PostgreSQL pays for the statements of the shared store: processor time of all its processes, for each row, notice, reader and commit.

usage: database.py FOLDER [--rows N] [--listeners N] [--server BIN]

Makes a database in FOLDER with the tables of Sources/Server/Store/PostgresSchema.swift, sends it the statements that the store sends, in
batches of one transaction as it does, and prints a JSON object with microseconds. scripts/capacity --measure runs it.
"""
import argparse, hashlib, json, os, pathlib, re, select, shutil, socket, struct, subprocess, sys, threading, time, uuid

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Client:
    """A connection over the local socket, in the extended protocol, whose batches are sent at once, as libpq's pipelines are."""

    def __init__(self, folder):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(f"{folder}/.s.PGSQL.5432")
        self.buffer = b""
        parameters = b"user\0hookswitch\0database\0hookswitch\0\0"
        self.socket.sendall(struct.pack("!II", 8 + len(parameters), 196608) + parameters)
        self.finish()

    def batch(self, statements):
        """One transaction; how many rows came."""
        out = bytearray()

        def message(kind, body):
            out.extend(kind + struct.pack("!I", len(body) + 4) + body)

        for sql, values in statements:
            message(b"P", b"\0" + sql.encode() + b"\0\0\0")
            texts = [None if value is None else str(value).encode() for value in values]
            bound = b"".join(struct.pack("!i", -1) if text is None else struct.pack("!I", len(text)) + text for text in texts)
            message(b"B", b"\0\0\0\0" + struct.pack("!H", len(texts)) + bound + b"\0\0")
            message(b"D", b"P\0")
            message(b"E", b"\0\0\0\0\0")
        message(b"S", b"")
        self.socket.sendall(out)
        return self.finish()

    def finish(self):
        rows, start = 0, 0
        while True:
            while len(self.buffer) - start >= 5:
                kind, length = self.buffer[start:start + 1], struct.unpack_from("!I", self.buffer, start + 1)[0]
                if len(self.buffer) - start < length + 1: break
                if kind == b"E": sys.exit(f"database.py: {self.buffer[start + 5:start + length]}")
                rows += kind == b"D"
                start += length + 1
                if kind == b"Z":
                    self.buffer = self.buffer[start:]
                    return rows
            self.buffer, start = self.buffer[start:] + self.socket.recv(1 << 20), 0


def listen(clients, stop):
    """Reads what is sent to those that listen, and looks at none of it."""
    sockets = [client.socket for client in clients]
    while not stop.is_set():
        for ready in select.select(sockets, [], [], 0.1)[0]: ready.recv(1 << 20)


def registration(number, sequence):
    user = f"{number:07d}"
    contact = f"<sip:{user}@198.51.100.{number % 250}:{1024 + number % 60000};transport=tcp>;+sip.instance=\"<urn:uuid:{uuid.UUID(int=number)}>\""
    row = {
        "user_name": user, "key": hashlib.sha256(contact.encode()).hexdigest(), "contact": contact,
        "path": f"<sip:192.0.2.10:5060;lr;received=sip:198.51.100.{number % 250}:{1024 + number % 60000}%3Btransport%3Dtcp>",
        "transport": "udp", "local": "192.0.2.21:5060", "remote": "192.0.2.10:5060", "user_agent": "Telephone 5.1.2",
        "call_id": f"{uuid.UUID(int=number)}@198.51.100.7", "cseq": sequence, "refreshed": 1.7e9 + sequence, "expiry": 4.1e9,
        "node": "gateway-1",
    }
    return upsert("registration", 2, row, "refreshed")


def upsert(table, keys, row, unless_newer=None):
    names = list(row)
    others = ", ".join(f"{name} = excluded.{name}" for name in names[keys:])
    condition = f" WHERE {table}.{unless_newer} <= excluded.{unless_newer}" if unless_newer else ""
    places = ", ".join(f"${index + 1}" for index in range(len(names)))
    return (f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places}) ON CONFLICT ({', '.join(names[:keys])})"
            f" DO UPDATE SET {others}{condition}", list(row.values()))


def dialog(number):
    return upsert("dialog", 1, {
        "call": uuid.UUID(int=number), "line": f"{number:07d}", "peer": uuid.UUID(int=number ^ 1), "call_id": f"{number}@198.51.100.7",
        "local": "<sip:1001@192.0.2.21>;tag=4d2a9b10", "remote": "<sip:1002@192.0.2.10>;tag=77a31c", "cseq": 1,
        "routes": "<sip:192.0.2.10:5060;lr;r2=on>\n<sip:192.0.2.10:5060;transport=tcp;lr;r2=on>", "target": f"sip:{number}@198.51.100.9:5060",
        "is_secure": "false", "transport": "udp", "address": "192.0.2.10:5060", "server_name": "192.0.2.10", "trunk": None, "last_word": None,
        "node": "gateway-1", "run": "c0ffee", "orphan_of": None})


def no_dialog(number): return "DELETE FROM dialog WHERE call = $1", [uuid.UUID(int=number)]


def recent(number, line):
    return upsert("recent", 3, {
        "line": f"{line:07d}", "id": uuid.UUID(int=number), "direction": "incoming", "handle_type": 2, "handle": "1002", "name": "Bob",
        "began": 1.7e9 + number, "connected": 1.7e9 + number, "ended": 1.7e9 + number, "outcome": "answered", "reason": "remoteEnded",
        "node": "gateway-1"})


def trim(line):
    return ("DELETE FROM recent WHERE line = $1 AND ended < (SELECT ended FROM recent WHERE line = $1 ORDER BY ended DESC OFFSET $2 LIMIT 1)",
            [f"{line:07d}", 99])


def notice(number): return "SELECT pg_notify('hookswitch', $1)", [json.dumps(["c0ffee", "registrations", f"{number:07d}"])]


COLUMNS = "user_name, contact, path, transport, local, remote, user_agent, call_id, cseq, refreshed, expiry"
REACHABLE = "(node = $1 OR transport = 'udp' OR path <> '')"


def one(number): return f"SELECT {COLUMNS} FROM registration WHERE {REACHABLE} AND user_name = $2 ORDER BY refreshed DESC, key", ["gateway-2", f"{number:07d}"]


ALL = [
    ("SELECT line, id, direction, handle_type, handle, name, began, connected, ended, outcome, reason FROM (SELECT *, row_number() OVER"
     " (PARTITION BY line ORDER BY ended DESC) AS place FROM recent) AS ranked WHERE place <= $1 ORDER BY line, ended DESC", ["100"]),
    (f"SELECT {COLUMNS} FROM registration WHERE {REACHABLE} ORDER BY user_name, refreshed DESC, key", ["gateway-2"]),
]


class Server:
    def __init__(self, folder, binaries):
        self.folder, self.binaries = str(folder), binaries
        folder.mkdir(parents=True)
        self.user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.user: shutil.chown(folder, "postgres")
        folder.chmod(0o755)
        self.run("initdb", "-D", f"{folder}/data", "-U", "hookswitch", "-A", "trust")
        # What a machine for a database would have at the least.
        options = f"-k {folder} -c listen_addresses= -c shared_buffers=1GB -c max_wal_size=8GB -c max_connections=200 -c autovacuum=off"
        self.run("pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log", "-o", options, "start")
        self.run("createdb", "-h", str(folder), "-U", "hookswitch", "hookswitch")
        self.process = int(open(f"{folder}/data/postmaster.pid").readline())

    def run(self, program, *words):
        done = subprocess.run(self.user + [f"{self.binaries}/{program}", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/")
        if done.returncode: sys.exit(f"database.py: {program}: {done.stderr.decode()}")

    def stop(self): self.run("pg_ctl", "-D", f"{self.folder}/data", "-m", "immediate", "stop")

    def processor_time(self):
        """Microseconds of all processes, those that have ended too."""
        total = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try: fields = path.read_text().rsplit(")", 1)[1].split()
            except OSError: continue
            if int(fields[1]) == self.process: total += int(fields[11]) + int(fields[12])
            if path.parent.name == str(self.process): total += sum(int(field) for field in fields[11:15])
        return total * 1e6 / os.sysconf("SC_CLK_TCK")


def tables():
    text = (ROOT / "Sources/Server/Store/PostgresSchema.swift").read_text().split("migrations: [[String]]")[1]
    return [long or short for long, short in re.findall(r'"""\n(.*?)"""|"((?:CREATE|ALTER)[^"]*)"', text, re.S)]


def measure(server, client, count, size, make):
    """Microseconds of the server, and of the clock, for each of `count` statements in batches of `size`."""
    before, began = server.processor_time(), time.monotonic()
    for start in range(0, count, size):
        client.batch([statement for number in range(start, min(start + size, count)) for statement in make(number)])
    return (server.processor_time() - before) / count, (time.monotonic() - began) * 1e6 / count


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--listeners", type=int, default=16)
    options.add_argument("--server", default="/usr/lib/postgresql/15/bin")
    options = options.parse_args()
    server = Server(options.folder.resolve(), options.server)
    try: print(json.dumps(figures(server, options.rows, options.listeners), indent=2))
    finally: server.stop()


def figures(server, rows, listeners):
    client, count = Client(server.folder), 20_000
    found = {"load": os.getloadavg()[0], "rows": rows, "listeners": listeners}
    for sql in tables(): client.batch([(sql, [])])
    for start in range(0, rows, 500):
        client.batch([registration(number, 1) for number in range(start, min(start + 500, rows))])
        client.batch([recent(10 * number + nth, number) for number in range(start, min(start + 500, rows), 10) for nth in range(10)])
    client.batch([("ANALYZE", [])])

    for size in (1, 10, 100, 500):
        found[f"registration, {size} in a transaction"], found[f"registration, {size}, clock"] = measure(
            server, client, count, size, lambda number: [registration(number * 7919 % rows, 2 + size)])
    found["dialog written"] = measure(server, client, count, 10, lambda number: [dialog(number)])[0]
    found["dialog taken away"] = measure(server, client, count, 10, lambda number: [no_dialog(number)])[0]
    found["recent"] = measure(server, client, count, 10, lambda number: [recent(10 * rows + number, number * 7919 % rows)])[0]
    found["trim"] = measure(server, client, count, 10, lambda number: [trim(number * 7919 % rows)])[0]
    found["one topic read, 100 at a time"] = measure(server, client, 20_000, 100, lambda number: [one(number * 7919 % rows)])[0]
    found["one topic read, 1 at a time"] = measure(server, client, count, 1, lambda number: [one(number * 7919 % rows)])[0]
    alone = {size: measure(server, client, 20 * count if size > 1 else count, size, lambda number: [notice(number)])[0] for size in (1, 100)}
    found["notice without a listener, 100 in a transaction"] = alone[100]

    clients, stop = [Client(server.folder) for _ in range(listeners)], threading.Event()
    for one_of_them in clients: one_of_them.batch([("LISTEN hookswitch", [])])
    thread = threading.Thread(target=listen, args=(clients, stop))
    thread.start()
    heard = {size: measure(server, client, 20 * count if size > 1 else count, size, lambda number: [notice(number)])[0] for size in (1, 100)}
    stop.set()
    thread.join()
    # A commit wakes each listener, and each notice is looked at and sent by each.
    one_alone, many_together = (heard[1] - alone[1]) / listeners, (heard[100] - alone[100]) / listeners
    found["a notice, for each listener"] = (100 * many_together - one_alone) / 99
    found["a commit with notices, for each listener"] = one_alone - found["a notice, for each listener"]

    for name, statement in [("recents", ALL[0]), ("registrations", ALL[1])]:
        before, began = server.processor_time(), time.monotonic()
        read = client.batch([statement])
        found[f"all {name}, a row"] = (server.processor_time() - before) / max(1, read)
        found[f"all {name}, a row, clock"] = (time.monotonic() - began) * 1e6 / max(1, read)
    return {name: round(value, 2) for name, value in found.items()}


if __name__ == "__main__": main()
