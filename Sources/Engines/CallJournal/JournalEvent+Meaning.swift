extension JournalEvent.Key {
    /// The meaning of a detail of that name, with its unit; its value is text where no number is named.
    public var meaning: String {
        switch self {
        case .method: "the SIP method"
        case .status: "a SIP status, a number"
        case .phrase: "the reason phrase of a response"
        case .cseq: "the number of the CSeq"
        case .callid: "the Call-ID"
        case .remoteTag: "the far end's tag"
        case .reason: "the reason of an end"
        case .retransmission: "1 for a message that was there before"
        case .transport: "`udp`, `tcp`, `tls`, `ws` or `wss`"
        case .remote: "the far end: an address, a number or a URI"
        case .transaction: "the identity of a transaction, unique in the journal"
        case .actions:
            "the actions of a transaction in order, as `end:17 answer:18`; classes are `start`, `answer`, `end`, `held`, `group`, `muted`, `dtmf`, `translating`, `other`"
        case .action: "the identity of an action, as in `actions`"
        case .class: "a class, as in `actions`"
        case .created: "when the action was made: nanoseconds of the monotonic clock"
        case .on: "1 or 0"
        case .onHold: "1 or 0"
        case .digits: "keys"
        case .with: "the UUID of another call"
        case .port: "a UDP port of ours"
        case .rtcpPort: "the port for RTCP, where it is another"
        case .ports: "the first and the last UDP port for media, as `20000-20199`"
        case .packets: "RTP packets that we sent, a number"
        case .received: "RTP packets that came, a number"
        case .firstSent: "when the first packet left: nanoseconds of the monotonic clock"
        case .lastSent: "when the last packet left: nanoseconds of the monotonic clock"
        case .session: "the identity of an audio session"
        case .scope: "`perLine`: one audio session for the line, as on a telephone; `perGroup`: one for each call group"
        case .app: "1 where an app's code decides on the line"
        case .codec: "names of codecs, best first"
        case .error: "the name of an error"
        case .code: "the number of a CallKit error"
        case .cause: "the cause"
        case .version: "the product that writes, and its version"
        case .rule: "the identity of a rule, as `R1`"
        case .count: "a number"
        case .text: "words"
        case .incoming: "whether the far end was heard: `heard`, `silent`, `paused`, `nothing`; absent: not measured, or none due"
        case .outgoing: "whether we were heard, in the same words"
        case .incomingBasis: "the basis of `incoming`: `level`, `size`, `packets`"
        case .outgoingBasis: "the basis of `outgoing`"
        case .oneWay: "1 where one was heard and the other was not"
        case .user: "a user, as it was said"
        case .from: "the address of From: the display name, where there is one, and the URI"
        case .to: "the address of To"
        case .uri: "the Request-URI"
        case .agent: "the User-Agent"
        case .media: "the offer in short: kind, place, codecs; direction, encryption and ICE where they are unusual"
        case .expires: "seconds"
        case .run: "a text that no other run has"
        case .calls: "calls that had begun in the run, written or not"
        case .lost: "packets that never came (RFC 3550 A.3)"
        case .expected: "the packets that `lost` is a part of"
        case .loss: "`lost`, in hundredths of a percent of `expected`"
        case .jitter: "interarrival jitter as it was last, in microseconds (RFC 3550 §6.4.1)"
        case .mos: "MOS of conversation in hundredths, 100 to 450 (ITU-T G.107)"
        case .remoteLost: "`lost` of what we sent, by the far end's last report"
        case .remoteExpected: "`expected` of what we sent"
        case .remoteLoss: "`loss` of what we sent"
        case .remoteJitter: "`jitter` of what we sent"
        case .remoteMOS: "`mos` of what we sent"
        case .roundTrip: "to the far end and back as it was last measured, in microseconds"
        case .added: "numbers of lines that are new, with spaces between them; at most twenty"
        case .changed: "numbers of lines that changed, in the same way"
        case .removed: "numbers of lines that are gone, in the same way"
        case .endedBy: "`local`, an end action; `remote`, the far end; `gateway`, a failure or a limit"
        case .direction: "`in`, the far end is listened to; `out`, it is spoken to; `both`"
        case .node: "the name of a gateway among those that share a database"
        case .q850: "the cause in the words of Q.850, a number from 1 to 127"
        }
    }
    /// Its value is a number; text otherwise.
    public var isNumber: Bool {
        switch self {
        case .status, .cseq, .retransmission, .created, .on, .onHold, .app, .port, .rtcpPort, .packets, .received, .firstSent, .lastSent,
            .code,
            .count, .oneWay, .expires, .calls, .lost, .expected, .loss, .jitter, .mos, .remoteLost, .remoteExpected, .remoteLoss,
            .remoteJitter, .remoteMOS, .roundTrip, .q850:
            true
        default: false
        }
    }
}
