/// Flows of SIP as callers and callees play them with sipp; each against a gateway of ours.
struct SippFlow: Sendable {
    var name: String
    var target: String
    var script: SippScript
    var caller = "tester"
    /// The far end hangs up, after the caller has left.
    var endsAtCallee = false
}

extension SippFlow {
    /// A caller alone: 9196 answers at once, 9195 after half a second.
    static let callers: [SippFlow] = [
        SippFlow(
            name: "100rel is required: the 180 is acknowledged by PRACK", target: "9195",
            script: .caller().invite(["Require: 100rel"]).expect(100, optional: true)
                .expect(180, [.header("Require", "100rel"), .keep("rseq", header: "RSeq:", "[0-9]+")])
                .request("PRACK", 2, ["RAck: [$rseq] 1 INVITE"]).expect(200, [.header("CSeq", "PRACK")])
                .expect(200, [.header("CSeq", "INVITE")]).request("ACK", 1).hangUp(3)),
        SippFlow(
            name: "a PRACK that acknowledges nothing is refused, and the 180 comes again until it is", target: "9195",
            script: .caller().invite(["Require: 100rel"]).expect(100, optional: true)
                .expect(180, [.keep("rseq", header: "RSeq:", "[0-9]+")])
                .request("PRACK", 2, ["RAck: 4711 1 INVITE"]).expect(481)
                .request("PRACK", 3, ["RAck: [$rseq] 1 INVITE"]).expect(200, [.header("CSeq", "PRACK")])
                .expect(200, [.header("CSeq", "INVITE")]).request("ACK", 1).hangUp(4)),
        SippFlow(
            name: "UPDATE without a description refreshes, with one it holds and resumes", target: "9196",
            script: .call().request("UPDATE", 2).expect(200, [.header("Contact", "sip:")])
                .request("UPDATE", 3, body: .audio("sendonly", version: 2)).expect(200, [.message("a=recvonly")])
                .request("UPDATE", 4, body: .audio("sendrecv", version: 3)).expect(200, [.message("m=audio [1-9]")]).hangUp(5)),
        SippFlow(
            name: "a session interval that is too short is refused, and the next one is kept and refreshed", target: "9196",
            script: .caller().invite(["Supported: timer", "Session-Expires: 60"]).expect(100, optional: true).expect(
                422, [.header("Min-SE", "90")]
            )
            .acknowledgeRefusal().invite(["Supported: timer", "Session-Expires: 90;refresher=uac", "Min-SE: 90"], cseq: 2).progress()
            .expect(200, [.header("Session-Expires", "90;refresher=uac"), .header("Require", "timer")]).request("ACK", 2)
            .request("UPDATE", 3, ["Supported: timer", "Session-Expires: 90;refresher=uac"]).expect(200, [.header("Session-Expires", "90")])
            .hangUp(4)),
        SippFlow(
            name: "a late offer: ours is in the 200, the answer in the ACK", target: "9196",
            script: .caller().invite(body: .none).progress().expect(200, [.message("m=audio")]).request("ACK", 1, body: .audio()).wait(200)
                .hangUp(2)),
        SippFlow(
            name: "a re-INVITE without an offer, and its answer in the ACK", target: "9196",
            script: .call().request("INVITE", 2).expect(100, optional: true).expect(200, [.message("m=audio")]).request(
                "ACK", 2, body: .audio(version: 2)
            ).hangUp(3)),
        SippFlow(
            name: "a re-INVITE for fax alone is refused, and the call goes on", target: "9196",
            script: .call().request("INVITE", 2, body: .other("application/sdp", fax)).expect(100, optional: true).expect(488)
                .acknowledgeRefusal(2)
                .request("INVITE", 3, body: .audio(version: 3)).expect(100, optional: true).expect(200, [.message("m=audio [1-9]")])
                .request("ACK", 3).hangUp(4)),
        SippFlow(
            name: "a second stream that is off, without rtpmap, stays off", target: "9196",
            script: .caller().invite(body: .audio(more: ["m=video 0 RTP/AVP 99"])).progress().expect(200, [.message("m=video 0")]).request(
                "ACK", 1
            ).hangUp(2)),
        SippFlow(
            name: "what is required and not known is named", target: "9196",
            script: .caller().invite(["Require: 100rel, gruu", "Require: frob"]).expect(100, optional: true)
                .expect(420, [.header("Unsupported", "gruu")]).acknowledgeRefusal()),
        SippFlow(
            name: "a transfer of a call that is not a bridge is declined", target: "9196",
            script: .call().request("REFER", 2, ["Refer-To: <sip:9195@[remote_ip]>"]).expect(603).hangUp(3)),
        SippFlow(
            name: "an INVITE that comes again after its ACK changes nothing", target: "9196",
            script: .caller().invite(branch: "z9hG4bKtwice[pid]").progress().expect(200).request("ACK", 1).wait(100).invite(
                branch: "z9hG4bKtwice[pid]"
            ).expect(200).request("ACK", 1)
                .request("OPTIONS", 2).expect(200, [.header("Allow", "UPDATE")]).hangUp(3)),
        SippFlow(
            name: "a re-INVITE under the branch of the INVITE is told from it by its number", target: "9196",
            script: .caller().invite(branch: "z9hG4bKsame[pid]").progress().expect(200).request("ACK", 1).request(
                "INVITE", 2, body: .audio(version: 2), branch: "z9hG4bKsame[pid]"
            )
            .expect(100, optional: true).expect(200, [.message("m=audio")]).request("ACK", 2).hangUp(3)),
        SippFlow(
            name: "keys by INFO, a package that nobody knows, and a method that nobody knows", target: "9196",
            script: .call().request("INFO", 2, body: .other("application/dtmf-relay", "Signal=5\nDuration=160\n")).expect(200)
                .request("INFO", 3, ["Info-Package: nobody"]).expect(469).request("FROBNICATE", 4).expect(405, [.header("Allow", "INVITE")])
                .hangUp(5)),
        SippFlow(
            name: "events are not subscribed to here", target: "9196",
            script: .caller().outside("SUBSCRIBE", ["Event: dialog", "Expires: 60"]).expect(489, [.header("Allow-Events", "refer")])),
        SippFlow(
            name: "an early dialog has no second INVITE, and a CANCEL ends it", target: "9194",
            script: .caller().invite().expect(100, optional: true).expect(180).cancel().expect(200, [.header("CSeq", "CANCEL")]).expect(487)
                .acknowledgeRefusal()),
    ]

    private static let fax =
        "v=0\no=sipp 1 2 IN IP4 [local_ip]\ns=-\nc=IN IP4 [media_ip]\nt=0 0\nm=image 49170 udptl t38\na=T38FaxVersion:0\n"

    /// A callee behind a trunk, 1002, which is called by a telephone that talks for half a second.
    static let callees: [SippFlow] = [
        callee(
            "a reliable 183 with the answer: one PRACK, however often it comes, and a 200 without a description",
            .callee().hearInvite([.header("Supported", "100rel")])
                .answerInvite("183 Progress", ["Require: 100rel", "RSeq: 17"], body: .audio()).hear(
                    "PRACK", [.header("RAck", "17 [0-9]+ INVITE")]
                ).answer("200 OK")
                .answerInvite("183 Progress", ["Require: 100rel", "RSeq: 17"], body: .audio()).wait(200)
                .answerInvite("200 OK").hear("ACK").isHungUp()),
        callee(
            "two reliable responses, each with its PRACK",
            .callee().hearInvite().answerInvite("180 Ringing", ["Require: 100rel", "RSeq: 1"]).hear(
                "PRACK", [.header("RAck", "1 [0-9]+ INVITE")]
            ).answer("200 OK")
                .answerInvite("183 Progress", ["Require: 100rel", "RSeq: 2"], body: .audio()).hear(
                    "PRACK", [.header("RAck", "2 [0-9]+ INVITE")]
                ).answer("200 OK")
                .answerInvite("200 OK", body: .audio()).hear("ACK").isHungUp()),
        callee(
            "an UPDATE before the answer, once the reliable exchange is complete",
            .callee().hearInvite().answerInvite("183 Progress", ["Require: 100rel", "RSeq: 1", "Allow: UPDATE"], body: .audio()).hear(
                "PRACK"
            ).answer("200 OK")
                .request("UPDATE", 1, body: .audio(version: 2)).expect(200, [.message("m=audio")])
                .answerInvite("200 OK").hear("ACK").isHungUp()),
        callee(
            "an UPDATE before the answer without one: there is nothing to update",
            .callee().hearInvite().answerInvite("180 Ringing").request("UPDATE", 1, body: .audio(version: 2)).expect(491)
                .answerInvite("200 OK", body: .audio()).hear("ACK").isHungUp()),
        callee(
            "a longer session interval is asked for, and given",
            .callee().hearInvite().answerInvite("422 Session Interval Too Small", ["Min-SE: 3600"]).hear("ACK")
                .hearInvite([.header("Min-SE", "3600"), .header("Session-Expires", "3600")]).answerInvite("180 Ringing")
                .answerInvite("200 OK", ["Require: timer", "Session-Expires: 3600;refresher=uas"], body: .audio()).hear("ACK").isHungUp()),
        callee(
            "a re-INVITE without an offer from the callee",
            .callee().takesCall().request("INVITE", 1).expect(100, optional: true).expect(200, [.message("m=audio")]).request(
                "ACK", 1, body: .audio(version: 2)
            ).isHungUp()),
        callee(
            "an UPDATE without an offer from the callee",
            .callee().takesCall().request("UPDATE", 1).expect(200).isHungUp()),
        callee(
            "a 183 whose description is nonsense is no reason to give up",
            .callee().hearInvite().answerInvite("183 Progress", body: .other("application/sdp", "v=0\nnonsense\n")).answerInvite(
                "200 OK", body: .audio()
            ).hear("ACK").isHungUp()),
        callee(
            "a 183 without a To tag makes no dialog",
            .callee().hearInvite().answerInvite("183 Progress", tag: "").answerInvite("200 OK", body: .audio()).hear("ACK").isHungUp()),
        callee(
            "several early dialogs: the one that answers is the call",
            .callee().hearInvite().answerInvite("180 Ringing", tag: "one").answerInvite("180 Ringing", tag: "two").answerInvite(
                "199 Early Dialog Terminated", tag: "one"
            )
            .answerInvite("200 OK", body: .audio()).hear("ACK").isHungUp()),
        callee(
            "two forks with reliable responses, each with a PRACK in its own dialog",
            .callee().hearInvite().answerInvite("183 Progress", ["Require: 100rel", "RSeq: 1"], body: .audio(), tag: "one").hear(
                "PRACK", [.header("To", "tag=one")]
            ).answer("200 OK")
                .answerInvite("183 Progress", ["Require: 100rel", "RSeq: 9"], body: .audio(), tag: "two").hear(
                    "PRACK", [.header("To", "tag=two"), .header("RAck", "9 ")]
                ).answer("200 OK")
                .answerInvite("200 OK", tag: "two").hear("ACK", [.header("To", "tag=two")]).isHungUp()),
        callee(
            "a 200 without a To tag is a call all the same",
            .callee().hearInvite().answerInvite("200 OK", body: .audio(), tag: "").hear("ACK").isHungUp()),
        callee(
            "two algorithms are offered, and the first that is known is taken",
            .callee().hearInvite().answerInvite(
                "401 Unauthorized",
                [
                    #"WWW-Authenticate: Digest realm="x", nonce="a", algorithm=UNKNOWN-1"#,
                    #"WWW-Authenticate: Digest realm="x", nonce="b", algorithm=SHA-256, qop="auth""#,
                    #"WWW-Authenticate: Digest realm="x", nonce="c", algorithm=MD5"#,
                ]
            ).hear("ACK")
                .hearInvite([.header("Authorization", "SHA-256")]).answerInvite("200 OK", body: .audio()).hear(
                    "ACK", [.header("Authorization", "SHA-256")]
                ).isHungUp()),
        callee(
            "a Record-Route of a strict router is followed as it wants",
            .callee().hearInvite().answerInvite("200 OK", ["Record-Route: <sip:[local_ip]:[local_port]>"], body: .audio())
                .hear("ACK", [.header("Route", "sip:1002@")]).hear("BYE", [.header("Route", "sip:1002@")]).answer("200 OK")),
    ]

    private static func callee(_ name: String, _ script: SippScript) -> SippFlow { SippFlow(name: name, target: "1002", script: script) }

    /// A caller, a device of the house, whose callee only rings, answers and ends: who may transfer.
    static let transfers: [SippFlow] = [
        SippFlow(
            name: "a blind transfer: 202, how far it is, and the end", target: "1002",
            script: .call().wait(200).request("REFER", 2, ["Refer-To: <sip:9196@[remote_ip]>"]).expect(202)
                .hear("NOTIFY", [.header("Event", "refer"), .message("SIP/2.0 100")]).answer("200 OK")
                .hear("NOTIFY", [.message("SIP/2.0 180"), .header("Subscription-State", "active")]).answer("200 OK")
                .hear("NOTIFY", [.message("SIP/2.0 200"), .header("Subscription-State", "terminated")]).answer("200 OK").isHungUp(),
            caller: "1003", endsAtCallee: true),
        SippFlow(
            name: "a transfer that nobody wants to hear of", target: "1002",
            script: .call().wait(200).request("REFER", 2, ["Refer-To: <sip:9196@[remote_ip]>", "Refer-Sub: false"]).expect(
                202, [.header("Refer-Sub", "false")]
            ).isHungUp(), caller: "1003", endsAtCallee: true),
        SippFlow(
            name: "a transfer to nobody leaves the call as it was", target: "1002",
            script: .call().wait(200).request("REFER", 2, ["Refer-To: <sip:5555@[remote_ip]>"]).expect(202).hear(
                "NOTIFY", [.message("SIP/2.0 100")]
            ).answer("200 OK")
                .hear("NOTIFY", [.message("SIP/2.0 404")]).answer("200 OK").hangUp(3), caller: "1003"),
        SippFlow(
            name: "another call of the same party takes its place", target: "1002",
            script: .caller("one").invite().progress().expect(200, [.keep("tag", header: "To:", "tag=.*")]).request("ACK", 1)
                .then(
                    .caller("two").invite(["Replaces: one///[call_id];to-[$tag];from-tag=[pid]a[call_number]one"]).expect(
                        100, optional: true
                    ).expect(200).request("ACK", 1)
                )
                .then(.caller("one").isHungUp()).then(.caller("two").hangUp(2)), caller: "1003"),
    ]
}
