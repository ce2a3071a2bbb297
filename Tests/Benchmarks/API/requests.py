"""Asks a gateway at PORT for its calls RATE times a second, over eight connections: prints 'ready', and when standard input ends how many
requests a second were answered."""

import selectors
import socket
import sys
import time

REQUEST = b"GET /v1/calls HTTP/1.1\r\nHost: localhost\r\n\r\n"
ANSWER = b"HTTP/1.1 200"
INTERVAL = 0.004


def main():
    port, rate = map(int, sys.argv[1:])
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    connections = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
    tails = {connection: b"" for connection in connections}
    for connection in connections:
        selector.register(connection, selectors.EVENT_READ)
    print("ready", flush=True)
    began = time.monotonic()
    asked = answered = 0
    while True:
        due = int((time.monotonic() - began) * rate) - asked
        for turn in range(min(due, 64)):
            connections[(asked + turn) % len(connections)].sendall(REQUEST)
        asked += max(0, due)
        for key, _ in selector.select(INTERVAL):
            if key.fileobj is sys.stdin:
                return print(round(answered / (time.monotonic() - began)))
            content = key.fileobj.recv(1 << 20)
            if not content:
                sys.exit("a connection ended")
            content = tails[key.fileobj] + content
            answered += content.count(ANSWER)
            tails[key.fileobj] = content[1 - len(ANSWER) :]


main()
