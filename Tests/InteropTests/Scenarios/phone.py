"""People with the telephone of the web console: SCENE URL SCREENSHOTS [NAME=VALUE ...]

Chromium, without a window and with a microphone that plays a file. Prints DONE at the end, and what a test waits for in between.
"""
import pathlib, sys
import axe_core_python
import chromium
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By

scene, url, folder, *rest = sys.argv[1:]
values = dict(word.split("=", 1) for word in rest)
shots = pathlib.Path(folder)
shots.mkdir(parents=True, exist_ok=True)


def say(*words):
    print(*words, flush=True)


class Phone:
    """A page, registered as a line; in a browser of its own, or in a tab of another's that is shown."""

    def __init__(self, line, name="", microphone=None, language="en", page=None):
        self.line, self.page = line, page or chromium.telephone(microphone, language, values.get("trusts", ""))
        self.tab = self.page.current_window_handle
        if page is None:
            phones.append(self)
        self.page.get(url)
        self.until("a form", lambda _: self.all("#line"))
        # The test takes a connection away by hand.
        self.page.execute_script("""
            const Real = window.WebSocket;
            window.sockets = [];
            window.WebSocket = class extends Real { constructor(...words) { super(...words); window.sockets.push(this); } };""")
        self.fill("#line", line)
        self.fill("#password", f"secret-{line}")
        self.fill("#name", name)

    def register(self):
        self.press("Register")
        self.until("it is registered", lambda _: self.state == f"{self.line}: registered")
        return self

    def speak_plainly(self):
        """What is said is to arrive as it was said: without what a browser does to a microphone."""
        self.page.find_element(By.ID, "processed").click()
        return self

    def fill(self, selector, text):
        def type():
            field = self.page.find_element(By.CSS_SELECTOR, selector)
            field.clear()
            field.send_keys(text)

        chromium.steady(type)

    def until(self, what, condition, seconds=20):
        return chromium.until(self.page, shots, f"{self.line}: {what}", condition, seconds)

    def all(self, selector):
        return self.page.find_elements(By.CSS_SELECTOR, selector)

    def press(self, words, nth=None):
        """A button by its words: in the n-th call, or in the newest one that has it, or in the page."""
        def button():
            cards = self.all("article.card")
            for place in ([*cards, self.page] if nth is None else [cards[nth]]):
                yield from (button for button in place.find_elements(By.TAG_NAME, "button") if button.text == words and button.is_displayed())

        try:
            chromium.steady(lambda: next(button()).click())
        except TimeoutException:
            raise AssertionError(f"{self.line}: no button '{words}' in:\n{self.page.find_element(By.TAG_NAME, 'body').text}")

    def dial(self, number):
        self.fill("#number", number)
        self.press("Call")

    @property
    def state(self):
        return self.page.find_element(By.CSS_SELECTOR, ".state").text

    def card(self, nth=0):
        return self.all("article.card")[nth]

    def shows(self, words, nth=0, seconds=20):
        """The state of a call."""
        self.until(f"'{words}'", lambda _: words in self.card(nth).find_element(By.TAG_NAME, "p").text, seconds)

    def level(self, nth=0):
        """How loud the far end is."""
        return float(self.card(nth).find_elements(By.TAG_NAME, "meter")[1].get_property("value"))

    def hears(self, isLoud, nth=0):
        """For a second without a break."""
        import time
        since = None
        def holds(_):
            nonlocal since
            level = self.level(nth)
            if (level > 0.05) is not isLoud:
                since = None
                return False
            since = since or time.monotonic()
            return time.monotonic() - since >= 1 if not isLoud else True
        self.until("it hears the far end" if isLoud else "it hears nothing", holds, 20)

    def listen(self, name="call"):
        chromium.steady(lambda: self.page.execute_script(chromium.listen, self.card().find_element(By.TAG_NAME, "audio"), name))

    def heard(self, seconds, name="call"):
        self.until("it has listened", lambda page: page.execute_script("return window.heard[arguments[0]].seconds", name) >= seconds, 40)

    def packets(self, by="browser", nth=0):
        """Received, as the browser measures it, or sent, as the gateway does."""
        text = chromium.steady(
            lambda: self.card(nth).find_element(By.CSS_SELECTOR, "tr[data-by=" + by + "] td:nth-child(3)").get_property("textContent"))
        return int(text.replace(",", "").replace("–", "-1"))

    def shot(self, name):
        self.page.save_screenshot(str(shots / f"phone-{name}.png"))

    def quiet(self):
        faults = chromium.severe(self.page, ("401", "favicon"))
        assert not faults, faults


phones = []


def pair():
    """Two pages talk. first=WAV second=WAV out=FOLDER"""
    alice = Phone("1001", "Alice", values["first"]).register().speak_plainly()
    bob = Phone("1002", "Bob", values["second"]).register().speak_plainly()
    alice.shot("registered")
    alice.dial("1002")
    bob.shows("calls you")
    bob.until("the name of the caller", lambda _: "Alice" in bob.card().text)
    alice.shows("it rings there")
    bob.shot("incoming")
    bob.press("Answer")
    for phone in phones:
        phone.shows("connected")
        phone.listen()
    for phone in phones:
        phone.heard(7)
        phone.until("it measures", lambda _: phone.packets() > 100)
    alice.until("the gateway measures, too", lambda _: alice.packets("gateway") > 100)
    for phone in phones:
        chromium.save(phone.page, "call", f"{values['out']}/heard-{phone.line}.wav")
    alice.page.execute_script("document.querySelector('details').open = true")
    alice.shot("connected")
    alice.press("Hold")
    alice.shows("on hold")
    bob.shows("held by the far end")
    alice.press("Resume")
    alice.until("it is no longer on hold", lambda _: "on hold" not in alice.card().text)
    bob.until("nor is the other", lambda _: "held by" not in bob.card().text)
    before = bob.packets()
    bob.until("sound goes on", lambda _: bob.packets() > before + 100)
    bob.press("Hang up")
    bob.shows("ended: hung up here")
    alice.shows("ended: hung up there")
    for phone in phones:
        phone.quiet()


def acts():
    """One page with the echo and the tone: levels, mute, digits, a second call."""
    alice = Phone("1001", "Alice").register()
    alice.dial("9196")
    alice.shows("connected")
    alice.hears(True)
    alice.press("Mute")
    alice.shows("muted")
    alice.hears(False)
    alice.press("Unmute")
    alice.hears(True)
    for key in "5#":
        chromium.steady(lambda: next(button for button in alice.all(".keypad button") if button.text == key).click())
    alice.dial("9197")
    alice.shows("connected")
    alice.shows("on hold", nth=1)
    alice.hears(True)
    alice.shot("two-calls")
    alice.press("Resume", nth=1)
    alice.until("the first goes on", lambda _: "on hold" not in alice.card(1).text)
    alice.shows("on hold", nth=0)
    alice.hears(True, nth=1)
    alice.press("Hang up", nth=0)
    alice.shows("ended", nth=0)
    alice.dial("4711")
    alice.shows("404")
    alice.press("Leave the line")
    alice.until("the other call has ended, too", lambda _: "ended" in alice.all("article.card")[-1].text)
    alice.until("the form is there again", lambda _: alice.all("#line")[0].is_displayed())
    alice.quiet()


def transfer():
    """Blind to the echo; attended to line 1003, which answers by itself."""
    alice, bob = Phone("1001", "Alice").register(), Phone("1002", "Bob").register()

    def talk():
        alice.dial("1002")
        bob.shows("calls you")
        bob.press("Answer")
        alice.shows("connected")

    talk()
    chromium.steady(lambda: alice.card().find_element(By.TAG_NAME, "input").send_keys("9196"))
    alice.press("Transfer", nth=0)
    alice.shows("ended: transferred")
    bob.hears(True)
    bob.press("Hang up")
    talk()
    alice.press("Hold")
    alice.shows("on hold")
    alice.dial("1003")
    alice.shows("connected")
    alice.press("Connect with 1003", nth=1)
    alice.shows("ended", nth=0)
    alice.shows("ended: transferred", nth=1)
    say("JOINED")
    before = bob.packets()
    bob.until("sound goes on", lambda _: bob.packets() > before + 100)
    bob.press("Hang up")
    bob.shows("ended: hung up here")


def called():
    """Alice, whom a baresip calls, or who calls one. first=WAV out=FOLDER number=NUMBER"""
    alice = Phone("1001", "Alice", values["first"]).register().speak_plainly()
    say("REGISTERED")
    if values.get("number"):
        alice.dial(values["number"])
    else:
        alice.shows("calls you")
        alice.press("Answer")
    alice.shows("connected")
    alice.listen()
    alice.heard(7)
    chromium.save(alice.page, "call", f"{values['out']}/heard.wav")
    say("HEARD")
    alice.shows("ended", seconds=60)


def closed():
    """A tab is closed in the call: the other hears of it, and the line is not there any more."""
    alice, bob = Phone("1001").register(), Phone("1002").register()
    alice.dial("1002")
    bob.shows("calls you")
    bob.press("Answer")
    alice.shows("connected")
    bob.page.get("about:blank")
    alice.shows("ended: hung up there", seconds=5)
    alice.dial("1002")
    alice.shows("480")


def moved():
    """The connection is lost in the call: it goes on over the next one."""
    alice = Phone("1001").register()
    alice.dial("9196")
    alice.shows("connected")
    alice.hears(True)
    alice.page.execute_script("window.sockets.at(-1).close()")
    alice.until("it is away", lambda _: "away" in alice.page.find_element(By.CSS_SELECTOR, ".state").get_attribute("data-state"))
    alice.until("it is registered again", lambda _: alice.state.endswith("registered"))
    alice.until("another way was agreed on", lambda page: page.execute_script("return window.sockets.length") == 2)
    say("MOVED")
    before = alice.packets()
    alice.until("sound goes on", lambda _: alice.packets() > before + 150)
    alice.hears(True)
    alice.press("Hang up")
    alice.shows("ended: hung up here")


def tabs():
    """Fifty tabs of one browser, each a line of its own: the first calls the last, and closed ones are not called."""
    first = Phone("1101").register()
    page, others = first.page, []
    for number in range(1102, 1151):
        page.switch_to.new_window("tab")
        others.append(Phone(str(number), page=page).register())
    page.switch_to.window(first.tab)
    first.dial("1150")
    page.switch_to.window(others[-1].tab)
    others[-1].shows("calls you")
    others[-1].press("Answer")
    others[-1].shows("connected")
    others[-1].until("sound comes", lambda _: others[-1].packets() > 50)
    page.switch_to.window(first.tab)
    first.shows("connected")
    first.press("Hang up")
    first.shows("ended: hung up here")
    for other in others:
        page.switch_to.window(other.tab)
        page.close()
    page.switch_to.window(first.tab)
    first.dial("1150")
    first.shows("480")


def secure():
    """Over TLS, the page and its WebSocket. trusts=HASH,HASH"""
    alice = Phone("1001").register()
    assert alice.page.execute_script("return isSecureContext && window.sockets[0].url").startswith("wss://")
    alice.dial("9196")
    alice.shows("connected")
    alice.hears(True)
    alice.until("sound comes", lambda _: alice.packets() > 100)
    alice.press("Hang up")
    alice.shows("ended: hung up here")
    alice.quiet()


def restart():
    """The test restarts the gateway when this says so."""
    alice = Phone("1001").register()
    alice.dial("9196")
    alice.shows("connected")
    say("RESTART")
    alice.until("it is away", lambda _: "away" in alice.page.find_element(By.CSS_SELECTOR, ".state").get_attribute("data-state"), 60)
    alice.shot("away")
    alice.until("it is registered again", lambda _: alice.state.endswith("registered"), 60)
    alice.shows("ended: the connection is lost", seconds=60)
    alice.dial("9196")
    alice.shows("connected")
    alice.hears(True)
    alice.press("Hang up")


def refused():
    """A wrong password, and a server that the policy does not let the page connect to."""
    alice = Phone("1001")
    alice.fill("#password", "wrong")
    alice.press("Register")
    alice.until("it is refused", lambda _: "Register: 40" in alice.page.find_element(By.CSS_SELECTOR, ".message").text)
    alice.until("the form is there again", lambda _: alice.all("#line")[0].is_displayed())
    alice.fill("#server", "ws://127.0.0.1:9")
    alice.press("Register")
    alice.until("the policy holds", lambda page: any("Content Security Policy" in entry["message"] for entry in page.get_log("browser")))


def accessible():
    """No fault that axe calls serious, in light and dark; all by the keyboard."""
    alice = Phone("1001", "Alice")
    axe = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()

    def check(name):
        for colours in ["light", "dark"]:
            alice.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colours}]})
            alice.page.execute_script(axe)
            found = alice.page.execute_async_script("axe.run().then(arguments[0])")
            assert found["passes"], "axe checked nothing"
            faults = [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
            assert not faults, (name, colours, faults)
            alice.shot(f"{name}-{colours}")

    check("form")
    # Enter in a field registers, and calls.
    alice.page.find_element(By.ID, "password").send_keys("\n")
    alice.until("it is registered", lambda _: alice.state == "1001: registered")
    alice.page.find_element(By.ID, "number").send_keys("9196\n")
    alice.shows("connected")
    alice.until("it measures", lambda _: alice.packets() > 0)
    alice.page.execute_script("document.querySelector('details').open = true")
    check("call")
    chromium.steady(
        lambda: next(button for button in alice.card().find_elements(By.TAG_NAME, "button") if button.text == "Hold").send_keys("\n"))
    alice.shows("on hold")
    focused = alice.page.execute_script("return document.activeElement.dataset.act")
    assert focused in ("resume", "hangUp"), f"the focus is lost: {focused}"
    alice.press("Hang up")
    alice.shows("ended: hung up here")


def german():
    alice = Phone("1001", language="de")
    assert alice.page.find_element(By.TAG_NAME, "h1").text == "Telefon"
    assert alice.page.execute_script("return document.documentElement.lang") == "de"
    alice.press("Registrieren")
    alice.until("es ist registriert", lambda _: alice.state == "1001: registriert")
    alice.shot("german")


units_script = """
const done = arguments[0], faults = [];
const same = (what, found, wanted) => { if (JSON.stringify(found) !== JSON.stringify(wanted)) faults.push(`${what}: ${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`); };
(async () => {
  const { Message, parseAddress, parameters, split, targetOf } = await import("/console/sip-message.js");
  const { authorization, chooseChallenge, md5 } = await import("/console/sip-digest.js");
  const text = 'INVITE sip:a@b SIP/2.0\\r\\nv: SIP/2.0/WS x;branch=z9hG4bK1 , SIP/2.0/UDP y;branch=2\\r\\nf: "A, \\\\"B\\\\" <C>" <sip:c%20d@e;x=1>;tag=7\\r\\n'
    + 't: sip:a@b\\r\\ni: 1@x\\r\\nCSeq: 9 INVITE\\r\\nSubject: one\\r\\n two\\r\\nm: <sip:c@e?X=1,2>, <sip:f@g>\\r\\nl: 4\\r\\n\\r\\nv=0\\r\\n';
  const invite = Message.parse(text);
  same("method", [invite.method, invite.sequence, invite.status, invite.branch, invite.body], ["INVITE", 9, null, "z9hG4bK1", "v=0\\r\\n"]);
  same("via", invite.all("via").length, 2);
  same("contact", invite.all("contact"), ["<sip:c@e?X=1,2>", "<sip:f@g>"]);
  same("folded", invite.get("subject"), "one two");
  same("from", [invite.from.name, invite.from.user, invite.from.uri, invite.from.parameters.tag], ['A, "B" <C>', "c d", "sip:c%20d@e;x=1", "7"]);
  same("to", [invite.to.uri, invite.to.user, invite.to.parameters.tag], ["sip:a@b", "a", undefined]);
  same("bare", [parseAddress("sip:a@b;tag=1").parameters.tag, parseAddress("").user, parseAddress("tel:+49").user], ["1", "", "+49"]);
  same("response", [Message.parse(text.replace(/^.*/, "SIP/2.0 486 Busy Here")).status, Message.parse(text.replace(/^.*/, "SIP/2.0 486 Busy Here")).phrase], [486, "Busy Here"]);
  for (const bad of ["", "GET / HTTP/1.1\\r\\n\\r\\n", "SIP/2.0 999 X\\r\\n\\r\\n", text.replace("CSeq", "Other"), text.replace("i: 1", "i 1"), text + "x".repeat(70000)]) {
    same(`no message: ${bad.slice(0, 20)}`, Message.parse(bad), null);
  }
  const written = Message.request("MESSAGE", "sip:a", [["to", "<sip:a>\\r\\nEvil: 1"], ["call-id", "1"], ["cseq", "1 MESSAGE"]], "ä").toString();
  same("no line is smuggled in", /^Evil/m.test(written), false);
  same("bytes are counted", /^Content-Length: 2$/m.test(written.replaceAll("\\r", "")), true);
  same("names", ["Call-ID: 1", "CSeq: 1 MESSAGE"].every(line => written.includes(line)), true);
  same("split", split('a,"b,c",<d,e>', ","), ["a", '"b,c"', "<d,e>"]);
  same("parameters", [parameters("x;a=1;B; c=\\"d;e\\"").a, parameters("x;a=1;B").b, parameters('x;c="d;e"').c], ["1", "", "d;e"]);
  same("targets", ["9196", "+49 (30) 12", "a@b.test", "sip:x@y", "#31#5", "<x>"].map(dialled => targetOf(dialled, "d.test")),
    ["sip:9196@d.test", "sip:+493012@d.test", "sip:a@b.test", "sip:x@y", "sip:%2331%235@d.test", "sip:%3Cx%3E@d.test"]);
  const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, "0")).join(""), bytes = text => new TextEncoder().encode(text);
  // RFC 1321 §A.5.
  same("MD5", ["", "abc", "1234567890".repeat(8)].map(text => hex(md5(bytes(text)))),
    ["d41d8cd98f00b204e9800998ecf8427e", "900150983cd24fb0d6963f7d28e17f72", "57edf4a22be3c955ac49da2e2107b67a"]);
  // RFC 7616 §3.9.1.
  const challenge = algorithm => `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;
  const words = { user: "Mufasa", password: "Circle of Life", method: "GET", uri: "/dir/index.html", cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ" };
  for (const [algorithm, wanted] of [["MD5", "8ca523f5e9506fed4657c9700eebdbec"], ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"]]) {
    same(algorithm, (await authorization(chooseChallenge([challenge(algorithm)]), words)).includes(`response="${wanted}"`), true);
  }
  same("the strongest", chooseChallenge([challenge("MD5"), challenge("SHA-256")]).algorithm, "SHA-256");
  same("none", [chooseChallenge([]), chooseChallenge(["Basic realm=x"]), chooseChallenge([challenge("SHA-512-256")])], [undefined, undefined, undefined]);
})().then(() => done(faults), problem => done([String(problem)]));
"""


def units():
    """The client's own parts, in the browser that runs them."""
    page = chromium.browser()
    try:
        page.get(url)
        faults = page.execute_async_script(units_script)
        assert not faults, "\n".join(faults)
    finally:
        page.quit()


scenes = [pair, acts, transfer, called, closed, moved, tabs, secure, restart, refused, accessible, german, units]
try:
    {scene.__name__: scene for scene in scenes}[scene]()
    say("DONE")
except Exception:
    for phone in phones:
        calls = [" ".join(card.text.split()) for card in phone.all("article.card")]
        say(f"{phone.line}: {phone.state}, {calls}, {phone.page.get_log('browser')}")
    raise
finally:
    for phone in phones:
        phone.page.quit()
