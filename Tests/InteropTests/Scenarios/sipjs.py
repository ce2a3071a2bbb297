"""A page with SIP.js as it comes: SCENE SERVER SIP-ADDRESS HOOKSWITCH SCREENSHOTS [PORT CERTIFICATE], where SERVER is a WebSocket, PORT that of
the page, and CERTIFICATE what the server shows.

Chromium, without a window and with a microphone that beeps. Prints DONE at the end.
"""
import base64, hashlib, http.server, pathlib, subprocess, sys, sysconfig, threading
from cryptography import x509
from cryptography.hazmat.primitives import serialization
import chromium

scene, server, address, hookswitch, folder, *rest = sys.argv[1:]
library = pathlib.Path(sysconfig.get_paths()["purelib"]) / "odoo/addons/voip_oca/static/lib/sip.js"
document = b"""<!doctype html><html lang="en"><title>SIP.js</title><script src="/sip.js"></script><body><audio id="remote" autoplay></audio></body></html>"""


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        content = library.read_bytes() if self.path == "/sip.js" else document if self.path == "/" else b""
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", "text/javascript" if self.path == "/sip.js" else "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words):
        pass


register = """
const [server, line, done] = arguments;
window.told = [];
const tell = what => (...values) => told.push([what, ...values.filter(value => typeof value === "boolean")]);
window.user = new SIP.Web.SimpleUser(server, {
  aor: `sip:${line}@127.0.0.1`, media: { remote: { audio: document.getElementById("remote") } },
  userAgentOptions: { authorizationUsername: line, authorizationPassword: `secret-${line}` },
  delegate: { onRegistered: tell("registered"), onCallAnswered: () => { told.push(["answered"]); window.watch?.(); }, onCallReceived: tell("received"), onCallHold: tell("hold"), onCallHangup: tell("hangup") },
});
user.connect().then(() => user.register()).then(() => done(null), problem => done(String(problem)));
"""

# Every 5 ms until a packet comes.
watch = """
window.watch = () => {
  const begin = performance.now(), connection = user.session.sessionDescriptionHandler.peerConnection;
  const timer = setInterval(async () => {
    for (const entry of (await connection.getStats()).values()) {
      if (entry.type !== "inbound-rtp" || !(entry.packetsReceived > 0)) continue;
      window.firstPacket ??= performance.now() - begin;
      clearInterval(timer);
    }
  }, 5);
};
"""

measure = """
const done = arguments[0];
user.session.sessionDescriptionHandler.peerConnection.getStats().then(report => {
  const found = [...report.values()].find(({ type }) => type === "inbound-rtp") ?? {};
  done([found.packetsReceived ?? 0, found.audioLevel ?? 0]);
});
"""


def until(what, condition, seconds=20):
    return chromium.until(page, folder, what, condition, seconds)


def told(*what):
    until(f"it tells {what}", lambda _: list(what) in page.execute_script("return told"))


def do(words):
    fault = page.execute_async_script(f"const done = arguments[0]; Promise.resolve({words}).then(() => done(null), problem => done(String(problem)))")
    assert fault is None, f"{words}: {fault}"


def begin(line):
    page.get(f"http://127.0.0.1:{pages.server_port}/")
    fault = page.execute_async_script(register, server, line)
    assert fault is None, fault
    told("registered")
    page.execute_script(watch)


def hears():
    until("it hears sound", lambda page: page.execute_async_script(measure)[1] > 0.01)


def goes_on():
    before = page.execute_async_script(measure)[0]
    until("packets go on", lambda page: page.execute_async_script(measure)[0] > before + 50)


def calls():
    begin("1001")
    do("user.call('sip:9196@127.0.0.1')")
    told("answered")
    hears()
    do("user.hold()")
    told("hold", True)
    do("user.unhold()")
    told("hold", False)
    goes_on()
    hears()
    do("user.sendDTMF('5')")
    assert page.execute_script("return user.session.sessionDescriptionHandler.sendDtmf('7')"), "it can send no telephone-event"
    goes_on()
    do("user.hangup()")
    told("hangup")


def reloaded():
    """The page is loaded anew in a call: it registers again and calls again, and the call of before ends."""
    begin("1001")
    do("user.call('sip:9196@127.0.0.1')")
    told("answered")
    hears()
    page.refresh()
    begin("1001")
    do("user.call('sip:9196@127.0.0.1')")
    told("answered")
    hears()
    goes_on()
    do("user.hangup()")
    told("hangup")


def called():
    begin("1002")
    # Long enough for a microphone that begins seconds late, as it does on a busy machine.
    caller = subprocess.Popen([hookswitch, "call", "1002", "--server", address, "--from", "1003", "--password", "secret-1003", "--duration", "8"], stdout=subprocess.PIPE, text=True)
    told("received")
    do("user.answer()")
    told("answered")
    until("a packet comes", lambda page: page.execute_script("return window.firstPacket") is not None)
    first = page.execute_script("return window.firstPacket")
    print(f"FIRST {first:.0f} ms", flush=True)
    assert first < 500, f"the first packet came {first} ms after the answer"
    goes_on()
    told("hangup")
    said = caller.communicate(timeout=20)[0]
    assert caller.returncode == 0 and "audio both ways" in said, said


def hash_of_key(file):
    """What Chromium knows a certificate by that no authority of its own has signed."""
    key = x509.load_pem_x509_certificate(pathlib.Path(file).read_bytes()).public_key()
    form = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(form).digest()).decode()


pages = http.server.ThreadingHTTPServer(("127.0.0.1", int(rest[0]) if rest else 0), Pages)
threading.Thread(target=pages.serve_forever, daemon=True).start()
page = chromium.telephone(trusts=hash_of_key(rest[1]) if rest else "")
try:
    {"calls": calls, "called": called, "reloaded": reloaded}[scene]()
    print("DONE", flush=True)
finally:
    page.quit()
