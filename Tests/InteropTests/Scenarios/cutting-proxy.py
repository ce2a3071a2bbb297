"""Relays TCP connections: cutting-proxy.py OWN-PORT SERVER-PORT. SIGUSR1 cuts those that are up and turns new ones away, until SIGUSR2."""

import contextlib
import signal
import socket
import sys
import threading

links, is_open = set(), True


def shut(end):
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def relay(source, sink):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        shut(end)
    links.discard(source)


def cut(*_):
    global is_open
    is_open = False
    count = len(links) // 2
    for end in list(links):
        shut(end)
    print("CUT", count, flush=True)


def mend(*_):
    global is_open
    is_open = True


signal.signal(signal.SIGUSR1, cut)
signal.signal(signal.SIGUSR2, mend)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("LISTENS", flush=True)
while True:
    client, _ = listener.accept()
    if not is_open:
        client.close()
        continue
    server = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    for pair in ((client, server), (server, client)):
        links.add(pair[0])
        threading.Thread(target=relay, args=pair, daemon=True).start()
