#!/usr/bin/env python3
"""What a gateway on a shared database pays for registrations, lines, and the changes of others: processor time and memory.

usage: gateway.py FOLDER HOOKSWITCH [--lines N] [--server BIN]

Starts PostgreSQL and a gateway with N lines in FOLDER, registers devices over UDP on loopback, plays another gateway in the database, and prints
a JSON object: microseconds, kilobytes and, where a name says so, milliseconds. scripts/capacity --measure-gateway runs it.
"""
import argparse, hashlib, json, os, pathlib, re, signal, socket, subprocess, sys, time

import database

PORT, ADDRESS = 25060, "127.0.72.1"


class Telephone:
    """A socket that sends one request and waits for its answer."""

    def __init__(self):
        self.socket, self.number = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 0
        self.socket.bind((ADDRESS, 0))
        self.socket.connect((ADDRESS, PORT))
        self.socket.settimeout(60)
        self.port = self.socket.getsockname()[1]

    def ask(self, method, user, extra=""):
        self.number += 1
        to = f"sip:{user}@{ADDRESS}:{PORT}"
        self.socket.send((
            f"{method} sip:{ADDRESS}:{PORT} SIP/2.0\r\nVia: SIP/2.0/UDP {ADDRESS}:{self.port};branch=z9hG4bK{self.port}x{self.number}\r\n"
            f"From: <{to}>;tag={user}\r\nTo: <{to}>\r\nCall-ID: {user}@{ADDRESS}\r\nCSeq: {self.number} {method}\r\nMax-Forwards: 70\r\n"
            f"User-Agent: Telephone 5.1.2\r\n{extra}Content-Length: 0\r\n\r\n").encode())
        return self.socket.recv(65_535).decode()

    def register(self, user, nonce):
        def md5(text): return hashlib.md5(text.encode()).hexdigest()

        realm, value = nonce
        count, uri = f"{self.number + 1:08x}", f"sip:{ADDRESS}:{PORT}"
        proof = md5(":".join([md5(f"{user}:{realm}:secret-{user}"), value, count, "c0ffee", "auth", md5(f"REGISTER:{uri}")]))
        return self.ask("REGISTER", user, (
            f"Contact: <sip:{user}@{ADDRESS}:{self.port}>;+sip.instance=\"<urn:uuid:00000000-0000-4000-8000-{user:0>12}>\"\r\nExpires: 3600\r\n"
            f'Authorization: Digest username="{user}", realm="{realm}", nonce="{value}", uri="{uri}", response="{proof}", algorithm=MD5,'
            f' qop=auth, nc={count}, cnonce="c0ffee"\r\n'))

    def challenge(self, user):
        answer = self.ask("REGISTER", user, f"Contact: <sip:{user}@{ADDRESS}:{self.port}>\r\nExpires: 3600\r\n")
        line = next(line for line in answer.split("\r\n") if line.lower().startswith("www-authenticate") and "MD5" in line)
        return [re.search(f'{name}="([^"]*)"', line).group(1) for name in ("realm", "nonce")]


class Gateway:
    def __init__(self, program, folder, lines, data):
        configuration = folder / f"gateway-{lines}.yaml"
        text = f"domain: {ADDRESS}\nsip: {{ udp: ['{ADDRESS}:{PORT}'], tcp: [] }}\nmedia: {{ ports: 30000-30099 }}\n{data}lines:\n"
        text += "".join(f"  - {{ number: '{number:07d}', password: secret-{number:07d} }}\n" for number in range(lines))
        configuration.write_text(text)
        self.log = open(folder / "gateway.log", "a")
        self.process = subprocess.Popen([program, "serve", "--config", configuration], stdout=self.log, stderr=self.log)
        self.ping = Telephone()
        self.ping.socket.settimeout(0.2)
        deadline = time.monotonic() + 120
        while True:
            try: self.ping.ask("OPTIONS", "ping")
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline: sys.exit(f"gateway.py: no gateway: see {folder}/gateway.log")
                time.sleep(0.1)
            else: break

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def microseconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")

    def threads(self):
        """Microseconds of each thread."""
        found = {}
        for path in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            try: fields = path.read_text().rsplit(")", 1)[1].split()
            except OSError: continue
            found[path.parent.name] = (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")
        return found

    def kilobytes(self):
        return int(re.search(r"RssAnon:\s*(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text()).group(1))

    def settle(self):
        """Waits until nothing is done any more."""
        before, quiet = self.microseconds(), 0
        while quiet < 3:
            time.sleep(0.5)
            now = self.microseconds()
            quiet, before = (quiet + 1 if now - before < 30_000 else 0), now

    def cost(self, count, work):
        """Microseconds of each of `count` pieces of work."""
        self.settle()
        before, threads = self.microseconds(), self.threads()
        work()
        self.settle()
        self.deltas = {name: time - threads.get(name, 0) for name, time in self.threads().items()}
        return (self.microseconds() - before) / count


def alone(program, folder, lines):
    """Without a database: everything is done on the signalling lane."""
    found, telephone = {}, None
    gateway = Gateway(program, folder, 1, "")
    empty = gateway.kilobytes()
    gateway.stop()
    gateway = Gateway(program, folder, lines, "")
    gateway.settle()
    found["memory of a line"] = (gateway.kilobytes() - empty) / lines
    telephone = Telephone()
    found["an OPTIONS"] = gateway.cost(20_000, lambda: [telephone.ask("OPTIONS", "ping") for _ in range(20_000)])
    found["a REGISTER that is challenged"] = gateway.cost(lines, lambda: [telephone.challenge(f"{number:07d}") for number in range(lines)])
    nonce, before = telephone.challenge("0000000"), gateway.kilobytes()

    def register():
        for number in range(lines):
            if " 200 " not in telephone.register(f"{number:07d}", nonce): sys.exit("gateway.py: a REGISTER was refused")

    found["a REGISTER that makes a binding"] = gateway.cost(lines, register)
    found["memory of a binding, without a store"] = (gateway.kilobytes() - before) / lines
    nonce = telephone.challenge("0000000")
    found["a REGISTER that refreshes a binding"] = gateway.cost(lines, register)
    gateway.stop()
    return found


def shared(program, folder, lines, binaries):
    server, found = database.Server(folder / "database", binaries), {}
    gateway = None
    try:
        data = f"data: 'postgres://hookswitch@/hookswitch?host={folder / 'database'}'\nnode: gateway-2\n"
        gateway = Gateway(program, folder, lines, data)
        gateway.settle()
        empty, other = gateway.kilobytes(), database.Client(server.folder)
        for start in range(0, lines, 500): other.batch([database.registration(number, 1) for number in range(start, min(start + 500, lines))])

        def tell(topic):
            for start in range(0, lines, 20):
                other.batch([("SELECT pg_notify('hookswitch', $1)", [json.dumps(["c0ffee", *topic(number)])]) for number in range(start, min(start + 20, lines))])

        found["a notice of nothing"] = gateway.cost(lines, lambda: tell(lambda number: ["nothing", f"{number:07d}"]))
        # Notices are heard by the thread that waits for the database, and what is read is taken by the signalling lane.
        store = max(gateway.deltas, key=gateway.deltas.get)
        found["a topic without a row"] = gateway.cost(lines, lambda: tell(lambda number: ["do-not-disturb", f"{number:07d}"]))
        found["a binding of another gateway, new"] = gateway.cost(lines, lambda: tell(lambda number: ["registrations", f"{number:07d}"]))
        found["the same, of the store's thread"] = gateway.deltas[store] / lines
        for start in range(0, lines, 500): other.batch([database.registration(number, 2) for number in range(start, min(start + 500, lines))])
        found["a binding of another gateway, refreshed"] = gateway.cost(lines, lambda: tell(lambda number: ["registrations", f"{number:07d}"]))

        def read_everything(name, rows):
            def lose():
                other.batch([("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hookswitch'", [])])
                time.sleep(2)

            found[f"{name}: rows"], found[f"{name}: processor time, ms"] = rows, gateway.cost(1, lose) / 1_000
            found[f"{name}: of the store's thread, ms"] = gateway.deltas[store] / 1_000

        def memory():
            """Of a gateway that is started now."""
            nonlocal gateway, store
            gateway.stop()
            gateway = Gateway(program, folder, lines, data)
            gateway.settle()
            gateway.cost(lines, lambda: tell(lambda number: ["nothing", f"{number:07d}"]))
            store = max(gateway.deltas, key=gateway.deltas.get)
            return gateway.kilobytes()

        bindings = memory()
        found["memory of a binding, with a store"] = (bindings - empty) / lines
        read_everything("bindings read at once", lines)
        for start in range(0, lines, 50):
            other.batch([database.recent(10 * number + nth, number) for number in range(start, min(start + 50, lines)) for nth in range(10)])
        found["memory of a call of the recents"] = (memory() - bindings) / lines / 10
        read_everything("with ten recents each", 11 * lines)
        ongoing = 500
        other.batch([("UPDATE recent SET reason = 'gatewayKilled' WHERE id IN (SELECT id FROM recent LIMIT $1)", [ongoing])])
        read_everything(f"with {ongoing} calls that go on", 11 * lines)
    finally:
        if gateway: gateway.stop()
        server.stop()
    return found


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("program")
    options.add_argument("--lines", type=int, default=20_000)
    options.add_argument("--server", default="/usr/lib/postgresql/15/bin")
    options = options.parse_args()
    folder = options.folder.resolve()
    folder.mkdir(parents=True)
    found = {"load": os.getloadavg()[0], "lines": options.lines}
    found |= alone(options.program, folder, options.lines)
    found |= shared(options.program, folder, options.lines, options.server)
    print(json.dumps({name: round(value, 2) for name, value in found.items()}, indent=2))


main()
