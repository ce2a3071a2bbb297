import Primitives
import SIP

extension TortureCase {
    /// Races with a target that answers by itself: what it hears is in an order that it did not expect.
    static let races: [TortureCase] = [
        TortureCase(
            .races, "options-again", "RFC 3261 §17.2.2", "a request that comes again gets the same answer", isForDatagrams: true,
            [
                .send(.caller, TortureRequest(method: .options)), .final(.caller, .options, .anything), .send(.caller, .repeated(.options)),
                .again(.caller, .options),
            ]),
        TortureCase(
            .races, "invite-after-200", "RFC 5407 §3.1.1", "an INVITE that comes again after its 200 makes no second call",
            [.send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .repeated(.invite)), .again(.caller, .invite)], hangUp),
        TortureCase(
            .races, "cancel-after-200", "RFC 5407 §3.1.2", "a CANCEL that comes after the 200 changes nothing",
            [.send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .cancel), .final(.caller, .cancel, .status([200, 481]))],
            hangUp),
        TortureCase(
            .races, "bye-before-ack", "RFC 5407 §3.1.3", "a BYE that overtakes the ACK ends the call; the late ACK is not answered",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .bye), .final(.caller, .bye, .success),
                .send(.caller, .ack()),
                .pause(.milliseconds(100)),
            ]),
        TortureCase(
            .races, "reinvite-before-ack", "RFC 5407 §3.1.4", "a re-INVITE that overtakes the ACK is answered, now or later",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .invite(.offer)),
                .final(.caller, .invite, .status([200, 491, 500])),
                .send(.caller, .ack()),
            ], hangUp),
        TortureCase(
            .races, "reinvite-before-answer", "RFC 5407 §3.1.5", "a re-INVITE while the offer in the 200 has no answer is refused: 491",
            [
                .send(.caller, .invite()), .answered(.caller), .describes(.caller, .audio()), .send(.caller, .invite(.offer)),
                .final(.caller, .invite, .status([491, 500])), .send(.caller, .ack(.offer)),
            ], sayBye),
        TortureCase(
            .races, "update-before-answer", "RFC 3311 §5.2",
            "an UPDATE with an offer while the offer in the 200 has no answer is refused: 491",
            [
                .send(.caller, .invite()), .answered(.caller), .allows(.update), .send(.caller, .update(.offer)),
                .final(.caller, .update, .status([491, 500, 504])), .send(.caller, .ack(.offer)),
            ], sayBye),
        TortureCase(
            .races, "cancel-with-invite", "RFC 3261 §9.2",
            "a CANCEL right behind its INVITE: 200, and the INVITE ends with 487 unless it was answered before",
            [
                .send(.caller, .invite(.offer)), .send(.caller, .cancel), .final(.caller, .cancel, .status([200, 481])),
                .final(.caller, .invite, .status([487, 200])),
            ]),
        TortureCase(
            .races, "cancel-before-invite", "RFC 3261 §9.2", "a CANCEL that overtakes its INVITE finds nothing: 481, and the call is made",
            [
                .prepare(.caller, .invite(.offer)), .send(.caller, .cancel), .final(.caller, .cancel, .status([481, 200])),
                .send(.caller, .prepared),
                .final(.caller, .invite, .any(but: [481, 500])),
            ]),
        TortureCase(
            .races, "cancel-after-refusal", "RFC 3261 §9.2", "a CANCEL after a refusal changes nothing",
            [
                .send(.caller, .invite(.offer, headers: [(.require, "nobody-has-this")])), .final(.caller, .invite, .status([420])),
                .send(.caller, .cancel),
                .final(.caller, .cancel, .status([200, 481])),
            ]),
        TortureCase(
            .races, "merged-request", "RFC 3261 §8.2.2.2", "the same INVITE by two ways: the second is refused with 482",
            [
                .send(.caller, .invite(.offer)), .send(.caller, TortureRequest(method: .invite, kind: .merged)),
                .final(.caller, .invite, .status([482])),
            ]),
        TortureCase(
            .races, "bye-again", "RFC 3261 §17.2.2", "a BYE that comes again gets the same answer", isForDatagrams: true,
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .bye),
                .final(.caller, .bye, .success),
                .send(.caller, .repeated(.bye)), .again(.caller, .bye),
            ]),
        TortureCase(
            .races, "second-bye", "RFC 5407 §3.2.1", "a new BYE for a call that is over finds no call: 481",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .bye),
                .final(.caller, .bye, .success),
                .send(.caller, .bye), .final(.caller, .bye, .status([481])),
            ]),
        TortureCase(
            .races, "reinvite-behind-bye", "RFC 5407 §3.2.2", "a re-INVITE right behind a BYE finds no call: 481",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .bye),
                .send(.caller, .invite(.offer)),
                .final(.caller, .bye, .success), .final(.caller, .invite, .status([481])),
            ]),
        TortureCase(
            .races, "bye-behind-reinvite", "RFC 5407 §3.2.3",
            "a BYE right behind a re-INVITE ends the call, and the re-INVITE has a final response all the same",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .invite(.offer)),
                .send(.caller, .bye),
                .final(.caller, .bye, .success), .final(.caller, .invite, .status([200, 481, 487, 491, 500])),
            ]),
        TortureCase(
            .races, "ack-again", "RFC 3261 §13.3.1.4", "an ACK that comes twice is not answered, and the call goes on",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .repeated(.ack)),
                .pause(.milliseconds(100)),
            ], sayBye),
        TortureCase(
            .races, "reinvite-before-reack", "RFC 3261 §14.2", "a second re-INVITE before the ACK of the first is answered, now or later",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()), .send(.caller, .invite(.offer)),
                .answered(.caller),
                .send(.caller, .invite(.offer)), .final(.caller, .invite, .status([200, 491, 500])), .send(.caller, .ack()),
            ], hangUp),
        TortureCase(
            .races, "old-cseq", "RFC 3261 §12.2.2", "a request with a CSeq that was used before is out of order: 500",
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .send(.caller, .ack()),
                .send(.caller, TortureRequest(method: .options)),
                .final(.caller, .options, .anything), .send(.caller, TortureRequest(method: .options, kind: .stale)),
                .final(.caller, .options, .status([500])),
            ], sayBye),
        TortureCase(
            .races, "stray-bye", "RFC 3261 §12.2.2", "a BYE of a call that nobody knows: 481",
            [.send(.caller, TortureRequest(method: .bye, kind: .stray)), .final(.caller, .bye, .status([481]))]),
        TortureCase(
            .races, "stray-cancel", "RFC 3261 §9.2", "a CANCEL of an INVITE that never was: 481",
            [.prepare(.caller, .invite(.offer)), .send(.caller, .cancel), .final(.caller, .cancel, .status([481]))]),
        TortureCase(
            .races, "no-ack", "RFC 3261 §13.3.1.4", "a 200 without an ACK is sent again, and after 32 seconds the call is ended with BYE",
            isSlow: true,
            [.send(.caller, .invite(.offer)), .answered(.caller), .again(.caller, .invite), .arrives(.caller, .bye, within: .seconds(45))]),
        TortureCase(
            .races, "bye-crosses-bye", "RFC 5407 §3.2.1", "two BYEs that cross are both answered", holding: [.bye], isSlow: true,
            [
                .send(.caller, .invite(.offer)), .answered(.caller), .arrives(.caller, .bye, within: .seconds(45)), .send(.caller, .bye),
                .final(.caller, .bye, .status([200, 481])), .answer(.caller, .bye, 200),
            ]),
    ]

    static let sayBye: [TortureStep] = [.send(.caller, .bye), .final(.caller, .bye, .success)]
    static let hangUp: [TortureStep] = ([.send(.caller, .ack())] as [TortureStep]) + sayBye

    /// A call through the target to a line of its own, which is ours too.
    private static let calledThrough: [TortureStep] = [.send(.caller, .invite(.offer)), .arrives(.callee, .invite)]
    private static let connected: [TortureStep] =
        calledThrough
        + ([.answer(.callee, .invite, 200, .offer), .arrives(.callee, .ack), .answered(.caller), .send(.caller, .ack())] as [TortureStep])

    /// Races with a target that stands between two telephones of ours.
    static let lineRaces: [TortureCase] = [
        TortureCase(
            .races, "byes-cross-inside", "RFC 5407 §3.2.1", "both ends hang up at once: both BYEs are answered",
            connected,
            [
                .send(.caller, .bye), .send(.callee, .bye), .final(.caller, .bye, .status([200, 481])),
                .final(.callee, .bye, .status([200, 481])),
            ]),
        TortureCase(
            .races, "reinvites-cross-inside", "RFC 5407 §3.3.1",
            "both ends send a re-INVITE at once: both are answered, and the call goes on",
            connected,
            [
                .send(.caller, .invite(.offer)), .send(.callee, .invite(.offer)), .final(.caller, .invite, .status([200, 491, 500])),
                .final(.callee, .invite, .status([200, 491, 500])),
            ]),
        TortureCase(
            .races, "cancel-crosses-200", "RFC 3261 §9.1",
            "the callee's 200 crosses the caller's CANCEL: it is acknowledged, and one end is in no call that the other is not in",
            calledThrough,
            [
                .answer(.callee, .invite, 180), .send(.caller, .cancel), .answer(.callee, .invite, 200, .offer), .arrives(.callee, .ack),
                .final(.caller, .cancel, .status([200, 481])), .final(.caller, .invite, .status([487, 200])), .leave(.caller),
                .arrives(.callee, .bye),
            ]),
        TortureCase(
            .races, "200-after-cancel", "RFC 3261 §9.1", "a callee that answers although it was cancelled gets ACK and BYE",
            holding: [.cancel],
            calledThrough,
            [
                .answer(.callee, .invite, 180), .send(.caller, .cancel), .arrives(.callee, .cancel), .answer(.callee, .cancel, 200),
                .final(.caller, .invite, .status([487])), .answer(.callee, .invite, 200, .offer), .arrives(.callee, .ack),
                .arrives(.callee, .bye),
            ]),
        TortureCase(
            .races, "early-bye", "RFC 3261 §15.1.2",
            "a BYE before the answer ends the call: the INVITE gets 487, and the callee is cancelled",
            calledThrough,
            [
                .answer(.callee, .invite, 180), .pause(.milliseconds(100)), .send(.caller, .bye), .final(.caller, .bye, .success),
                .final(.caller, .invite, .status([487])), .arrives(.callee, .cancel),
            ]),
        TortureCase(
            .races, "second-200", "RFC 3261 §13.2.2.4", "a 200 of another fork gets ACK and BYE, and the first call goes on",
            connected,
            [
                .answer(.callee, .invite, 200, .offer, tag: "another-fork"), .arrives(.callee, .ack), .arrives(.callee, .bye),
            ], sayBye, [.arrives(.callee, .bye)]),
        TortureCase(
            .races, "200-again", "RFC 3261 §13.2.2.4", "a 200 that comes again is acknowledged again",
            connected, [.answer(.callee, .invite, 200, .offer), .arrives(.callee, .ack)], sayBye, [.arrives(.callee, .bye)]),
        TortureCase(
            .races, "bye-behind-200", "RFC 5407 §3.1.3", "the callee hangs up right behind its 200: the caller hears of both",
            calledThrough,
            [
                .answer(.callee, .invite, 200, .offer), .send(.callee, .bye), .final(.callee, .bye, .success), .answered(.caller),
                .send(.caller, .ack()),
                .arrives(.caller, .bye),
            ]),
    ]
}
