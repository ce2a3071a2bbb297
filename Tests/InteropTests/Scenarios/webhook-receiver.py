"""A receiver of webhooks that is as good or as bad as a file says, read anew at each request: PORT SECRET FILE [CERTIFICATE KEY]

good, slow, 500, 503, 301, 410, garbage, never, half; unsigned events are told, too. Prints TAKEN with id, prev, type and call.
"""
import base64, hashlib, hmac, http.server, json, pathlib, ssl, sys, threading, time

key, mode = base64.b64decode(sys.argv[2].removeprefix("whsec_")), pathlib.Path(sys.argv[3])
lock = threading.Lock()


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        names = ["webhook-id", "webhook-timestamp"]
        identifier, timestamp = [self.headers[name] for name in names]
        code = hmac.new(key, f"{identifier}.{timestamp}.".encode() + body, hashlib.sha256).digest()
        expected = "v1," + base64.b64encode(code).decode()
        if expected not in self.headers["webhook-signature"].split():
            print("FORGED", identifier, flush=True)
        what = mode.read_text().strip()
        if what == "slow":
            time.sleep(0.2)
        if what == "never":
            time.sleep(30)
        if what in ("never", "half", "garbage"):
            text = {"half": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "garbage": b"220 mail\r\n"}.get(what, b"")
            self.wfile.write(text)
            self.close_connection = True
            print("FAILED", what, flush=True)
            return
        status = {"good": 204, "slow": 204}.get(what) or int(what)
        if status == 204:
            event = json.loads(body)
            with lock:
                print("TAKEN", identifier, event["prev"], event["type"], event.get("call", "-"), body.decode(), flush=True)
        else:
            print("FAILED", what, flush=True)
        self.send_response(status)
        if status == 301:
            self.send_header("Location", "/elsewhere")
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True


server = Server(("127.0.0.1", int(sys.argv[1])), Receiver)
if sys.argv[4:]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[4:6])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print("LISTENS", flush=True)
server.serve_forever()
