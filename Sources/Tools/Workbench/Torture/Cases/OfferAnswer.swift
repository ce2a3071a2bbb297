import Primitives
import SDP
import SIP

extension TortureCase {
    private static func call(_ body: TortureBody, headers: [(HeaderName, Text)] = []) -> TortureStep {
        .send(.caller, .invite(body, headers: headers))
    }
    private static func offer(_ change: (inout TortureDescription) -> Void) -> TortureBody {
        var description = TortureDescription()
        change(&description)
        return .description(description)
    }
    private static let unknownCodec = offer { ($0.formats, $0.lines) = ("117", ["a=rtpmap:117 X-NOBODY/8000"]) }

    /// Offers in an INVITE that makes a call.
    static let offerAnswer: [TortureCase] = [
        TortureCase(
            .offerAnswer, "call", "RFC 3264 §6", "an offer of PCMU is answered with it",
            [call(.offer), .final(.caller, .invite, .success), .describes(.caller, .audio(formats: ["0"], streams: 1))], hangUp),
        TortureCase(
            .offerAnswer, "late-offer", "RFC 3261 §13.2.1", "an INVITE without an offer gets one in the 200",
            [call(.none), .final(.caller, .invite, .success), .describes(.caller, .audio()), .send(.caller, .ack(.offer))], sayBye),
        TortureCase(
            .offerAnswer, "offered-hold", "RFC 3264 §6.1", "a call that begins on hold (a=sendonly) is answered so",
            [call(.held("sendonly")), .final(.caller, .invite, .success), .describes(.caller, .direction([.recvonly, .inactive]))], hangUp),
        TortureCase(
            .offerAnswer, "video-too", "RFC 3264 §6", "an offer of audio and video gets an answer of two streams, in that order",
            [
                call(offer { $0.further = ["m=video 4002 RTP/AVP 31"] }), .final(.caller, .invite, .success),
                .describes(.caller, .audio(formats: ["0"], streams: 2)),
            ], hangUp),
        TortureCase(
            .offerAnswer, "unknown-stream", "RFC 3264 §6", "a stream of an unknown kind is refused by itself, with port 0",
            [
                call(offer { $0.further = ["m=x-nobody 4002 TCP/X-NOBODY *"] }), .final(.caller, .invite, .success),
                .describes(.caller, .audio(formats: ["0"], streams: 2)), .describes(.caller, .othersRemoved),
            ], hangUp),
        TortureCase(
            .offerAnswer, "one-codec-of-many", "RFC 3264 §6.1", "codecs that nobody knows are left out of the answer",
            [
                call(offer { ($0.formats, $0.lines) = ("117 0 118", ["a=rtpmap:117 X-NOBODY/8000", "a=rtpmap:118 X-NO-ONE/16000"]) }),
                .final(.caller, .invite, .success), .describes(.caller, .audio(formats: ["0"], streams: 1)),
            ], hangUp),
        TortureCase(
            .offerAnswer, "no-common-codec", "RFC 3261 §13.3.1.3", "an offer of nothing that is known is refused: 488",
            [call(unknownCodec), .final(.caller, .invite, .status([488, 606]))]),
        TortureCase(
            .offerAnswer, "removed-at-once", "RFC 3264 §6", "an offer whose only stream has port 0 is refused, or answered with port 0",
            [call(offer { $0.isRemoved = true }), .final(.caller, .invite, .status([200, 400, 488, 606]))]),
        TortureCase(
            .offerAnswer, "bad-description", "RFC 3261 §13.3.1.3", "a description that cannot be read is refused: 488 or 400",
            [call(.other("application/sdp", "this is no description\r\n")), .final(.caller, .invite, .status([400, 488]))]),
        TortureCase(
            .offerAnswer, "unknown-type", "RFC 3261 §8.2.3", "a body of an unknown type is refused: 415 with Accept",
            [call(.other("application/x-nobody", "<audio/>\r\n")), .final(.caller, .invite, .status([415], has: .accept))]),
        TortureCase(
            .offerAnswer, "unknown-encoding", "RFC 3261 §8.2.3", "a body in an unknown encoding is refused: 415 with Accept-Encoding",
            [call(.offer, headers: [(.contentEncoding, "x-nobody")]), .final(.caller, .invite, .status([415], has: "Accept-Encoding"))]),
        TortureCase(
            .offerAnswer, "optional-body", "RFC 3261 §20.11", "a body of an unknown type that need not be understood is passed over",
            [
                call(.other("application/x-nobody", "<audio/>\r\n"), headers: [(.contentDisposition, "render;handling=optional")]),
                .final(.caller, .invite, .any(but: [400, 415, 500])),
            ]),
        TortureCase(
            .offerAnswer, "several-parts", "RFC 5621 §4",
            "an offer that comes behind another part, which need not be understood, is answered",
            [
                call(.severalParts(TortureDescription())), .final(.caller, .invite, .success),
                .describes(.caller, .audio(formats: ["0"], streams: 1)),
            ], hangUp),
        TortureCase(
            .offerAnswer, "unknown-extension", "RFC 3261 §8.2.2.3", "Require of what nobody knows is refused: 420 with Unsupported",
            [call(.offer, headers: [(.require, "nobody-has-this")]), .final(.caller, .invite, .status([420], has: .unsupported))]),
        TortureCase(
            .offerAnswer, "unknown-method", "RFC 3261 §8.2.1", "a method that nobody knows is refused: 405 with Allow, or 501",
            [.send(.caller, TortureRequest(method: Method("NOBODY"))), .final(.caller, Method("NOBODY"), .status([405, 501]))]),
        TortureCase(
            .offerAnswer, "last-hop", "RFC 3261 §16.3", "an INVITE that may go no further is answered here, or refused with 483",
            [.send(.caller, TortureRequest(method: .invite, body: .offer, maxForwards: 0)), .final(.caller, .invite, .status([200, 483]))]),
    ]

    private static let up: [TortureStep] = [call(.offer), .answered(.caller), .send(.caller, .ack())]
    /// A re-INVITE that is taken, and what its answer says.
    private static func change(_ body: TortureBody, _ checks: [AnswerCheck]) -> [TortureStep] {
        var steps: [TortureStep] = [call(body), .final(.caller, .invite, .success)]
        for check in checks + [AnswerCheck.sameSession] { steps.append(.describes(.caller, check)) }
        steps.append(.send(.caller, .ack()))
        return steps
    }

    /// Offers in a call that is up.
    static let renegotiation: [TortureCase] = [
        TortureCase(
            .offerAnswer, "same-again", "RFC 3264 §8", "a re-INVITE that changes nothing is answered as before", up,
            change(.offer, [.audio(formats: ["0"], streams: 1)]), sayBye),
        TortureCase(
            .offerAnswer, "hold-sendonly", "RFC 3264 §8.4", "hold by a=sendonly, and back", up,
            change(.held("sendonly"), [.direction([.recvonly, .inactive])]), change(.offer, [.audio(formats: ["0"])]), sayBye),
        TortureCase(
            .offerAnswer, "hold-inactive", "RFC 3264 §8.4", "hold by a=inactive, and back", up,
            change(.held("inactive"), [.direction([.inactive])]), change(.offer, [.audio(formats: ["0"])]), sayBye),
        TortureCase(
            .offerAnswer, "hold-recvonly", "RFC 3264 §6.1", "a=recvonly is answered so", up,
            change(.held("recvonly"), [.direction([.sendonly, .inactive])]), sayBye),
        TortureCase(
            .offerAnswer, "hold-session-level", "RFC 3264 §6.1", "a direction of the whole session counts for its stream",
            up, change(.held("sendonly", isSessionLevel: true), [.direction([.recvonly, .inactive])]), sayBye),
        TortureCase(
            .offerAnswer, "hold-zero-address", "RFC 3264 §8.4", "hold as RFC 2543 had it: address 0.0.0.0", up,
            change(offer { $0.connection = "IP4 0.0.0.0" }, [.audio()]), change(.offer, [.audio(formats: ["0"])]), sayBye),
        TortureCase(
            .offerAnswer, "stream-removed", "RFC 3264 §8.2",
            "a stream that is taken away (port 0) is taken away on the other side, and comes back",
            up, change(offer { $0.isRemoved = true }, [.removed]), change(.offer, [.audio(formats: ["0"], streams: 1)]), sayBye),
        TortureCase(
            .offerAnswer, "stream-added", "RFC 3264 §8.1", "a stream that is added is answered, behind the first",
            up, change(offer { $0.further = ["m=video 4002 RTP/AVP 31"] }, [.audio(formats: ["0"], streams: 2)]), sayBye),
        TortureCase(
            .offerAnswer, "codec-change", "RFC 3264 §8.3.2",
            "another codec in the call is answered with it, or refused and the call goes on",
            up,
            [
                call(offer { $0.formats = "8" }), .final(.caller, .invite, .status([200, 488])),
                .describes(.caller, .audio(formats: ["8"])), .send(.caller, .ack()),
            ], sayBye),
        TortureCase(
            .offerAnswer, "refused-change", "RFC 3261 §14.2", "a change that cannot be is refused with 488, and the session is as it was",
            up, [call(unknownCodec), .final(.caller, .invite, .status([488, 606]))], change(.offer, [.audio(formats: ["0"], streams: 1)]),
            sayBye),
        TortureCase(
            .offerAnswer, "bad-change", "RFC 3261 §14.2", "a description that cannot be read is refused, and the session is as it was",
            up, [call(.other("application/sdp", "v=1\r\n")), .final(.caller, .invite, .status([400, 488]))],
            change(.offer, [.audio(formats: ["0"], streams: 1)]), sayBye),
        TortureCase(
            .offerAnswer, "reinvite-without-offer", "RFC 3261 §14.2", "a re-INVITE without an offer gets one, which our ACK answers",
            up,
            [call(.none), .final(.caller, .invite, .success), .describes(.caller, .audio(formats: ["0"])), .send(.caller, .ack(.offer))],
            sayBye),
        TortureCase(
            .offerAnswer, "update", "RFC 3311 §5.2", "an offer in UPDATE is answered",
            up,
            [
                .allows(.update), .send(.caller, .update(.held("sendonly"))), .final(.caller, .update, .success),
                .describes(.caller, .direction([.recvonly, .inactive])),
            ], sayBye),
        TortureCase(
            .offerAnswer, "update-without-offer", "RFC 3311 §5.1", "an UPDATE without an offer is answered without an answer", up,
            [.allows(.update), .send(.caller, .update(.none)), .final(.caller, .update, .success)], sayBye),
    ]
}
