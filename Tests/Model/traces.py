"""Reads journals, and tells each leg as the model of Tests/Model/leg.pml does: the events of the alphabet below, in their order.

usage: traces.py JOURNAL...                  prints each distinct trace once: how many legs have it, the first of them, its events
       traces.py --write FOLDER JOURNAL...   writes alphabet.pml and traces.pml, for the model
       traces.py --judge OUTPUT JOURNAL...   prints the traces that the checker's output does not accept; exit code 1 where there are any
"""

import argparse
import json
import pathlib
import re
import sys

# What the model says, in the order of its numbers (leg.pml has the same names).
ALPHABET = """
    RX_INVITE RX_ACK RX_CANCEL RX_BYE TX_100 TX_18X TX_2XX TX_FINAL
    TX_INVITE TX_ACK TX_CANCEL TX_BYE RX_100 RX_18X RX_2XX RX_FINAL UNANSWERED
    REPORT REPORT_OK REPORT_ERROR CONNECTING CONNECTED REPORT_ENDED
    START ANSWER END HOLD RESUME
    START_DONE ANSWER_DONE END_DONE HOLD_DONE RESUME_DONE
    START_FAILED ANSWER_FAILED END_FAILED HOLD_FAILED RESUME_FAILED
    RESERVED REFUSED CONFIGURED OPENED STARTED STOPPED CLOSED RELEASED ENDED
""".split()

KINDS = {
    "sip.unanswered": "UNANSWERED", "report.incoming": "REPORT", "report.incoming.ok": "REPORT_OK", "report.incoming.error": "REPORT_ERROR",
    "report.connecting": "CONNECTING", "report.connected": "CONNECTED", "report.ended": "REPORT_ENDED",
    "perform.start": "START", "perform.answer": "ANSWER", "perform.end": "END", "media.reserved": "RESERVED", "media.refused": "REFUSED",
    "media.configured": "CONFIGURED", "media.opened": "OPENED", "media.started": "STARTED", "media.stopped": "STOPPED",
    "media.closed": "CLOSED", "media.released": "RELEASED", "call.ended": "ENDED",
}
COMPLETIONS = {"action.fulfilled": "DONE", "action.failed": "FAILED", "action.timeout": "FAILED"}
ACTIONS = {"start": "START", "answer": "ANSWER", "end": "END"}


class Leg:
    """A call of the journal, and its events so far."""

    def __init__(self, run, call, line):
        self.run, self.call, self.line = run, call, line
        self.events = []
        self.cseq = self.winner = None
        self.outgoing, self.established = None, False
        self.holds = {}

    @property
    def is_over(self):
        return "ENDED" in self.events or "TX_FINAL" in self.events and "REPORT_OK" not in self.events

    def note(self, kind, details):
        event = self.message(kind == "sip.tx", details) if kind in ("sip.rx", "sip.tx") else self.step(kind, details)
        # Provisional responses are repeated as often as telephones ring.
        if event and not (event.endswith(("_100", "_18X")) and self.events[-1:] == [event]):
            self.events.append(event)

    def step(self, kind, details):
        action = details.get("action")
        if kind == "perform.held":
            self.holds[action] = "HOLD" if details.get("on") else "RESUME"
            return self.holds[action]
        if kind in COMPLETIONS:
            name = self.holds.get(action) if details.get("class") == "held" else ACTIONS.get(details.get("class"))
            return name and f"{name}_{COMPLETIONS[kind]}"
        return KINDS.get(kind)

    def message(self, sent, details):
        if details.get("retransmission"):
            return None
        method, status, cseq = details.get("method"), details.get("status"), details.get("cseq")
        way = "TX_" if sent else "RX_"
        if status is None:
            return self.request(sent, way, method, cseq, details.get("remoteTag"))
        # Each side counts its own requests.
        if method != "INVITE" or cseq != self.cseq or sent == self.outgoing:
            return None
        if status == 100:
            return way + "100"
        if status < 200:
            return way + "18X"
        if status >= 300:
            return None if self.established else way + "FINAL"
        if self.established:
            return None
        self.established, self.winner = True, details.get("remoteTag")
        return way + "2XX"

    def request(self, sent, way, method, cseq, tag):
        if method == "INVITE":
            if self.established or self.outgoing not in (None, sent):
                return None
            self.cseq, self.outgoing = cseq, sent
            return way + "INVITE"
        if self.outgoing and self.winner and tag and tag != self.winner:
            return None
        if method == "ACK" and self.established and cseq == self.cseq and sent == self.outgoing:
            return None if way + "ACK" in self.events else way + "ACK"
        if method == "CANCEL" and sent == self.outgoing and cseq == self.cseq and not self.established:
            return way + "CANCEL"
        return way + "BYE" if method == "BYE" else None


def legs(path):
    """The legs of a file that are whole: where a run is cut off, or misses events, those that are up then are left out."""
    run, known, last = "", {}, None
    for number, line in enumerate(open(path, "rb"), 1):
        try:
            event = json.loads(line)
        except ValueError:
            # A killed process may leave half a line; the sequence numbers say whether an event is missing.
            print(f"traces.py: {path}:{number} cannot be read, and is passed over", file=sys.stderr)
            continue
        kind, call, details = event["kind"], event.get("call"), event.get("details", {})
        if kind in ("gateway.started", "gateway.stopped", "journal.lost") or last is not None and event["seq"] != last + 1:
            # A gateway that stopped has ended every call, or the model says that it has not.
            yield from (leg for leg in known.values() if leg.is_over or kind == "gateway.stopped")
            known = {}
        last = event["seq"]
        if kind == "gateway.started":
            run = details.get("run", "")
        # The model has no reset of a provider.
        if kind == "provider.reset":
            known = {call: leg for call, leg in known.items() if leg.is_over or leg.line != event.get("line")}
        if not call:
            continue
        if call not in known:
            begins = kind in ("perform.start", "media.reserved") or kind == "sip.rx" and details.get("method") == "INVITE"
            if not begins or "status" in details:
                continue
            known[call] = Leg(run, call, event.get("line"))
        known[call].note(kind, details)
    yield from (leg for leg in known.values() if leg.is_over)


def main():
    parser = argparse.ArgumentParser(prog="traces.py")
    parser.add_argument("--write", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--judge", metavar="OUTPUT", type=pathlib.Path)
    parser.add_argument("journals", nargs="*", metavar="JOURNAL")
    options = parser.parse_args()
    traces = {}
    for path in options.journals:
        for leg in legs(path):
            if leg.events:
                traces.setdefault(tuple(leg.events), []).append(leg)
    if options.write:
        return write(options.write, traces)
    if options.judge:
        return judge(options.judge.read_text(), traces)
    for events, those in sorted(traces.items(), key=lambda trace: -len(trace[1])):
        print(len(those), those[0].call, *events)


def write(folder, traces):
    names = "".join(f"#define {name} {number}\n" for number, name in enumerate(ALPHABET, 1))
    (folder / "alphabet.pml").write_text(names)
    if not traces:
        return
    longest = max(map(len, traces))
    rows = ", ".join("{" + ", ".join(str(ALPHABET.index(name) + 1) for name in events) + ", 0}" for events in traces)
    array = f"static const unsigned char traces[][{longest + 1}] = {{ {rows} }};"
    (folder / "traces.pml").write_text(f"#define TRACES {len(traces)}\nc_decl {{ {array} }}\n")


def judge(output, traces):
    accepted = set(map(int, re.findall(r"^accepted (\d+)$", output, re.MULTILINE)))
    strange = [those for number, those in enumerate(traces.values()) if number not in accepted]
    for those in strange:
        print(f"not the model's: {len(those)} legs, the first is call {those[0].call} of run {those[0].run}:", *those[0].events)
    legs_in_all = sum(map(len, traces.values()))
    print(f"{legs_in_all} legs of journals, {len(traces)} different ways: {len(traces) - len(strange)} are the model's")
    return 1 if strange else 0


if __name__ == "__main__":
    sys.exit(main())
