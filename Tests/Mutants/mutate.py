"""Puts small mistakes into the code, one at a time, and counts those that a test finds. See scripts/mutate --help."""

import argparse
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import sites

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".build-mutants"
TREE = FOLDER / "tree"
BUILD = ["swift", "build", "-c", "release", "--build-tests", "-Xswiftc", "-enable-testing"]
TEST = ["swift", "test", "-c", "release", "-Xswiftc", "-enable-testing", "--skip-build"]
# The clock is the machine's there: one after the other, and those of the room alone.
REAL_TIME = r"\.RealTime/"
REHEARSALS = "RehearsalTests"
# Tests that run, and what they need; no program is built. In tests that are left out programs run, or sources are measured.
MANIFEST = """

let mutantTests = %s
var wanted: Set<String> = [], next = mutantTests
while let name = next.popLast() {
    guard wanted.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    for dependency in target.dependencies {
        switch dependency {
        case .targetItem(let name, _), .byNameItem(let name, _): next.append(name)
        default: break
        }
    }
}
package.products = []
package.targets.removeAll { !wanted.contains($0.name) }
"""
TESTS = [f"{room}Tests" for room in [*sites.ROOMS, "Primitives", "Runtime", "Audio", "Store", "Console", "LiveCommunicationKit"]] + [REHEARSALS]
# Bytes of memory that a mutant may take.
MEMORY = 12 << 30


def say(text):
    print(text, file=sys.stderr, flush=True)


def fail(text, code=3):
    say(f"mutate: {text}")
    sys.exit(code)


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def draw(count, seed, rooms):
    """Mutants with their numbers, from 1 on; one of a line at most, spread over the rooms as their sites are."""
    found = []
    for room in rooms:
        for path in sorted((ROOT / sites.ROOMS[room]).rglob("*.swift")):
            name = str(path.relative_to(ROOT))
            found += [(room, site) for site in sites.sites(name, path.read_text())]
    random.Random(seed).shuffle(found)
    drawn, taken = [], set()
    for room, site in found:
        # A swap takes the line below, too.
        places = {(site.file, site.line), (site.file, site.line + 1 if site.kind == "swap" else site.line)}
        if taken & places:
            continue
        taken |= places
        drawn.append({"number": len(drawn) + 1, "room": room, "site": site})
        if len(drawn) == count:
            return drawn, len(found)
    return drawn, len(found)


def lay_out(mutants):
    """The tree with all mutants in it. A file that is the same stays as it is, so that little is built again."""
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant["site"].file, []).append(mutant)
    wanted = set(tracked())
    for name in wanted:
        target = TREE / name
        if name in by_file:
            content = mutated((ROOT / name).read_text(), by_file[name]).encode()
        else:
            content = (ROOT / name).read_bytes()
        if name == "Package.swift":
            content += (MANIFEST % json.dumps(TESTS)).encode()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(ROOT / name, target)
    for path in TREE.rglob("*"):
        name = str(path.relative_to(TREE))
        if path.is_file() and not name.startswith((".build", ".git/")) and name not in wanted:
            path.unlink()


def mutated(text, mutants):
    lines = text.split("\n")
    for mutant in mutants:
        site = mutant["site"]
        lines[site.line] = site.text.replace("@", str(mutant["number"]))
        if site.kind == "swap":
            lines[site.line + 1] = ""
    return "\n".join(lines) + sites.SWITCH


def borrow_dependencies():
    """The packages that the main build has fetched, so that nothing is fetched again."""
    for name in ["repositories", "checkouts", "workspace-state.json"]:
        source, target = ROOT / ".build" / name, TREE / ".build" / name
        if source.exists() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(source, target, symlinks=True) if source.is_dir() else shutil.copy(source, target)


def build(mutants):
    """Builds the tree; mutants that the compiler refuses are left out. Gives those that are in it."""
    while True:
        lay_out(mutants)
        borrow_dependencies()
        done = subprocess.run(BUILD, cwd=TREE, capture_output=True, text=True)
        if done.returncode == 0:
            return mutants
        output = done.stdout + done.stderr
        places = {(name, int(line) - 1) for name, line in re.findall(re.escape(str(TREE)) + r"/(\S+?):(\d+):\d+: error:", output)}
        files = {name for name, _ in places}
        # An error elsewhere in a file may come of its mutants, too.
        refused = [m for m in mutants if (m["site"].file, m["site"].line) in places] or [m for m in mutants if m["site"].file in files]
        if not refused:
            fail("the tree does not build:\n" + "\n".join(re.findall(r".*error:.*", output)[:10]))
        say(f"the compiler refuses {len(refused)} of {len(mutants)}")
        mutants = [m for m in mutants if m not in refused]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def run(number, words, seconds):
    """Runs tests with a mutant; gives the first that fails, "died", "hung", or None. It ends with the first that fails."""
    environment = {**os.environ, "HOOKSWITCH_MUTANT": str(number), "SWIFT_BACKTRACE": "enable=no"}
    process = subprocess.Popen(
        [*NAMESPACE, *TEST, *words], cwd=TREE, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True, preexec_fn=limit_memory)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
    signal.alarm(int(seconds))
    begin = time.monotonic()
    try:
        for line in process.stdout:
            if match := re.search(r'✘ Test (".*?"|\S+\(\)).* recorded an issue', line):
                return match.group(1).strip('"')
        code = process.wait()
        if time.monotonic() - begin >= int(seconds):
            return "hung"
        return None if code == 0 else "died"
    finally:
        signal.alarm(0)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def stages(room):
    own = f"{room}Tests"
    return [
        ["--filter", rf"^{own}\.", "--skip", REAL_TIME],
        ["--filter", rf"^{own}\.RealTime/", "--no-parallel"],
        ["--skip", rf"{REAL_TIME}|{REHEARSALS}|^{own}\."],
        ["--filter", REHEARSALS],
    ]


def baseline():
    """Seconds of the unit tests, of those on real time and of the rehearsals without a mutant. A test that fails here says nothing about mutants."""
    times = []
    for words in [["--skip", f"{REAL_TIME}|{REHEARSALS}"], ["--filter", REAL_TIME, "--no-parallel"], ["--filter", REHEARSALS]]:
        begin = time.monotonic()
        if found := run(0, words, 3_600):
            fail(f"without a mutant this fails: {found}")
        times.append(time.monotonic() - begin)
    return times


def judge(mutant, times):
    begin = time.monotonic()
    killer, stage = None, 0
    for stage, words in enumerate(stages(mutant["room"]), 1):
        if killer := run(mutant["number"], words, 60 + 5 * times[2 if words[1] == REHEARSALS else 0]):
            break
    site = mutant["site"]
    return {
        "number": mutant["number"], "room": mutant["room"], "file": site.file, "line": site.line + 1, "kind": site.kind, "change": site.change,
        "killed_by": killer, "stage": stage if killer else None, "seconds": round(time.monotonic() - begin, 1),
    }


def equivalents():
    """Mutants that somebody looked at: they change nothing that anybody could see, each with the reason."""
    listed = json.loads((Path(__file__).parent / "equivalent.json").read_text())
    return {(entry["file"], entry["change"]): entry["why"] for entry in listed}


def report(results, total, out):
    known = equivalents()
    rooms = {}
    for result in results:
        counts = rooms.setdefault(result["room"], [0, 0, 0])
        same = (result["file"], result["change"]) in known
        counts[0 if result["killed_by"] else 1 if same else 2] += 1
    print(f"{'room':<12} {'killed':>7} {'same':>7} {'survived':>9}", file=out)
    for room, (killed, same, survived) in sorted(rooms.items()):
        print(f"{room:<12} {killed:>7} {same:>7} {survived:>9}", file=out)
    killed, same, survived = (sum(counts[i] for counts in rooms.values()) for i in range(3))
    share = 100 * killed / max(killed + survived, 1)
    print(f"{len(results)} mutants of {total} places: {share:.0f} % of those that change anything are killed", file=out)
    for result in results:
        if not result["killed_by"] and (result["file"], result["change"]) not in known:
            print(f"survived: {result['file']}:{result['line']}: {result['kind']}: {result['change']}", file=out)
    return share


def arguments():
    parser = argparse.ArgumentParser(prog="mutate", add_help=False)
    parser.add_argument("count", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=1)
    parser.add_argument("--rooms", default=",".join(sites.ROOMS))
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--report", action="store_true")
    chosen = parser.parse_args()
    rooms = chosen.rooms.split(",")
    for room in rooms:
        if room not in sites.ROOMS:
            fail(f"there is no room '{room}'; rooms are {', '.join(sites.ROOMS)}", 2)
    if not 1 <= chosen.count <= 9_999:
        fail(f"takes 1 to 9999 mutants, got {chosen.count}", 2)
    return chosen, rooms


def main():
    chosen, rooms = arguments()
    state = FOLDER / f"{chosen.seed}.json"
    if chosen.anew and state.exists():
        state.unlink()
    known = json.loads(state.read_text()) if state.exists() else {"results": []}
    drawn, total = draw(chosen.count, chosen.seed, rooms)
    texts = {(m["site"].file, m["site"].change, m["site"].kind) for m in drawn}
    results = [r for r in known["results"] if (r["file"], r["change"], r["kind"]) in texts]
    if not chosen.report:
        done = {(r["file"], r["change"], r["kind"]) for r in results}
        play([m for m in drawn if (m["site"].file, m["site"].change, m["site"].kind) not in done], drawn, results, state)
    share = report(results, total, sys.stdout)
    sys.exit(0 if share >= chosen.least else 1)


def play(left, drawn, results, state):
    if not left:
        return
    say(f"building {len(drawn)} mutants (release)")
    built = {m["number"] for m in build(drawn)}
    left = [m for m in left if m["number"] in built]
    say("the tests without a mutant")
    times = baseline()
    say(f"they take {sum(times):.0f} s")
    for count, mutant in enumerate(left, 1):
        result = judge(mutant, times)
        results.append(result)
        state.write_text(json.dumps({"results": results}, indent=1, ensure_ascii=False))
        verdict = f"killed by {result['killed_by']}" if result["killed_by"] else "SURVIVED"
        say(f"{count}/{len(left)} {result['file']}:{result['line']} {result['kind']}: {verdict} ({result['seconds']} s)")


NAMESPACE = os.environ.get("HOOKSWITCH_NAMESPACE", "").split()

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    main()
