"""Measures how long a click takes to a program and back: calls sip:NUMBER@127.0.0.1:PORT COUNT times at once, for SECONDS, with PCMU.

Sends a loud packet twice a second among silent ones, and prints the milliseconds from the sending of each to the first loud packet that
comes.
"""

import heapq
import random
import select
import socket
import struct
import sys
import time

SILENCE, CLICK = b"\xff" * 160, b"\x00\x80" * 80
FRAME = 0.02


class Call:
    def __init__(self, number, server):
        self.server = server
        self.sip = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.rtp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for each in (self.sip, self.rtp):
            each.bind(("127.0.0.1", 0))
        self.number, self.id = number, f"{random.getrandbits(64):x}"
        self.far, self.to, self.frame, self.clicked, self.times = None, "", random.randrange(25), None, []

    def send(self, method, sequence=1, body=""):
        port = self.sip.getsockname()[1]
        lines = [
            f"{method} sip:{self.number}@127.0.0.1:{self.server} SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{random.getrandbits(64):x}",
            f"From: <sip:clicks@127.0.0.1>;tag={self.id}", f"To: <sip:{self.number}@127.0.0.1>{self.to}", f"Call-ID: {self.id}",
            f"CSeq: {sequence} {method}", f"Contact: <sip:clicks@127.0.0.1:{port}>", "Max-Forwards: 70",
            *(["Content-Type: application/sdp"] if body else []), f"Content-Length: {len(body)}", "", body,
        ]
        self.sip.sendto("\r\n".join(lines).encode(), ("127.0.0.1", self.server))

    def begin(self):
        port = self.rtp.getsockname()[1]
        self.send("INVITE", 1, f"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio {port} RTP/AVP 0\r\n")
        self.sip.settimeout(10)
        while True:
            answer = self.sip.recv(65536).decode()
            status = int(answer.split(" ", 2)[1])
            if status >= 300:
                sys.exit(f"clicks: {answer.splitlines()[0]}")
            if status == 200:
                break
        self.to = next(line for line in answer.splitlines() if line.startswith("To:")).partition(">")[2]
        media = next(line for line in answer.splitlines() if line.startswith("m=audio"))
        self.far = ("127.0.0.1", int(media.split()[1]))
        self.send("ACK")

    def speak(self, now):
        """A frame; a loud one, unless the last is still on its way."""
        isLoud = self.frame % 25 == 0 and self.clicked is None
        if isLoud:
            self.clicked = now
        header = struct.pack("!BBHII", 0x80, 0, self.frame & 0xFFFF, self.frame * 160 & 0xFFFFFFFF, 7)
        self.rtp.sendto(header + (CLICK if isLoud else SILENCE), self.far)
        self.frame += 1

    def hear(self, now):
        packet = self.rtp.recv(2048)
        # µ-law has its loudest values at 0x00 and 0x80.
        if self.clicked is not None and sum(byte & 0x70 == 0 for byte in packet[12:]) > 20:
            self.times.append((now - self.clicked) * 1000)
            self.clicked = None


def main():
    number, port, count, seconds = sys.argv[1], *map(int, sys.argv[2:])
    calls = [Call(number, port) for _ in range(count)]
    for call in calls:
        call.begin()
    start = time.monotonic()
    due = [(start + FRAME * index / count, index) for index in range(count)]
    heapq.heapify(due)
    poller, sockets = select.poll(), {call.rtp.fileno(): call for call in calls}
    for each in sockets:
        poller.register(each, select.POLLIN)
    while (now := time.monotonic()) < start + seconds:
        at, index = due[0]
        if at <= now:
            heapq.heapreplace(due, (at + FRAME, index))
            calls[index].speak(now)
            continue
        for each, _ in poller.poll((at - now) * 1000):
            sockets[each].hear(time.monotonic())
    for call in calls:
        call.send("BYE", 2)
    for each in (time for call in calls for time in call.times):
        print(f"{each:.3f}")


main()
