"""A WebRTC telephone without a browser: aiortc for the media (ICE, DTLS-SRTP), and as much SIP over UDP as one call needs.

    webrtc-phone.py call   --server HOST:PORT --port PORT --user U --password P --number N --codec opus --play WAV --record WAV --seconds S
    webrtc-phone.py answer --server HOST:PORT --port PORT --user U --password P --codec pcmu --play WAV --record WAV

Says what happens, a line each: REGISTERED, RINGING, CONNECTED, HEARD n (n seconds are recorded), ENDED, or FAILED with the reason.
"""

import argparse
import asyncio
import hashlib
import random
import re
import sys
import wave

import aioice.ice
from aiortc import RTCConfiguration, RTCPeerConnection, RTCRtpSender, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer
from av.audio.resampler import AudioResampler


# It leaves loopback out by itself; everything of a test is there.
aioice.ice.get_host_addresses = lambda use_ipv4, use_ipv6: ["127.0.0.1"]


def say(*words):
    print(*words, flush=True)


def token():
    return f"{random.getrandbits(48):x}"


class Message:
    """A SIP message: its first line, its headers in order, its body."""

    def __init__(self, data):
        head, _, self.body = data.decode("utf-8", "replace").partition("\r\n\r\n")
        lines = head.split("\r\n")
        self.first = lines[0]
        self.headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]

    def get(self, name, short=None):
        return next((value for key, value in self.headers if key in (name, short)), "")

    def all(self, name, short=None):
        return [value for key, value in self.headers if key in (name, short)]

    @property
    def status(self):
        return int(self.first.split()[1]) if self.first.startswith("SIP/2.0") else None

    @property
    def method(self):
        return self.get("cseq").split()[-1]

    @property
    def number(self):
        return int(self.get("cseq").split()[0])


class Telephone(asyncio.DatagramProtocol):
    """One line at one server: requests with their answers, and what comes in."""

    def __init__(self, options):
        self.options = options
        host, _, port = options.server.rpartition(":")
        self.server, self.domain = (host, int(port)), host
        self.contact = f"<sip:{options.user}@127.0.0.1:{options.port}>"
        self.waiting = {}
        self.requests = asyncio.Queue()
        self.answered = {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        message = Message(data)
        if message.status is None:
            if message.number in self.answered.get(message.method, {}):
                self.send(self.answered[message.method][message.number])
            else:
                self.requests.put_nowait(message)
        elif queue := self.waiting.get((message.method, message.number)):
            queue.put_nowait(message)

    def send(self, text):
        self.transport.sendto(text.encode(), self.server)

    def request_text(self, method, target, to, number, call_id, from_tag, extra=(), body="", branch=None):
        lines = [
            f"{method} {target} SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:{self.options.port};branch={branch or 'z9hG4bK' + token()};rport",
            "Max-Forwards: 70",
            f"From: <sip:{self.options.user}@{self.domain}>;tag={from_tag}",
            f"To: {to}",
            f"Call-ID: {call_id}",
            f"CSeq: {number} {method}",
            f"Contact: {self.contact}",
            *extra,
        ]
        if body:
            lines.append("Content-Type: application/sdp")
        return "\r\n".join(lines + [f"Content-Length: {len(body)}", "", body])

    async def ask(self, method, target, to, number, call_id, from_tag, extra=(), body="", provisional=None):
        """The final response; the request is sent again until one comes."""
        queue = self.waiting.setdefault((method, number), asyncio.Queue())
        text = self.request_text(method, target, to, number, call_id, from_tag, extra, body)
        self.send(text)
        delay, heard = 0.5, False
        while True:
            try:
                response = await asyncio.wait_for(queue.get(), None if heard else delay)
            except asyncio.TimeoutError:
                if delay > 8:
                    raise RuntimeError(f"no response to {method}")
                self.send(text)
                delay *= 2
                continue
            heard = method == "INVITE"
            if response.status >= 200:
                return response
            if provisional:
                provisional(response)

    def proof(self, response, method, target):
        """The header that answers a challenge (RFC 2617, MD5)."""
        challenge = next(value for value in response.all("www-authenticate") if "MD5" in value or "algorithm" not in value)
        fields = dict(re.findall(r'(\w+)="?([^",]+)"?', challenge))
        def md5(text):
            return hashlib.md5(text.encode()).hexdigest()
        one = md5(f"{self.options.user}:{fields['realm']}:{self.options.password}")
        two, cnonce = md5(f"{method}:{target}"), token()
        answer = md5(f"{one}:{fields['nonce']}:00000001:{cnonce}:auth:{two}")
        return (
            f'Authorization: Digest username="{self.options.user}", realm="{fields["realm"]}", nonce="{fields["nonce"]}", uri="{target}", '
            f'response="{answer}", algorithm=MD5, cnonce="{cnonce}", qop=auth, nc=00000001'
        )

    def respond(self, request, status, reason, to_tag, body=""):
        lines = [f"SIP/2.0 {status} {reason}"]
        for name in ("via", "record-route", "from"):
            lines += [f"{name}: {value}" for value in request.all(name)]
        to = request.get("to", "t")
        lines.append(f"to: {to}" if "tag=" in to or status == 100 else f"to: {to};tag={to_tag}")
        lines += [f"call-id: {request.get('call-id')}", f"cseq: {request.get('cseq')}", f"contact: {self.contact}"]
        if body:
            lines.append("content-type: application/sdp")
        text = "\r\n".join(lines + [f"content-length: {len(body)}", "", body])
        if status >= 200:
            self.answered.setdefault(request.method, {})[request.number] = text
        self.send(text)


class Call:
    """The media of a call: plays a file, records what comes."""

    def __init__(self, options):
        self.options = options
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.player = MediaPlayer(options.play)
        self.recording = wave.open(options.record, "wb")
        self.recording.setnchannels(1)
        self.recording.setsampwidth(2)
        self.recording.setframerate(48000)
        self.seconds = 0.0
        self.connection.on("track", lambda track: asyncio.ensure_future(self.record(track)))

    def prefer(self):
        for transceiver in self.connection.getTransceivers():
            wanted = f"audio/{self.options.codec}".lower()
            transceiver.setCodecPreferences([codec for codec in RTCRtpSender.getCapabilities("audio").codecs if codec.mimeType.lower() == wanted])

    async def offer(self):
        self.connection.addTrack(self.player.audio)
        self.prefer()
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def take(self, kind, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp=sdp, type=kind))

    async def answer(self, sdp):
        await self.take("offer", sdp)
        self.connection.addTrack(self.player.audio)
        self.prefer()
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        return self.connection.localDescription.sdp

    async def record(self, track):
        resampler, told = AudioResampler(format="s16", layout="mono", rate=48000), 0
        try:
            while True:
                for frame in resampler.resample(await track.recv()):
                    self.recording.writeframes(bytes(frame.planes[0])[: frame.samples * 2])
                    self.seconds += frame.samples / 48000
                    if self.seconds >= told + 1:
                        told = int(self.seconds)
                        say("HEARD", told)
        except Exception:
            self.recording.close()

    async def close(self):
        await self.connection.close()


async def register(phone):
    server, call_id, tag = f"sip:{phone.domain}", token(), token()
    to = f"<sip:{phone.options.user}@{phone.domain}>"
    response = await phone.ask("REGISTER", server, to, 1, call_id, tag)
    if response.status == 401:
        response = await phone.ask("REGISTER", server, to, 2, call_id, tag, [phone.proof(response, "REGISTER", server)])
    if response.status != 200:
        raise RuntimeError(f"REGISTER: {response.first}")
    say("REGISTERED")


def acknowledge(phone, response, target, call_id, tag):
    contact = re.search(r"<([^>]+)>", response.get("contact", "m"))
    target = contact.group(1) if contact and response.status < 300 else target
    branch = re.search(r"branch=([^;]+)", response.get("via", "v")).group(1) if response.status >= 300 else None
    phone.send(phone.request_text("ACK", target, response.get("to", "t"), response.number, call_id, tag, branch=branch))
    return target


async def call(phone):
    media = Call(phone.options)
    target, call_id, tag = f"sip:{phone.options.number}@{phone.domain}", token(), token()
    body = await media.offer()
    def progress(response):
        if response.status == 180:
            say("RINGING")
    response = await phone.ask("INVITE", target, f"<{target}>", 1, call_id, tag, body=body, provisional=progress)
    if response.status == 401:
        acknowledge(phone, response, target, call_id, tag)
        response = await phone.ask("INVITE", target, f"<{target}>", 2, call_id, tag, [phone.proof(response, "INVITE", target)], body, progress)
    peer = acknowledge(phone, response, target, call_id, tag)
    if response.status != 200:
        raise RuntimeError(f"INVITE: {response.first}")
    await media.take("answer", response.body)
    say("CONNECTED")
    while media.seconds < phone.options.seconds:
        try:
            request = await asyncio.wait_for(phone.requests.get(), 0.1)
            phone.respond(request, 200, "OK", tag)
            if request.method == "BYE":
                raise RuntimeError("the other side hung up")
        except asyncio.TimeoutError:
            pass
    await phone.ask("BYE", peer, response.get("to", "t"), 3, call_id, tag)
    await media.close()
    say("ENDED")


async def answer(phone):
    await register(phone)
    media, tag = Call(phone.options), token()
    while True:
        request = await phone.requests.get()
        if request.first.startswith("INVITE"):
            say("RINGING")
            phone.respond(request, 180, "Ringing", tag)
            phone.respond(request, 200, "OK", tag, await media.answer(request.body))
        elif request.method == "ACK":
            say("CONNECTED")
        else:
            phone.respond(request, 200, "OK", tag)
            if request.method == "BYE":
                await media.close()
                return say("ENDED")


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("role", choices=["call", "answer"])
    for name in ("server", "user", "password", "number", "codec", "play", "record"):
        parser.add_argument("--" + name)
    parser.add_argument("--port", type=int)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    _, phone = await asyncio.get_running_loop().create_datagram_endpoint(lambda: Telephone(options), local_addr=("127.0.0.1", options.port))
    try:
        await (call if options.role == "call" else answer)(phone)
    except Exception as error:
        say("FAILED", type(error).__name__, error)
        sys.exit(1)


asyncio.run(main())
