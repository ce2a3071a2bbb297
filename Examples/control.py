"""Starts a call of a line, and tells what becomes of it until it has ended: control.py LINE TO [ADDRESS:PORT]"""
import http.client, json, sys, time, uuid

line, to, server = (sys.argv[1:] + ["127.0.0.1:8080"])[:3]


def ask(method, path, body=None):
    connection = http.client.HTTPConnection(server, timeout=60)  # a stream without events has a comment each 15 s
    connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer if answer.status < 300 else sys.exit(json.load(answer)["detail"])


# The position before the call begins: no event of it is missed. Its UUIDs are ours: to ask again would start no second call.
position, call = json.load(ask("GET", "/v1/snapshot"))["position"], str(uuid.uuid4())
ask("POST", "/v1/calls", {"id": call, "transaction": str(uuid.uuid4()), "line": line, "to": to})
print(call, flush=True)
while True:
    try:
        for text in ask("GET", f"/v1/events?call={call}&after={position}"):
            if text.startswith(b"data: "):
                event = json.loads(text[6:])
                position = event["id"]
                print(event["time"], event["type"], position, flush=True)
                if event["type"] == "call.ended":
                    sys.exit()
    except (OSError, http.client.HTTPException):
        time.sleep(0.2)  # cut off: on behind the last event
