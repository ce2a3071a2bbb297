"""Reads the events of a gateway over COUNT connections to PORT: prints 'ready', and when standard input ends how many events came to all."""

import selectors
import socket
import sys

REQUEST = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
EVENT = b"\ndata: "


def main():
    port, count = map(int, sys.argv[1:])
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    # The last bytes of each, which may be the beginning of an event.
    tails = {}
    for _ in range(count):
        reader = socket.create_connection(("127.0.0.1", port))
        reader.sendall(REQUEST)
        selector.register(reader, selectors.EVENT_READ)
        tails[reader] = b""
    silent, events = set(tails), 0
    while True:
        for key, _ in selector.select():
            if key.fileobj is sys.stdin:
                return print(events)
            content = key.fileobj.recv(1 << 20)
            if not content:
                sys.exit("a reader was cut off")
            content = tails[key.fileobj] + content
            events += content.count(EVENT)
            tails[key.fileobj] = content[1 - len(EVENT) :]
            if silent:
                silent.discard(key.fileobj)
                if not silent:
                    print("ready", flush=True)


main()
