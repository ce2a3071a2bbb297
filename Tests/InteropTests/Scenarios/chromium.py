"""Debian's Chromium, without a window, for the scenes in a browser."""
import pathlib
from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait


def browser(language="en", words=()):
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for word in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,900", f"--lang={language}", *words]:
        options.add_argument(word)
    options.add_experimental_option("prefs", {"intl.accept_languages": language})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))


def telephone(microphone=None, language="en", trusts=""):
    """A browser with a microphone that plays a WAV over and over, or beeps. Its network is loopback alone.

    It believes certificates with keys of these hashes, which stand behind commas.
    """
    words = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--allow-loopback-in-peer-connection",
             "--autoplay-policy=no-user-gesture-required"] + ([f"--ignore-certificate-errors-spki-list={trusts}"] if trusts else [])
    return browser(language, words + ([f"--use-file-for-fake-audio-capture={microphone}"] if microphone else []))


def until(page, shots, what, condition, seconds=20):
    """Waits for a condition of the page."""
    def holds(page):
        try:
            return condition(page)
        except Exception:
            return False
    try:
        return WebDriverWait(page, seconds, poll_frequency=0.05).until(holds)
    except Exception:
        page.save_screenshot(str(pathlib.Path(shots) / "failed.png"))
        raise AssertionError(f"{what}; the page shows:\n{page.find_element(By.TAG_NAME, 'body').text}\n{page.get_log('browser')}")


def steady(act, seconds=20):
    """The result of an act on elements. The page may draw a row anew between the search for an element and its use: it is looked for again."""
    missed = [StaleElementReferenceException, ElementClickInterceptedException, IndexError, StopIteration]
    return WebDriverWait(None, seconds, poll_frequency=0.05, ignored_exceptions=missed).until(lambda _: [act()], "no such element")[0]


def severe(page, expected=("401",)):
    """What went wrong in the page, but for what was refused on purpose."""
    entries = [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
    return [entry for entry in entries if not any(word in entry["message"] for word in expected)]


# Keeps what is heard of a call: as the track of its loudspeaker has it.
listen = """
const [speaker, name] = arguments, heard = (window.heard ??= {})[name] = { rate: 48000, seconds: 0, pieces: [] };
const reader = new MediaStreamTrackProcessor({ track: speaker.srcObject.getAudioTracks()[0] }).readable.getReader();
(async () => {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const samples = new Float32Array(value.numberOfFrames);
    value.copyTo(samples, { planeIndex: 0, format: "f32-planar" });
    heard.rate = value.sampleRate;
    heard.seconds += value.numberOfFrames / value.sampleRate;
    heard.pieces.push(Int16Array.from(samples, sample => Math.max(-1, Math.min(1, sample)) * 32767));
    value.close();
  }
})();
"""

# All that was kept, in base64.
heard = """
const { rate, pieces } = window.heard[arguments[0]], reader = new FileReader();
reader.onload = () => arguments[1]([rate, reader.result.split(",")[1]]);
reader.readAsDataURL(new Blob(pieces));
"""


def save(page, name, file):
    """Writes what was kept as a WAV."""
    import base64
    import wave
    rate, content = page.execute_async_script(heard, name)
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(base64.b64decode(content))
