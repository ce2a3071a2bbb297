"""Holds a running server to the documents of its control interface. scripts/api-check runs it, in a network namespace of its own."""

import argparse
import contextlib
import gzip
import http.client
import json
import pathlib
import subprocess
import sys
import threading
import time
import uuid
import warnings

import jsonschema
import openapi_spec_validator
import websockets.sync.client

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # names of its own models
    from asyncapi3 import AsyncAPI3

ADDRESS, METRICS = "127.0.0.1:8080", "127.0.0.1:9464"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,"
    "negative_data_rejection,unsupported_method,allow_header_conformance"
)
# What the scenario brings about, at the least.
EXPECTED = """server.started line.registered transaction.accepted transaction.refused call.started call.incoming call.connecting
call.connected media.opened media.started action.fulfilled call.held call.resumed call.muted call.unmuted call.ended media.stopped media.closed line.dnd
line.blocked server.reloaded""".split()


class Failure(Exception):
    pass


def expect(is_true, words):
    if not is_true:
        raise Failure(words)


def wait_for(condition, words, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, words() if callable(words) else words)
        time.sleep(0.02)


def ask(method, path, body=None, expected=(200, 202, 204)):
    connection = http.client.HTTPConnection(ADDRESS, timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    expect(answer.status in expected, f"{method} {path}: {answer.status} {content[:300]!r}")
    return json.loads(content) if content else None


class Child:
    """A program of ours, and what it says."""

    def __init__(self, words):
        self.lines = []
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.name = " ".join(words[1:3])
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def says(self, text):
        said = lambda: any(text in line for line in list(self.lines))
        wait_for(said, lambda: f"{self.name} did not say '{text}' (exit code {self.process.poll()}): {self.lines[-5:]}", seconds=90)

    def end(self):
        """SIGTERM, and its exit code."""
        self.process.terminate()
        return self.process.wait(30)


class Events(threading.Thread):
    """All events from the beginning on: each as its message has it, and none missing."""

    def __init__(self, document):
        super().__init__(daemon=True)
        self.validators = {
            message["name"]: jsonschema.Draft202012Validator(
                {**document, "$ref": f"#/components/messages/{key}/payload"}, format_checker=jsonschema.FormatChecker()
            )
            for key, message in document["components"]["messages"].items()
        }
        self.types, self.wrong, self.count = set(), [], 0
        self.connection = http.client.HTTPConnection(ADDRESS, timeout=60)
        beginning = ask("GET", "/v1/server")["run"] + ".0"
        self.connection.request("GET", f"/v1/events?after={beginning}")
        self.answer = self.connection.getresponse()
        expect(self.answer.getheader("Content-Type") == "text/event-stream", "the events come in another type")

    def run(self):
        last = None
        for line in self.answer:
            if not line.startswith(b"data: "):
                continue
            event = json.loads(line[6:])
            self.count += 1
            self.types.add(event["type"])
            if last and event["prev"] != last:
                self.wrong.append(f"{event['id']}: prev is {event['prev']}, and the one before was {last}")
            last = event["id"]
            for error in self.validators[event["type"]].iter_errors(event):
                self.wrong.append(f"{event['id']} {event['type']}: {error.json_path}: {error.message}")


class Socket(threading.Thread):
    """The same events over WebSocket, with a ticket, as a browser takes them."""

    def __init__(self):
        super().__init__(daemon=True)
        beginning = ask("GET", "/v1/server")["run"] + ".0"
        ticket = ask("POST", "/v1/tickets", expected=(201,))["ticket"]
        self.ids, self.wrong, self.code = [beginning], [], None
        address = f"ws://{ADDRESS}/v1/events"
        opening = websockets.sync.client.connect(
            f"{address}?after={beginning}&ticket={ticket}", subprotocols=["hookswitch.events.v1"], origin=f"http://{ADDRESS}"
        )
        self.socket = contextlib.ExitStack().enter_context(opening)
        expect(self.socket.subprotocol == "hookswitch.events.v1", "another subprotocol was chosen")
        expect(self.socket.ping().wait(20), "a ping was not answered")
        try:
            with websockets.sync.client.connect(address, origin="http://evil.example"):
                raise Failure("a page of another origin was let in")
        except websockets.exceptions.InvalidStatus as refusal:
            expect(refusal.response.status_code == 403, f"a page of another origin: {refusal}")

    def run(self):
        try:
            while True:
                event = json.loads(self.socket.recv())
                if event["prev"] != self.ids[-1]:
                    self.wrong.append(f"{event['id']}: prev is {event['prev']}, and the one before was {self.ids[-1]}")
                self.ids.append(event["id"])
        except websockets.exceptions.ConnectionClosed as end:
            self.code = end.rcvd and end.rcvd.code


def serve(arguments):
    data = arguments.work / "data"
    server = Child([arguments.hookswitch, "serve", "--config", arguments.config, "--data", str(data), "--api-listen", ADDRESS, "--metrics-listen", METRICS])
    server.says("is ready")
    return server


def telephone(arguments, line):
    words = f"answer --register {line} --password secret-{line} --server 127.0.0.1 --after 0 --json-lines".split()
    phone = Child([arguments.hookswitch, *words])
    phone.says('"registered"')
    return phone


def scenario():
    """A call with all that may be done to it, and what a line's user sets."""
    call = str(uuid.uuid4())
    start = {"id": call, "transaction": str(uuid.uuid4()), "line": "1001", "to": "1002", "wait": "connected"}
    outcome = ask("POST", "/v1/calls", start)
    expect(outcome["state"] == "performed" and ask("GET", f"/v1/calls/{call}")["hasConnected"], f"the call is not up: {outcome}")
    again = ask("POST", "/v1/calls", start)
    expect(again["id"] == outcome["id"], "the same transaction again is another one")
    for verb, body in [("hold", {}), ("hold", {"onHold": False}), ("mute", {}), ("mute", {"muted": False}), ("digits", {"digits": "12#"})]:
        outcome = ask("POST", f"/v1/calls/{call}/{verb}", {"wait": "performed", **body})
        expect(outcome["state"] == "performed", f"{verb}: {outcome}")
    ask("POST", f"/v1/calls/{call}/end", {"wait": "performed"})
    ended = ask("GET", f"/v1/calls/{call}")
    expect((ended["endedBy"], ended["q850"]) == ("local", 16), f"the end of a call that was ended here: {ended}")
    taken = ask("POST", "/v1/calls", {**start, "transaction": str(uuid.uuid4())}, (409,))
    expect(taken["code"] == "callUUIDAlreadyExists", f"a call under the UUID of one that ended: {taken}")
    refused = {"line": "1001", "actions": [{"type": "CXEndCallAction", "call": str(uuid.uuid4())}]}
    expect(ask("POST", "/v1/transactions", refused, (409,))["code"] == "unknownCallUUID", "the end of no call")
    for path in ["/v1/lines/1003/dnd", "/v1/lines/1003/blocked/%2B15550100"]:
        ask("PUT", path, {"on": True})
    ask("PUT", "/v1/lines/1003/dnd", {"on": False})
    ask("DELETE", "/v1/lines/1003/blocked/%2B15550100")
    ask("POST", "/v1/server/reload")


def check_compression():
    """What comes in gzip is the same."""
    plain = ask("GET", "/v1/asyncapi.json")
    connection = http.client.HTTPConnection(ADDRESS, timeout=60)
    connection.request("GET", "/v1/asyncapi.json", None, {"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    content = answer.read()
    expect(answer.getheader("Content-Encoding") == "gzip" and answer.getheader("Vary") == "Accept-Encoding", "it is not compressed")
    expect(json.loads(gzip.decompress(content)) == plain, "it is another document in gzip")


def check_metrics():
    """The figures of the interface itself."""
    connection = http.client.HTTPConnection(METRICS, timeout=60)
    connection.request("GET", "/metrics")
    lines = dict(line.rsplit(" ", 1) for line in connection.getresponse().read().decode().splitlines() if not line.startswith("#"))
    figure = lambda name, labels="": float(lines[f"hookswitch_api_{name}{labels}"])
    readers = [figure("event_readers", f'{{transport="{transport}"}}') for transport in ["sse", "websocket"]]
    expect(readers == [1, 1], f"a stream and a WebSocket are told events, and the metrics say {readers}")
    expect(figure("requests_total", '{method="POST",status="4xx"}') >= 2, "two transactions were refused")
    expect(figure("requests_total", '{method="GET",status="1xx"}') == 1, "a WebSocket was opened")
    expect(figure("sent_bytes_total") > 100_000, "both documents and all events were sent")


def run_schemathesis(arguments):
    words = f"""-m schemathesis.cli run http://{ADDRESS}/v1/openapi.json --url http://{ADDRESS} --checks {CHECKS} --seed {arguments.seed}
        --max-examples {arguments.examples} --max-time 30 --request-timeout 30 --exclude-operation-id getEvents --exclude-operation-id drain
        --generation-database none --no-color --warnings off""".split()
    code = subprocess.run([sys.executable, *words], cwd=arguments.work).returncode
    expect(code == 0, f"schemathesis ended with {code}")


def documents():
    described = ask("GET", "/v1/openapi.json")
    openapi_spec_validator.validate(described)
    told = ask("GET", "/v1/asyncapi.json")
    AsyncAPI3.model_validate(told)
    print(f"both documents are valid: {len(described['paths'])} paths, {len(told['components']['messages'])} events")
    return told


def check(arguments, children):
    server = serve(arguments)
    children.append(server)
    events = Events(documents())
    events.start()
    socket = Socket()
    socket.start()
    children.extend(telephone(arguments, line) for line in ["1001", "1002"])
    scenario()
    check_metrics()
    check_compression()
    run_schemathesis(arguments)
    ask("POST", "/v1/server/drain")
    refused = ask("POST", "/v1/calls", {"line": "1001", "to": "1002"}, (409,))
    expect(refused["code"] == "noRoom", f"a call while it drains: {refused}")
    for child in reversed(children):
        expect(child.end() == 0, f"{child.name} ended badly: {child.lines[-5:]}")
    events.join(20)
    expect(not events.wrong, "\n".join(events.wrong[:20]))
    socket.join(20)
    expect(not socket.wrong, "\n".join(socket.wrong[:20]))
    expect(len(socket.ids) - 1 == events.count, f"{len(socket.ids) - 1} events over WebSocket, and {events.count} as a stream")
    expect(socket.code == 1001, f"the WebSocket ended with {socket.code}, and not with 1001")
    missing = set(EXPECTED) - events.types
    expect(not missing, f"these events did not come: {' '.join(sorted(missing))}")
    print(f"{events.count} events of {len(events.types)} types are as the document says, and none is missing")
    journal = str(arguments.work / "data" / "journal.jsonl")
    expect(subprocess.run([arguments.hookswitch, "audit", journal]).returncode == 0, "the audit of the journal is not clean")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hookswitch", required=True)
    parser.add_argument("--config", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--examples", required=True, type=int)
    children = []
    try:
        check(parser.parse_args(), children)
    except Failure as failure:
        print(f"api-check: {failure}", file=sys.stderr)
        return 1
    finally:
        for child in children:
            child.process.kill()
    return 0


sys.exit(main())
