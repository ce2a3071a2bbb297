"""The page of 'hookswitch load --web': URL SCREENSHOTS. Prints the verdict that the page shows, and DONE at the end."""
import pathlib, sys
import chromium
from selenium.webdriver.common.by import By

url, folder = sys.argv[1:]
shots = pathlib.Path(folder)
shots.mkdir(parents=True, exist_ok=True)
page = chromium.browser()


def until(what, condition, seconds=20):
    return chromium.until(page, shots, what, condition, seconds)


def tile(name):
    found = next(tile for tile in page.find_elements(By.CSS_SELECTOR, ".tile") if tile.find_element(By.TAG_NAME, "span").text == name)
    return found.find_element(By.TAG_NAME, "b").text


def plot(title):
    return page.find_element(By.CSS_SELECTOR, f"svg[aria-label='{title}']").find_elements(By.TAG_NAME, "path")


try:
    page.get(url)
    until("calls are up", lambda _: int(tile("up now")) > 0)
    until("a second is drawn", lambda _: "L" in plot("Calls up, and begun a second")[0].get_attribute("d"))
    judged = until("a call is judged", lambda _: int(tile("judged")))
    until("what calls were like is drawn", lambda _: len(plot("Set-up and answer")) > 0 and len(plot("MOS, lowest")) > 0)
    until("it goes on by itself", lambda _: int(tile("judged")) > judged)
    page.save_screenshot(str(shots / "load-running.png"))
    until("the report comes", lambda _: page.find_elements(By.CSS_SELECTOR, ".banner"), 60)
    print(page.find_element(By.CSS_SELECTOR, ".banner").text.split(";")[0], flush=True)
    assert tile("begun") == "50", tile("begun")
    page.save_screenshot(str(shots / "load-over.png"))
    faults = chromium.severe(page, ("favicon",))
    assert not faults, faults
    print("DONE", flush=True)
finally:
    page.quit()
