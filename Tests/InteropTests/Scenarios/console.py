"""A person with a browser at the web console: SCENE URL SIP-ADDRESS HOOKSWITCH SCREENSHOTS [ARGUMENT ...]

Chromium, without a window. Prints DONE at the end; an assertion that does not hold says what the page showed instead.
"""
import json, pathlib, socket, subprocess, sys, time
import axe_core_python
import chromium
from selenium.webdriver.common.by import By

scene, url, server, hookswitch, folder, *rest = sys.argv[1:]
shots = pathlib.Path(folder)
shots.mkdir(parents=True, exist_ok=True)


def until(what, condition, seconds=20):
    return chromium.until(page, shots, what, condition, seconds)


def all_of(selector):
    return page.find_elements(By.CSS_SELECTOR, selector)


def rows(place=1):
    """The rows of the n-th table, as text."""
    found = all_of("table")
    return [row for row in found[place - 1].find_elements(By.CSS_SELECTOR, "tbody tr:not(.filler)") if row.is_displayed()]


def go(view, heading):
    page.execute_script("location.hash = arguments[0]", f"#/{view}")
    until(f"the view {view}", lambda _: heading in page.find_element(By.TAG_NAME, "h1").text)


def press(words, inside=lambda: page):
    chromium.steady(lambda: next(b for b in inside().find_elements(By.TAG_NAME, "button") if b.text == words).click())


def call(number, seconds, *words):
    return subprocess.Popen([hookswitch, "call", number, "--server", server, "--duration", str(seconds), *words], stdout=subprocess.DEVNULL)


def says(*words):
    """One of these: an act may be done before it is answered, or under way."""
    seen = []

    def holds(_):
        text = page.find_element(By.CSS_SELECTOR, ".message").text
        if text not in seen:
            seen.append(text)
        return any(word in text for word in words)
    try:
        until(f"it says '{words}'", holds)
    except AssertionError as error:
        raise AssertionError(f"it said {seen}: {error}")


def write(selector, text):
    def type():
        field = page.find_element(By.CSS_SELECTOR, selector)
        field.clear()
        field.send_keys(text)
        return field

    return chromium.steady(type)


def quiet():
    """Nothing went wrong in the page, but what was refused on purpose."""
    faults = chromium.severe(page)
    assert not faults, faults


def calls():
    page.get(url)
    until("it is live", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live")
    assert page.find_element(By.TAG_NAME, "h1").text == "Calls now 0"
    phone = call("9196", 60)
    until("the call comes by itself", lambda _: "connected" in rows()[0].text and "flows" in rows()[0].text)
    until("it says who and what", lambda _: "9196" in rows()[0].text and "opus" in rows()[0].text)
    page.save_screenshot(str(shots / "calls.png"))
    press("Hold", lambda: rows()[0])
    until("it is on hold", lambda _: "on hold" in rows()[0].text and "Hold: done" in page.find_element(By.CSS_SELECTOR, ".message").text)
    press("Resume", lambda: rows()[0])
    until("it goes on", lambda _: "on hold" not in rows()[0].text and "flows" in rows()[0].text)

    chromium.steady(lambda: rows()[0].find_element(By.TAG_NAME, "a").click())
    until("its ladder is drawn", lambda _: page.execute_script("return document.querySelector('img.ladder').naturalHeight") > 400)
    until("its quality is drawn", lambda _: len(all_of(".chart polyline.incoming")[0].get_attribute("points").split()) >= 3)
    until("it is measured", lambda _: "packets" in rows()[0].text or "heard" in rows()[0].text)
    page.save_screenshot(str(shots / "call.png"))
    before = page.execute_script("return document.querySelector('img.ladder').naturalHeight")
    press("Mute")
    until("the ladder grows", lambda _: page.execute_script("return document.querySelector('img.ladder').naturalHeight") > before)
    press("As text")
    until("the ladder is text", lambda _: "INVITE" in page.find_element(By.TAG_NAME, "pre").text)
    press("Hang up")
    until("it has ended", lambda _: "ended" in page.find_element(By.CSS_SELECTOR, ".facts").text)
    assert phone.wait(20) is not None

    go("calls", "Calls now 0")
    until("it is among those that ended", lambda _: "9196" in rows(2)[0].text)


def views():
    """Each view shows what there is, and does what is asked."""
    page.get(url)
    until("it is live", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live")
    device = subprocess.Popen([hookswitch, "answer", "--register", "1001", "--password", "secret-1001", "--server", server], stdout=subprocess.DEVNULL)
    go("lines", "Lines")
    until("the device of the line", lambda _: any("Alice" in row.text and "sip:1001@" in row.text and "s left" in row.text for row in rows()))
    page.save_screenshot(str(shots / "lines.png"))
    write("#start-line", "1001")
    write("#start-to", "9196").send_keys("\n")
    says("Start a call: under way", "Start a call: done")
    go("calls", "Calls now")
    until("the call that was begun", lambda _: any("1001" in row.text and "connected" in row.text for row in rows()))
    write("#filter", "zzz")
    until("no call suits the filter", lambda _: not rows())
    write("#filter", "1001")
    until("this one does", lambda _: rows())
    chromium.steady(
        lambda: next(row for row in rows() if "9196" in row.text and "connected" in row.text).find_element(By.TAG_NAME, "a").click())
    until("the call", lambda _: "connected" in page.find_element(By.CSS_SELECTOR, ".facts").text)
    write("#digits", "5#").send_keys("\n")
    says("Digits: done")
    press("Hold")
    says("Hold: done")
    press("Resume")
    says("Resume: done")
    press("Hang up")
    says("Hang up: done")
    go("recents/1001", "Recent calls of 1001")
    until("the call of the line", lambda _: any("9196" in row.text for row in rows()))
    page.save_screenshot(str(shots / "recents.png"))
    press("Call back", lambda: rows()[0])
    says("Call back: under way", "Call back: done")
    go("lines", "Lines")
    chromium.steady(lambda: next(box for box in all_of("input[type=checkbox]") if "1002" in box.get_attribute("aria-label")).click())
    says("Do Not Disturb: done")
    until("it stays", lambda _: next(box for box in all_of("input[type=checkbox]") if "1002" in box.get_attribute("aria-label")).is_selected())
    go("events", "Events")
    until("the events", lambda _: any("line.dnd" in row.text and "1002" in row.text for row in rows()))
    write("#event-filter", "line.dnd")
    until("those of the filter alone", lambda _: rows() and all("line.dnd" in row.text for row in rows()))
    press("Pause")
    before = len(rows())
    assert subprocess.run([hookswitch, "call", "1002", "--server", server], stdout=subprocess.DEVNULL).returncode != 0
    assert len(rows()) == before, "it goes on though it is paused"
    page.save_screenshot(str(shots / "events.png"))
    go("trunks", "Trunks")
    until("the trunk, which is down", lambda _: "carrier" in rows()[0].text and "down" in rows()[0].text and "bad" in rows()[0].get_attribute("class"))
    page.save_screenshot(str(shots / "trunks.png"))
    go("server", "Server")
    until("its facts", lambda _: "0.1.0" in page.find_element(By.CSS_SELECTOR, ".facts").text)
    until("its rates", lambda _: len({point.split(",")[1] for point in all_of(".chart polyline.connected")[0].get_attribute("points").split()}) > 1)
    page.save_screenshot(str(shots / "server.png"))
    press("Read the configuration again")
    says("Read the configuration again: ")
    press("Drain")
    page.switch_to.alert.accept()
    says("Drain: ")
    assert call("9196", 1).wait(20) != 0, "it takes calls though it drains"
    device.terminate()
    device.wait(20)
    quiet()


def accessible():
    """No fault that axe calls serious, in light and dark."""
    page.get(url)
    phone = call("9196", 60)
    until("a call", lambda _: "connected" in rows()[0].text)
    identity = chromium.steady(lambda: rows()[0].get_attribute("data-call"))
    axe = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
    for colours in ["light", "dark"]:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colours}]})
        for view in ["calls", f"call/{identity}", "lines", "trunks", "events", "load", "settings", "server"]:
            page.execute_script("location.hash = arguments[0]", f"#/{view}")
            until("a heading", lambda _: page.find_element(By.TAG_NAME, "h1").text != "")
            page.execute_script(axe)
            found = page.execute_async_script("axe.run().then(arguments[0])")
            assert found["passes"], "axe checked nothing"
            faults = [(rule["id"], rule["nodes"][0]["html"][:200]) for rule in found["violations"] if rule["impact"] in ("serious", "critical")]
            assert not faults, (view, colours, faults)
            page.save_screenshot(str(shots / f"{view.split('/')[0]}-{colours}.png"))
    phone.terminate()
    phone.wait(20)


def hostile():
    """A caller whose name is a page of its own."""
    page.get(url)
    name = "%3Cimg%20src=x%20onerror=hacked()%3E" + "x" * 900
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.bind(("127.0.0.1", 0))
        wire.settimeout(10)
        port, (host, to) = wire.getsockname()[1], server.split(":")
        body = f"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=<script>hacked()</script>\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio {port} RTP/AVP 0\r\n"
        display = '\\"><img src=x onerror=hacked()>\u202e<script>hacked()</script>'

        def send(method, sequence, tag="", content="", branch="a"):
            lines = [
                f"{method} sip:9196@{server} SIP/2.0", f"Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{branch}", "Max-Forwards: 70",
                f'From: "{display}" <sip:{name}@127.0.0.1>;tag=1', f"To: <sip:9196@{server}>{tag}", "Call-ID: <script>hacked()</script>@x",
                f"CSeq: {sequence} {method}", f"Contact: <sip:x@127.0.0.1:{port}>", "User-Agent: <svg onload=hacked()>",
            ] + (["Content-Type: application/sdp"] if content else []) + [f"Content-Length: {len(content)}", "", content]
            wire.sendto("\r\n".join(lines).encode(), (host, int(to)))

        send("INVITE", 1, content=body)
        while not (answer := wire.recv(65_536).decode()).startswith("SIP/2.0 200"):
            assert answer[8] in "1", answer
        tag = next(line for line in answer.split("\r\n") if line.lower().startswith("to:")).split(">", 1)[1]
        send("ACK", 1, tag, branch="b")
        until("the call is listed", lambda _: "img" in rows()[0].text)
        identity = chromium.steady(lambda: rows()[0].get_attribute("data-call"))
        for view in ["calls", f"call/{identity}"]:
            page.execute_script("location.hash = arguments[0]", f"#/{view}")
            until("the name is text", lambda _: "onerror" in page.find_element(By.TAG_NAME, "main").text)
            page.save_screenshot(str(shots / f"hostile-{view.split('/')[0]}.png"))
            assert not all_of("main img:not(.ladder), main script, main svg[onload]"), "its markup became elements"
            assert page.execute_script("return document.documentElement.scrollWidth") <= 1_280, "the name breaks the page"
        assert page.execute_script("return typeof hacked") == "undefined"
        page.execute_script("const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s)")
        assert page.execute_script("return typeof hacked") == "undefined", "the policy lets scripts of others run"
        send("BYE", 2, tag, branch="c")
        go("calls", "Calls now 0")
        until("a call that nothing was heard of stands out", lambda _: "bad" in rows(2)[0].get_attribute("class"))


def login():
    """rest: a token that reads, and one for everything."""
    page.get(url)
    until("a form", lambda _: all_of("#token"))
    page.find_element(By.ID, "token").send_keys("hsw_wrong")
    press("Log in")
    until("it is refused", lambda _: "no token of this gateway" in page.find_element(By.CSS_SELECTOR, "[role=alert]").text)
    page.save_screenshot(str(shots / "login.png"))
    for token, may in [(rest[0], False), (rest[1], True)]:
        page.find_element(By.ID, "token").clear()
        page.find_element(By.ID, "token").send_keys(token)
        press("Log in")
        until("it is live", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live")
        phone = call("9196", 60)
        until("a call", lambda _: "connected" in rows()[0].text)
        go("settings", "Settings")
        until("it may see the settings, or not", lambda _: (len(all_of("main table")) == 2) == may and ("'admin'" in page.find_element(By.TAG_NAME, "main").text) != may)
        asked = page.execute_async_script("fetch('/v1/settings').then(answer => arguments[0](answer.status))")
        assert asked == (200 if may else 403), asked
        go("calls", "Calls now 1")
        until("it may hang up, or not", lambda _: all_of("td.acts button.danger")[0].is_enabled() == may)
        assert token not in page.page_source and page.execute_script("return document.cookie") == "", "the token is kept"
        phone.terminate()
        phone.wait(20)
        until("it has gone", lambda _: page.find_element(By.TAG_NAME, "h1").text == "Calls now 0")
        press("Log out")
        until("a form", lambda _: all_of("#token"))


def restart():
    """The test restarts the gateway when this says so."""
    page.get(url)
    until("it is live", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live")
    phone = call("9196", 60)
    until("a call", lambda _: "connected" in rows()[0].text)
    print("RESTART", flush=True)
    until("it is away", lambda _: page.find_element(By.CSS_SELECTOR, ".state").get_attribute("data-state") == "away", 60)
    until("it is live again", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live", 60)
    until("the call of before has gone", lambda _: page.find_element(By.TAG_NAME, "h1").text == "Calls now 0")
    phone.terminate()
    phone.wait(20)
    phone = call("9196", 5)
    until("a call of the new run", lambda _: "connected" in rows()[0].text)
    phone.wait(20)


def german():
    page.get(url)
    until("the page is German", lambda _: page.find_element(By.TAG_NAME, "h1").text == "Anrufe jetzt 0")
    assert page.execute_script("return document.documentElement.lang") == "de"
    for view, heading in [("load", "Last"), ("settings", "Einstellungen")]:
        go(view, heading)
        until("its facts", lambda _: all_of("dl.facts dd") or rows(2))
        page.save_screenshot(str(shots / f"{view}-german.png"))


# Answers of the gateway that the test makes up, and events: as many a second as the page is to bear.
made_up = """
const answers = ARGUMENT, ask = window.fetch.bind(window);
window.fetch = (path, rest) => {
  const known = answers[String(path).split("?")[0]];
  return known === undefined ? ask(path, rest) : Promise.resolve(new Response(JSON.stringify(known), { headers: { "Content-Type": "application/json" } }));
};
window.madeUp = { sent: 0, frames: [], run(rate) {
  const calls = answers["/v1/snapshot"].calls, kinds = ["call.held", "call.resumed", "call.muted", "call.unmuted"], started = performance.now();
  let last = 0;
  const frame = now => {
    if (last) this.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  setInterval(() => {
    for (const due = Math.floor(((performance.now() - started) / 1_000) * rate); this.sent < due; this.sent += 1) {
      const call = calls[(this.sent * 7) % calls.length];
      this.socket.onmessage({ data: JSON.stringify({
        id: `r.${this.sent + 1}`, prev: `r.${this.sent}`, type: kinds[Math.floor(this.sent / 500) % 4], time: new Date().toISOString(), line: call.line, call: call.id, data: {},
      }) });
    }
  }, 4);
} };
if (answers["/v1/snapshot"]) window.WebSocket = class {
  constructor() { window.madeUp.socket = this; setTimeout(() => this.onopen(), 0); }
  close() {}
};
"""


def make_up(answers):
    page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": made_up.replace("ARGUMENT", json.dumps(answers))})


def many():
    """500 calls and 900 events a second: rows that are in sight are elements, and a frame costs a layout."""
    began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    calls = [{"id": f"00000000-0000-0000-0000-{n:012}", "line": f"{1_000 + n}", "direction": "incoming", "state": "connected", "from": f"sip:{n}@x", "to": "sip:9196@x",
              "isOutgoing": False, "isOnHold": False, "isMuted": False, "began": began, "connected": began, "groupedWith": [], "codec": "opus"} for n in range(500)]
    make_up({"/v1/snapshot": {"position": "r.0", "calls": calls}, "/v1/calls": {"calls": []}})
    page.get(url)
    until("500 calls", lambda _: page.find_element(By.TAG_NAME, "h1").text == "Calls now 500")
    assert page.find_element(By.TAG_NAME, "table").get_attribute("aria-rowcount") == "501"
    assert 10 < len(rows()) < 60, f"{len(rows())} rows are elements"
    page.save_screenshot(str(shots / "many.png"))
    page.execute_script("document.querySelector('.long').scrollTop = 1e9")
    until("the last call", lambda _: rows()[-1].get_attribute("data-call").endswith("499"))
    height = page.execute_script("return document.querySelector('.long').scrollHeight")
    page.execute_script("document.querySelector('.long').scrollTop /= 2")
    until("those in the middle", lambda _: 100 < int(rows()[0].get_attribute("data-call")[-3:]) < 400)
    moved = page.execute_script("return document.querySelector('.long').scrollHeight") - height
    assert abs(moved) <= 2, f"the table changes its height by {moved} px"
    page.execute_cdp_cmd("Performance.enable", {})

    def figures():
        return {entry["name"]: entry["value"] for entry in page.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}

    before = figures()
    page.execute_script("madeUp.run(900)")
    until("9,000 events", lambda _: page.execute_script("return madeUp.sent") >= 9_000, 60)
    after, frames = figures(), sorted(page.execute_script("return madeUp.frames"))
    layouts, styles = (after[name] - before[name] for name in ("LayoutCount", "RecalcStyleCount"))
    p50, p95, p99 = (frames[int(len(frames) * part)] for part in (0.5, 0.95, 0.99))
    print(f"FRAMES {len(frames)}: p50 {p50:.1f} p95 {p95:.1f} p99 {p99:.1f} ms; {layouts:.0f} layouts, {styles:.0f} styles", flush=True)
    until("the rows follow", lambda _: any("on hold" in row.text or "muted" in row.text for row in rows()))
    assert len(rows()) < 60, f"{len(rows())} rows are elements"
    assert layouts <= 1.2 * len(frames) + 20, f"{layouts} layouts in {len(frames)} frames"
    quiet()


def sounds():
    """The message of a mailbox and the recording of a call are played in the page, from any place in them."""
    page.get(url)
    assert call("1900", 4).wait(30) == 0
    until("it has ended", lambda _: "1900" in rows(2)[0].text)
    chromium.steady(lambda: rows(2)[0].find_element(By.TAG_NAME, "a").click())
    until("its message", lambda _: all_of("li[data-message] audio"))
    item = page.find_element(By.CSS_SELECTOR, "li[data-message]")
    assert "Message in the mailbox 1900" in item.text and "new" in item.text, item.text
    play = """
        const [player, done] = arguments;
        player.onerror = () => done(`error ${player.error.code}`);
        player.onplaying = () => { player.onplaying = null; player.onseeked = () => done([player.duration, player.currentTime]); player.currentTime = 1; };
        player.muted = true;
        player.play();
    """
    for player in all_of(".sounds audio"):
        heard = page.execute_async_script(play, player)
        assert isinstance(heard, list) and heard[0] > 1.5 and heard[1] >= 0.9, (player.get_attribute("src"), heard)
        part = page.execute_async_script(
            "fetch(arguments[0], { headers: { Range: 'bytes=10-19' } }).then(async a => arguments[1]([a.status, (await a.arrayBuffer()).byteLength]))",
            player.get_attribute("src"))
        assert part == [206, 10], part
    page.execute_script("arguments[0].scrollIntoView()", page.find_element(By.CSS_SELECTOR, ".sounds"))
    page.save_screenshot(str(shots / "sounds.png"))
    press("Mark as heard")
    says("Mark as heard: done")
    until("it is", lambda _: "heard" in page.find_element(By.CSS_SELECTOR, "li[data-message] span").text)
    quiet()


def load():
    """The load and the settings, as the gateway has them."""
    page.get(url)
    assert call("9196", 1).wait(30) == 0
    go("load", "Load")
    until("its facts", lambda _: "Processor" in page.find_element(By.CSS_SELECTOR, ".facts").text)
    until("the call was set up", lambda _: "1 values" in page.find_element(By.TAG_NAME, "main").text)
    until("it goes on", lambda _: len(all_of(".chart polyline")[1].get_attribute("points").split()) >= 3)
    assert sum(int(bar.get_attribute("height") != "0") for bar in all_of(".chart .bar")) >= 3, "set-up, wait and MOS have bars"
    page.execute_script("document.querySelector('.charts').scrollIntoView()")
    page.save_screenshot(str(shots / "load.png"))
    go("settings", "Settings")
    until("the check", lambda _: any("listens" in row.text for row in rows()))
    shown = page.find_element(By.TAG_NAME, "main").text
    assert "https://push.example.test/…" in shown and "hidden" not in page.page_source, "the token of the URL is shown"
    assert "hookswitch.yaml:" in shown, shown
    before = len(rows(2))
    page.find_element(By.ID, "settings-all").click()
    until("all that there are", lambda _: len(rows(2)) > before + 30)
    write("#settings-filter", "backlog")
    until("those of the filter", lambda _: [row.get_attribute("data-setting") for row in rows(2)] == ["limits.backlog"])
    page.save_screenshot(str(shots / "settings.png"))
    quiet()


def strange():
    """What the views of load, settings and sounds show is text, whatever it is."""
    name = "<img src=x onerror=hacked()>\u202e\u2066<script>hacked()</script>" + "x" * 65_536
    histogram = {"buckets": [{"upTo": 1, "count": 1}, {"count": 2}], "count": 3, "mean": 1.5}
    identity = "00000000-0000-0000-0000-000000000001"
    a_call = {"id": identity, "line": name, "direction": "incoming", "state": "ended", "from": name, "to": name, "isOutgoing": False, "isOnHold": False, "isMuted": False,
              "began": "2026-01-01T00:00:00Z", "groupedWith": [], "endReason": name, "codec": name}
    message = {"id": identity, "caller": name, "name": name, "called": name, "received": name, "duration": 1, "heard": False, "file": name, "type": "audio/wav"}
    make_up({
        "/v1/health": {"draining": False, "legs": 1, "bridges": 0, "connections": 0, "contacts": 0, "freePorts": 1, "processor": 1, "cores": 2, "peakMemory": 1,
                       "setup": histogram, "laneWait": histogram, "mos": histogram, "refused": [{"cause": name, "count": 1}], "violations": 0},
        "/v1/settings": {"settings": [{"path": "domain", "value": name, "default": name, "place": name, "help": name}],
                         "findings": [{"grade": "warning", "subject": name, "text": name}]},
        f"/v1/calls/{identity}": a_call, "/v1/recordings": {"recordings": [{"id": "r.1", "file": name}]},
        "/v1/mailboxes": {"mailboxes": [{"line": name}]}, "/v1/mailboxes/" + page.execute_script("return encodeURIComponent(arguments[0])", name): {"messages": [message]},
    })
    page.get(url)
    for view in ["load", "settings", f"call/{identity}"]:
        page.execute_script("location.hash = arguments[0]", f"#/{view}")
        until("the name is text", lambda _: "onerror" in page.find_element(By.TAG_NAME, "main").text)
        if "call" in view:
            until("the sounds", lambda _: len(all_of(".sounds audio")) == 2)
        page.save_screenshot(str(shots / f"strange-{view.split('/')[0]}.png"))
        assert not all_of("main img:not(.ladder), main script"), "its markup became elements"
        assert page.execute_script("return document.documentElement.scrollWidth") <= 1_280, f"the name breaks {view}"
        assert page.execute_script("return typeof hacked") == "undefined"


def nodes():
    """The page of a gateway shows and steers a call of another one, and says when that is away."""
    page.get(url)
    until("it is live", lambda _: page.find_element(By.CSS_SELECTOR, ".state").text == "live")
    phone = call("9196", 60)
    until("the call and its gateway", lambda _: "9196 · gateway-2" in rows()[0].text and "connected" in rows()[0].text and "flows" in rows()[0].text)
    page.save_screenshot(str(shots / "nodes.png"))
    press("Hold", lambda: rows()[0])
    until("it is on hold", lambda _: "on hold" in rows()[0].text)
    press("Resume", lambda: rows()[0])
    until("it goes on", lambda _: "on hold" not in rows()[0].text)
    chromium.steady(lambda: rows()[0].find_element(By.TAG_NAME, "a").click())
    until("its ladder is drawn", lambda _: page.execute_script("return document.querySelector('img.ladder').naturalHeight") > 400)
    press("Hang up")
    until("it has ended", lambda _: "ended" in page.find_element(By.CSS_SELECTOR, ".facts").text)
    assert phone.wait(20) is not None
    go("server", "Server")
    until("both gateways", lambda _: [row.text.split()[:2] for row in rows()] == [["gateway-1", "answers"], ["gateway-2", "answers"]])
    print("KILL", flush=True)
    until("the other is away", lambda _: "cannot be reached" in rows()[1].text)
    page.save_screenshot(str(shots / "nodes-away.png"))
    assert page.find_element(By.CSS_SELECTOR, ".state").text == "live", "the page of the one that lives stays live"
    quiet()


page = chromium.browser("de" if scene == "german" else "en")
try:
    {
        "calls": calls, "views": views, "accessible": accessible, "hostile": hostile, "login": login, "restart": restart, "german": german, "many": many,
        "sounds": sounds, "load": load, "strange": strange, "nodes": nodes,
    }[scene]()
    print("DONE", flush=True)
finally:
    page.quit()
