"""Receives the events of a gateway, checks their signatures and prints them: webhook.py SECRET [PORT]"""
import base64, hashlib, hmac, http.server, json, sys, time

key = base64.b64decode(sys.argv[1].removeprefix("whsec_"))
seen = set()  # a crash of the gateway may send an event twice, with the same id; a real receiver keeps these in its database


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many events

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        identifier, timestamp = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        code = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(code).decode()
        is_signed = any(hmac.compare_digest(expected, one) for one in self.headers["webhook-signature"].split())
        is_fresh = abs(time.time() - int(timestamp)) < 300
        if is_signed and is_fresh and identifier not in seen:
            event = json.loads(body)
            print(event["time"], event["type"], event["id"], event.get("call", "-"), flush=True)
            seen.add(identifier)
        self.send_response(204 if is_signed and is_fresh else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int((sys.argv[2:] + ["9000"])[0])), Receiver).serve_forever()
