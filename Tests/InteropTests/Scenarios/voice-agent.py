"""A voice agent on the public framework pipecat, with its own serializer for Twilio's Media Streams, as it stands.

voice-agent.py PORT [CERTIFICATE KEY]: listens on loopback and prints LISTENS. In each call it prints HEARD once it has heard half a second of sound, speaks 700 Hz for
ten seconds, prints INTERRUPTED at the key 5, when it falls silent, and ENDS at the key 9, when it hangs up. It is over when its standard
input is.
"""
import array
import asyncio
import math
import os
import ssl
import sys
import threading

import websockets
from fastapi import WebSocket
from loguru import logger
from pipecat.frames.frames import EndWorkerFrame, InputAudioRawFrame, InputDTMFFrame, InterruptionFrame, TTSAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.runner.utils import parse_telephony_websocket
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

RATE = 16_000
logger.remove()
logger.add(sys.stderr, level="WARNING")


def tone(seconds):
    return array.array("h", (int(8_000 * math.sin(2 * math.pi * 700 * n / RATE)) for n in range(int(seconds * RATE)))).tobytes()


class Agent(FrameProcessor):
    """Answers what it hears."""

    def __init__(self):
        super().__init__()
        self.heard = 0

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            return await self.hear(frame)
        if isinstance(frame, InputDTMFFrame):
            return await self.key(str(frame.button.value))
        await self.push_frame(frame, direction)

    async def hear(self, frame):
        samples = array.array("h", frame.audio)
        if max(samples, default=0) < 1_000 or self.heard >= RATE // 2:
            return
        self.heard += len(samples)
        if self.heard >= RATE // 2:
            print("HEARD", flush=True)
            for _ in range(10):
                await self.push_frame(TTSAudioRawFrame(tone(1), RATE, 1))

    async def key(self, key):
        if key == "5":
            print("INTERRUPTED", flush=True)
            await self.push_frame(InterruptionFrame())
        elif key == "9":
            print("ENDS", flush=True)
            await self.push_frame(EndWorkerFrame(), FrameDirection.UPSTREAM)


async def serve(socket):
    """One call: the framework's transport over the connection, as a server of ASGI hands it on."""

    async def receive():
        try:
            message = await socket.recv()
        except websockets.ConnectionClosed as end:
            return {"type": "websocket.disconnect", "code": end.rcvd.code if end.rcvd else 1006}
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    async def send(message):
        if message["type"] == "websocket.send":
            text = message.get("text")
            await socket.send(text if text is not None else message["bytes"])
        elif message["type"] == "websocket.close":
            await socket.close(message.get("code", 1000))

    events = iter([{"type": "websocket.connect"}])

    async def first_or_next():
        return next(events, None) or await receive()

    websocket = WebSocket({"type": "websocket", "path": "/calls", "headers": [], "query_string": b""}, first_or_next, send)
    await websocket.accept()
    await call(websocket)


async def call(websocket):
    kind, data = await parse_telephony_websocket(websocket)
    print("CALL", kind, data["body"].get("caller"), data["body"].get("called"), flush=True)
    serializer = TwilioFrameSerializer(
        data["stream_id"], call_sid=data["call_id"], params=TwilioFrameSerializer.InputParams(auto_hang_up=False)
    )
    transport = FastAPIWebsocketTransport(
        websocket,
        FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, add_wav_header=False, serializer=serializer),
    )
    worker = PipelineWorker(
        Pipeline([transport.input(), Agent(), transport.output()]),
        params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
    )

    @transport.event_handler("on_client_disconnected")
    async def gone(transport, websocket):
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()
    print("CALL OVER", flush=True)


async def main():
    secure = None
    if sys.argv[2:]:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(*sys.argv[2:])
    async with websockets.serve(serve, "127.0.0.1", int(sys.argv[1]), ssl=secure):
        print("LISTENS", flush=True)
        await asyncio.Future()


def wait_for_the_end():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=wait_for_the_end, daemon=True).start()
asyncio.run(main())
