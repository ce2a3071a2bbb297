#!/usr/bin/env python3
"""stream-echo.py [PORT]: a program for a line with `application: stream` and `format: raw`. It says back what it hears, and what it is told.

The key * forgets what it has not said yet, and # hangs up. It needs the package websockets.
"""
import asyncio
import json
import sys

import websockets


async def call(socket):
    start = json.loads(await socket.recv())
    print(f"{start['caller']} calls {start['called']}: {start['encoding']} at {start['rate']} Hz", flush=True)
    async for message in socket:
        if isinstance(message, bytes):
            await socket.send(message)
            continue
        print(message, flush=True)
        told = json.loads(message)
        if told["event"] == "digits" and told["digits"] == "*":
            await socket.send(json.dumps({"event": "clear"}))
        if told["event"] == "digits" and told["digits"] == "#":
            await socket.send(json.dumps({"event": "hang-up"}))


async def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    async with websockets.serve(call, "127.0.0.1", port):
        print(f"ws://127.0.0.1:{port}", flush=True)
        await asyncio.Future()


asyncio.run(main())
