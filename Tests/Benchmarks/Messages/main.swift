// What reading and writing a SIP message costs, to be measured beside Tests/Benchmarks/CBytes.
//
//   message-bench ROUNDS      prints the processor time in microseconds for one message: "parse PARSE_AND_READ RESPONSE"
//   message-bench --print     writes the message itself
//
// The message is an INVITE of 713 bytes with 12 header fields and an offer, as a phone sends it.
import CLinux
import Glibc
import Primitives
import SIP

let invite: [UInt8] = Array(
    [
        "INVITE sip:1002@gateway.example.test SIP/2.0", "Via: SIP/2.0/UDP 192.0.2.17:5060;rport;branch=z9hG4bK87asdks7Ff2",
        "From: \"Alice\" <sip:1001@gateway.example.test>;tag=1928301774", "To: <sip:1002@gateway.example.test>",
        "Call-ID: a84b4c76e66710@192.0.2.17",
        "CSeq: 314159 INVITE", "Contact: <sip:1001@192.0.2.17:5060;transport=udp>", "Max-Forwards: 70",
        "Allow: INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO", "Supported: replaces, timer", "User-Agent: Some phone 4.2.1 (Debian 12)",
        "Content-Type: application/sdp", "Content-Length: 196", "",
        "v=0", "o=- 3902113 3902113 IN IP4 192.0.2.17", "s=-", "c=IN IP4 192.0.2.17", "t=0 0", "m=audio 49172 RTP/AVP 96 0 8 101",
        "a=rtpmap:96 opus/48000/2",
        "a=rtpmap:101 telephone-event/8000", "a=ptime:20", "a=sendrecv", "",
    ].joined(separator: "\r\n").utf8)

/// Processor microseconds for one of `rounds` runs; a first tenth of them warms up and is not counted.
@MainActor func measure(_ rounds: Int, _ body: () -> Int) -> Double {
    var kept = 0
    for _ in 0..<rounds / 10 { kept &+= body() }
    let before = processorTime()
    for _ in 0..<rounds { kept &+= body() }
    let spent = processorTime() - before
    precondition(kept != 0, "nothing was done")
    return spent * 1e6 / Double(rounds)
}

func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func parsed() -> Message {
    do { return try Message(parsing: invite) } catch { fatalError("the message is not one: \(error)") }
}

/// What the gateway reads of an INVITE before it answers.
func read(_ message: Message) -> Int {
    let transaction = message.via.branch?.bytes.count ?? 0
    let dialog = message.callID.bytes.count + (message.from.tag?.bytes.count ?? 0) + (message.to.tag?.bytes.count ?? 0)
    let called = message.to.uri.user?.bytes.count ?? 0
    let target = message.contact?.uri.host.bytes.count ?? 0
    return transaction + dialog + called + target + Int(message.cseq.number) + (message.maxForwards ?? 0)
}

if CommandLine.arguments.dropFirst() == ["--print"] {
    invite.withUnsafeBytes { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
} else if CommandLine.arguments.count == 2, let rounds = Int(CommandLine.arguments[1]), rounds >= 10 {
    let parse = measure(rounds) { parsed().content.bytes.count }
    let parseAndRead = measure(rounds) { read(parsed()) }
    let response = Message.response(to: parsed(), status: 180, toTag: "a6c85cf")
    var bytes: [UInt8] = []
    let writing = measure(rounds) {
        bytes.removeAll(keepingCapacity: true)
        response.serialize(into: &bytes)
        return bytes.count
    }
    print(parse, parseAndRead, writing)
} else {
    let usage = "usage: message-bench ROUNDS | --print\n"
    _ = usage.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(2)
}
