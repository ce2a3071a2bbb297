"""Calls of two baresips, directly and through hookswitch serve, and the PESQ score (ITU-T P.862) of what each heard of the other.

Run by scripts/quality. Prints a line for each pair of codecs; exits with 1 when a pair through the gateway is worse by more than the allowance than
the same pair called directly. Two that share no codec cannot call each other directly: they are measured beside the two codecs alone, one after the
other without a network (libopus at the bit rates of baresip and of the gateway, and G.711), made of what the speaker's baresip had encoded in that call.
"""
import argparse
import contextlib
import ctypes
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import wave

import numpy
from pesq import pesq

TEXTS = (
    ("en-us", "The quick brown fox jumps over the lazy dog, and seven wizards mix a potion of old beer."),
    ("en-gb", "Please call Stella, and ask her to bring six spoons of fresh snow peas and five thick slabs of cheese."),
)
# Codecs of caller and callee, and what PESQ compares: narrow or wide band.
PAIRS = (
    (("pcmu", "pcmu"), "nb"), (("pcma", "pcma"), "nb"), (("g722", "g722"), "wb"), (("l16", "l16"), "wb"), (("opus", "opus"), "wb"),
    (("opus", "pcmu"), "nb"), (("pcmu", "opus"), "nb"),
)
# Bits per second: baresip's default, and OpusSettings'.
CLIENT_BITRATE, GATEWAY_BITRATE = 28000, 24000
NAMES = {"opus": "opus/48000/2", "g722": "G722/16000/1", "pcmu": "PCMU/8000/1", "pcma": "PCMA/8000/1", "l16": "L16/16000/1"}
SECONDS = 12


def free_ports(count):
    """A run of UDP ports that nobody has, from an even one on."""
    for first in range(26000 + os.getpid() % 500 * 40, 60000, count + count % 2):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                sockets[-1].bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    sys.exit("no ports are free")


def speak(folder):
    """What caller and callee say: a file for baresip, and the samples."""
    files = []
    for number, (voice, text) in enumerate(TEXTS):
        raw, said = f"{folder}/raw-{number}.wav", f"{folder}/said-{number}.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", "170", "-w", raw, text], check=True)
        subprocess.run(["sox", raw, "-r", "48000", "-c", "1", "-b", "16", f"{folder}/once-{number}.wav", "gain", "-n", "-6"], check=True)
        # Silence before, so that nothing of it is lost while the call is set up; after it silence, for baresip hangs up where its file ends.
        subprocess.run(["sox", f"{folder}/once-{number}.wav", said, "pad", "1.5", "60"], check=True)
        files.append(said)
    return files


class Baresip:
    def __init__(self, folder, name, port, codec, source, arguments=()):
        self.folder = f"{folder}/{name}"
        os.makedirs(self.folder)
        with open(f"{self.folder}/config", "w") as file:
            file.write(f"""poll_method epoll
sip_listen 127.0.0.1:{port}
net_interface 127.0.0.1
audio_source aufile,{source}
audio_player aubridge,{name}
audio_alert aubridge,{name}
rtp_ports {port + 2}-{port + 31}
ausrc_srate 48000
auplay_srate 48000
ausrc_channels 1
auplay_channels 1
jitter_buffer_delay 3-10
snd_path {self.folder}
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module l16.so
module srtp.so
module opus.so
module aufile.so
module aubridge.so
module sndfile.so
module_app account.so
module_app menu.so
""")
        with open(f"{self.folder}/accounts", "w") as file:
            file.write(f"<sip:{name}@127.0.0.1:{port};transport=udp>;regint=0;audio_codecs={NAMES[codec]};answermode=auto\n")
        open(f"{self.folder}/contacts", "w").close()
        self.log = open(f"{self.folder}/log", "w")
        self.program = subprocess.Popen(
            ["baresip", "-f", self.folder, "-t", str(SECONDS + 6), *arguments], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env={**os.environ, "HOME": self.folder})

    def end(self):
        self.program.send_signal(signal.SIGTERM)
        try:
            self.program.wait(10)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()
        self.log.close()

    def recording(self, kind):
        """What it heard ("dec"), or what it had to encode ("enc")."""
        names = sorted(name for name in os.listdir(self.folder) if name.startswith("dump-") and name.endswith(f"-{kind}.wav"))
        if not names:
            with open(f"{self.folder}/log") as file:
                sys.exit(f"{self.folder}: nothing was recorded\n{file.read()[-2000:]}")
        return f"{self.folder}/{names[-1]}"


def call(folder, codecs, said, gateway):
    """One call of SECONDS; the caller and the callee after it. `gateway`: its SIP port, the port that it takes its trunk to be on, and
    forty that it leaves to the caller; None: directly."""
    os.makedirs(folder)
    callee_port = gateway[1] if gateway else free_ports(40)
    callee = Baresip(folder, "2000", callee_port, codecs[1], said[1])
    time.sleep(0.5)
    target = f"sip:2000@127.0.0.1:{gateway[0]}" if gateway else f"sip:2000@127.0.0.1:{callee_port}"
    caller = Baresip(folder, "caller", gateway[2] if gateway else free_ports(40), codecs[0], said[0], ["-e", f"/dial {target}"])
    time.sleep(SECONDS)
    for one in (caller, callee):
        one.end()
    return caller, callee


def samples(path, rate):
    """At `rate`, as one channel; the header of a recording that was cut off is not believed."""
    raw = subprocess.run(["sox", "-V1", "--ignore-length", path, "-r", str(rate), "-c", "1", "-b", "16", "-t", "raw", "-e", "signed", "-"], check=True, stdout=subprocess.PIPE).stdout
    return numpy.frombuffer(raw[: len(raw) // 2 * 2], dtype=numpy.int16).astype(numpy.float64)


def through_opus(pcm, rate, bitrate):
    """Encoded and decoded by libopus at `rate`, 20 ms by 20 ms."""
    library = ctypes.CDLL("libopus.so.0")
    library.opus_encoder_create.restype = library.opus_decoder_create.restype = ctypes.c_void_p
    voip, bitrate_request, code = 2048, 4002, ctypes.c_int()
    encoder = ctypes.c_void_p(library.opus_encoder_create(rate, 1, voip, ctypes.byref(code)))
    decoder = ctypes.c_void_p(library.opus_decoder_create(8000, 1, ctypes.byref(code)))
    library.opus_encoder_ctl(encoder, bitrate_request, ctypes.c_int(bitrate))
    length, packet, room, heard = rate // 50, ctypes.create_string_buffer(1500), (ctypes.c_int16 * 960)(), []
    for begin in range(0, len(pcm) - length, length):
        frame = numpy.ascontiguousarray(pcm[begin : begin + length], dtype=numpy.int16)
        size = library.opus_encode(encoder, frame.ctypes.data_as(ctypes.c_void_p), length, packet, 1500)
        count = library.opus_decode(decoder, packet, size, room, 960, 0)
        heard.append(numpy.array(room[:count], dtype=numpy.int16))
    library.opus_encoder_destroy(encoder)
    library.opus_decoder_destroy(decoder)
    return numpy.concatenate(heard)


def through_pcmu(pcm):
    """Sixteen bits to G.711 and back."""
    wide = pcm.astype(numpy.int32)
    magnitude = numpy.minimum(numpy.abs(wide), 32635) + 132
    exponent = numpy.clip(numpy.floor(numpy.log2(magnitude)).astype(int) - 7, 0, 7)
    decoded = (((magnitude >> (exponent + 3)) & 15) * 8 + 132 << exponent) - 132
    return numpy.where(wide < 0, -decoded, decoded).astype(numpy.int16)


def codecs_alone(spoken, first, folder):
    """What the two codecs make of what a client had to encode, the client's first."""
    if first == "opus":
        heard = through_pcmu(through_opus(samples(spoken, 48000), 48000, CLIENT_BITRATE))
    else:
        heard = through_opus(through_pcmu(samples(spoken, 8000)), 8000, GATEWAY_BITRATE)
    path = f"{folder}/alone.wav"
    with wave.open(path, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(heard.tobytes())
    return path


def score(said, heard, band):
    rate = 16000 if band == "wb" else 8000
    reference, degraded = samples(said, rate), samples(heard, rate)
    size = 1 << (len(reference) + len(degraded)).bit_length()
    likeness = numpy.fft.irfft(numpy.fft.rfft(degraded, size) * numpy.conj(numpy.fft.rfft(reference, size)), size)
    place = int(numpy.argmax(numpy.abs(likeness)))
    place = place - size if place > size // 2 else place
    # A third of a second more on each side, and as much silence around what was said.
    around = rate // 3
    aligned = numpy.zeros(len(reference) + 2 * around)
    begin, end = max(0, place - around), min(len(degraded), place + len(reference) + around)
    aligned[begin - place + around : begin - place + around + end - begin] = degraded[begin:end]
    padded = numpy.concatenate([numpy.zeros(around), reference, numpy.zeros(around)])
    return pesq(rate, padded, aligned, band)


def serve(folder, program, sip, media, lines):
    """hookswitch serve on loopback, once it is ready."""
    with open(f"{folder}/hookswitch.yaml", "w") as file:
        file.write(f"""domain: 127.0.0.1
sip:
  udp: ["127.0.0.1:{sip}"]
media:
  ports: {media}-{media + 59}
  codecs: [opus, g722, pcmu, pcma, l16/16000]
access:
  guests: ["127.0.0.0/8"]
lines:
{lines}
data: {folder}/data
""")
    with open(f"{folder}/gateway.log", "w") as log:
        serving = subprocess.Popen([program, "serve", "--config", f"{folder}/hookswitch.yaml"], stdout=log, stderr=log)
    for _ in range(100):
        with open(f"{folder}/gateway.log") as file:
            if "is ready" in file.read():
                return serving
        time.sleep(0.1)
    serving.kill()
    sys.exit(f"hookswitch serve did not start: {open(f'{folder}/gateway.log').read()}")


def start_gateway(folder, program):
    ports = free_ports(160)
    sip, trunk = ports, ports + 4
    line = f'  - {{ number: "2000", trunk: {{ host: "127.0.0.1:{trunk}" }} }}'
    return serve(folder, program, sip, ports + 60, line), (sip, trunk, ports + 120)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hookswitch", required=True)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--allowance", type=float, default=0.1)
    options.add_argument("--pairs", help="only those of these, as pcmu-opus,g722-g722")
    options.add_argument("--keep", help="leave configurations, logs and recordings in this folder")
    options.add_argument("--json")
    chosen = options.parse_args()
    rows, worst = [], 0.0
    pairs = [pair for pair in PAIRS if not chosen.pairs or "-".join(pair[0]) in chosen.pairs.split(",")]
    with contextlib.ExitStack() as left:
        folder = chosen.keep or left.enter_context(tempfile.TemporaryDirectory(prefix="hookswitch-pesq-"))
        os.makedirs(folder, exist_ok=True)
        said = speak(folder)
        once = [f"{folder}/once-0.wav", f"{folder}/once-1.wav"]
        serving, ports = start_gateway(folder, chosen.hookswitch)
        try:
            for number, (codecs, band) in enumerate(pairs):
                beside, through = ([], []), ([], [])
                for run in range(chosen.runs):
                    clients = call(f"{folder}/{number}-gateway-{run}", codecs, said, ports)
                    direct = call(f"{folder}/{number}-direct-{run}", codecs, said, None) if codecs[0] == codecs[1] else None
                    for side in range(2):
                        speaker, listener = clients[side], clients[1 - side]
                        through[side].append(score(once[side], listener.recording("dec"), band))
                        reference = direct[1 - side].recording("dec") if direct else codecs_alone(speaker.recording("enc"), codecs[side], folder)
                        beside[side].append(score(once[side], reference, band))
                for side, name in enumerate(("to the callee", "to the caller")):
                    there, here = statistics.median(beside[side]), statistics.median(through[side])
                    worst = max(worst, there - here)
                    reference = "directly" if codecs[0] == codecs[1] else "codecs alone"
                    pair = "-".join(codecs)
                    rows.append({"pair": pair, "side": name, "band": band, "reference": reference, "beside": beside[side], "through": through[side]})
                    print(f"{pair:10} {name:14} {band}  through the gateway {here:.2f}, {reference} {there:.2f}, difference {here - there:+.2f}", flush=True)
        finally:
            serving.terminate()
            serving.wait(10)
    if chosen.json:
        with open(chosen.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"worst by {worst:.2f}, {chosen.allowance} are allowed")
    return 1 if worst > chosen.allowance else 0


if __name__ == "__main__":
    sys.exit(main())
