"""Calls to a program that sends back what it hears, as samples at 48 kHz, and the PESQ score (ITU-T P.862) of what comes back.

Run by scripts/quality. Sound that comes back from a program was encoded twice: by the caller, and by the gateway. So it is held to the
codec twice without a program: a line that echoes packets is called, and called again with what was heard, which sox has brought to 48 kHz
between. Exits with 1 when a codec is worse through the program by more than the allowance.
"""
import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile

from calls import free_ports, score, serve, speak

CODECS = (("pcmu", "nb"), ("pcma", "nb"), ("g722", "wb"), ("l16/16000", "wb"), ("opus", "wb"))
SECONDS = 11


LINES = """  - {{ number: "9196", application: echo }}
  - {{ number: "9300", application: stream, url: "ws://127.0.0.1:{program}/", format: raw, encoding: l16/48000 }}"""


@contextlib.contextmanager
def ended(child):
    """A process that is ended and waited for at the end."""
    try:
        yield child
    finally:
        child.terminate()
        child.wait(20)


def call(hookswitch, folder, number, codec, said, sip, clients):
    """What the caller heard of what was said, at 48 kHz."""
    heard, wide = f"{folder}/heard.wav", f"{folder}/wide-{os.path.basename(said)}"
    subprocess.run(
        [hookswitch, "call", f"sip:{number}@127.0.0.1:{sip}", "--codec", codec, "--play", said, "--record", heard,
         "--duration", str(SECONDS), "--ports", f"{clients}-{clients + 39}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    subprocess.run(["sox", "-V1", heard, "-r", "48000", "-b", "16", wide], check=True)
    return wide


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hookswitch", required=True)
    options.add_argument("--echo", required=True, help="the program")
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--allowance", type=float, default=0.1)
    chosen, worst = options.parse_args(), 0.0
    with contextlib.ExitStack() as left:
        folder = left.enter_context(tempfile.TemporaryDirectory(prefix="hookswitch-pesq-"))
        speak(folder)
        spoken, said = f"{folder}/once-0.wav", f"{folder}/said-0.wav"
        ports = free_ports(160)
        sip, program, media, clients = ports, ports + 2, ports + 60, ports + 120
        left.enter_context(ended(subprocess.Popen([chosen.echo, str(program)], stdout=subprocess.DEVNULL)))
        left.enter_context(ended(serve(folder, chosen.hookswitch, sip, media, LINES.format(program=program))))
        for codec, band in CODECS:
            once, twice, through = [], [], []
            for _ in range(chosen.runs):
                echoed = call(chosen.hookswitch, folder, 9196, codec, said, sip, clients)
                once.append(score(spoken, echoed, band))
                twice.append(score(spoken, call(chosen.hookswitch, folder, 9196, codec, echoed, sip, clients), band))
                through.append(score(spoken, call(chosen.hookswitch, folder, 9300, codec, said, sip, clients), band))
            alone, here, there = statistics.median(once), statistics.median(through), statistics.median(twice)
            worst = max(worst, there - here)
            print(
                f"{codec:10} {band}  through the program {here:.2f}, the codec twice {there:.2f}, difference {here - there:+.2f}"
                f" (once {alone:.2f})", flush=True)
    print(f"worst by {worst:.2f}, {chosen.allowance} are allowed")
    return 1 if worst > chosen.allowance else 0


sys.exit(main())
