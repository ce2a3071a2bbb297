/* The rules of the journal's audit (Sources/Engines/CallJournal/Audit), as assertions at each event of a leg. The numbers are those of the
   audit. Not here: R4, R15, R16, R17, R18, M10, M11 and M12, which speak of transactions, groups, resets, instants and contents that the model
   has not. docs/guides/model.md has the correspondence. */

typedef Facts {
    bit incoming, outgoing;
    bit invited, sentTrying, sentEarly, sentOK, sentFinal, receivedACK;
    bit sentInvite, receivedProvisional, receivedEarly, receivedOK, receivedFinal, sentACK;
    bit remoteEnd;
    byte report;
    bit connecting, connected, reportedEnd;
    bit beganStart, beganAnswer, beganEnd, answered, failed;
    byte open;
    bit wantsHold, held;
    byte ports, taken;
    bit configured, opened, wasOpened, running;
    bit ended
}

/* Facts.report */
#define UNREPORTED 0
#define PENDING 1
#define ACCEPTED 2
#define REFUSED_REPORT 3
/* Facts.open: performed and not complete. */
#define OPEN_START 1
#define OPEN_ANSWER 2
#define OPEN_END 4
#define OPEN_HOLD 8
#define OPEN_RESUME 16

Facts f[LEGS];
/* The audio session that the legs share. */
bit session;
/* 64·T1 has passed since the 200. */
bit waited[LEGS];

mtype = { R1, R2, R3, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, M1, M2, M3, M4, M5, M5s, M6, M7, M8, M9 };

#define RULE(rule, holds) if :: !(holds) -> printf("broken: %e\n", rule); assert(false) :: else fi

#define WAS_REFUSED(l) (f[l].report == REFUSED_REPORT)
#define IS_ENDING(l) (f[l].beganEnd || f[l].reportedEnd || f[l].ended || f[l].remoteEnd || f[l].failed || WAS_REFUSED(l))
#define HAS_BEGUN(l) (f[l].incoming && f[l].beganAnswer || f[l].outgoing && f[l].beganStart || !f[l].incoming && f[l].beganStart)
#define IS_CONNECTED(l) (f[l].incoming && f[l].answered || f[l].outgoing && f[l].connected)
/* CallKit has it as connected, and it is not on hold. */
#define IS_ACTIVE(l) (IS_CONNECTED(l) && !f[l].held && !IS_ENDING(l))

inline noteRemoteEnd(l) { if :: !IS_ENDING(l) -> f[l].remoteEnd = 1 :: else fi }
inline began(l, action) { RULE(R5, !(f[l].open & action)); f[l].open = f[l].open | action }
inline completed(l, action) { RULE(R5, f[l].open & action); f[l].open = f[l].open & ~action }
inline gaveUp(l, action) { completed(l, action); if :: !f[l].ended -> f[l].failed = 1 :: else fi }

/* Signalling of a call that comes. */
inline on_RX_INVITE(l) { f[l].incoming = 1; f[l].invited = 1; f[l].sentTrying = 0; f[l].sentFinal = 0; f[l].remoteEnd = 0 }
inline on_TX_100(l) { f[l].sentTrying = 1 }
inline on_TX_18X(l) { RULE(R2, f[l].report == ACCEPTED); f[l].sentEarly = 1 }
inline on_TX_2XX(l) {
    RULE(R2, !WAS_REFUSED(l));
    RULE(R3, f[l].beganAnswer && !f[l].sentOK && !IS_ENDING(l));
    RULE(M6, f[l].wasOpened);
    f[l].sentOK = 1
}
inline on_TX_FINAL(l) {
    RULE(R8, !f[l].sentOK && (IS_ENDING(l) || f[l].taken > 0 || f[l].report == UNREPORTED));
    f[l].sentFinal = 1
}
inline on_RX_ACK(l) { f[l].receivedACK = 1 }
inline on_RX_CANCEL(l) { if :: !f[l].sentOK -> noteRemoteEnd(l) :: else fi }
inline on_RX_BYE(l) { noteRemoteEnd(l) }

/* Signalling of a call that goes out. */
inline on_TX_INVITE(l) {
    RULE(R6, f[l].beganStart && (!f[l].sentInvite || f[l].receivedFinal) && !f[l].ended && !f[l].beganEnd && !f[l].reportedEnd);
    f[l].outgoing = 1; f[l].sentInvite = 1; f[l].receivedProvisional = 0; f[l].receivedFinal = 0; f[l].remoteEnd = 0
}
inline on_RX_100(l) { f[l].receivedProvisional = 1 }
inline on_RX_18X(l) { f[l].receivedProvisional = 1; f[l].receivedEarly = 1 }
inline on_RX_2XX(l) { f[l].receivedOK = 1 }
inline on_RX_FINAL(l) { f[l].receivedFinal = 1; noteRemoteEnd(l) }
inline on_UNANSWERED(l) { f[l].receivedFinal = 1 }
inline on_TX_ACK(l) { f[l].sentACK = 1 }
inline on_TX_CANCEL(l) { RULE(R12, f[l].receivedProvisional); RULE(R8, IS_ENDING(l)) }
inline on_TX_BYE(l) {
    RULE(R8, IS_ENDING(l) || f[l].taken > 0);
    RULE(M4, !f[l].running);
    RULE(R11, f[l].outgoing || f[l].sentOK && (f[l].receivedACK || waited[l]));
}

/* Reports. */
inline on_REPORT(l) {
    RULE(R1, f[l].report == UNREPORTED && f[l].invited && f[l].sentTrying && !f[l].sentEarly && f[l].ports == 1);
    f[l].report = PENDING
}
inline on_REPORT_OK(l) { f[l].report = ACCEPTED }
inline on_REPORT_ERROR(l) { f[l].report = REFUSED_REPORT }
inline on_CONNECTING(l) { RULE(R7, !f[l].connecting && f[l].receivedEarly); RULE(R10, !f[l].ended); f[l].connecting = 1 }
inline on_CONNECTED(l) {
    RULE(R7, !f[l].connected && f[l].receivedOK);
    RULE(M6, f[l].wasOpened);
    RULE(R10, !f[l].ended);
    f[l].connected = 1
}
inline on_REPORT_ENDED(l) { RULE(R9, !f[l].reportedEnd); RULE(R10, !f[l].ended); f[l].reportedEnd = 1 }

/* Actions. */
inline on_START(l) { began(l, OPEN_START); RULE(R10, !f[l].ended); f[l].beganStart = 1 }
inline on_ANSWER(l) { began(l, OPEN_ANSWER); RULE(R10, !f[l].ended); f[l].beganAnswer = 1 }
inline on_END(l) {
    began(l, OPEN_END);
    RULE(R9, !f[l].remoteEnd);
    RULE(R10, !f[l].ended);
    f[l].beganEnd = 1
}
inline on_HOLD(l) { began(l, OPEN_HOLD); RULE(R10, !f[l].ended); f[l].wantsHold = 1 }
inline on_RESUME(l) { began(l, OPEN_RESUME); RULE(R10, !f[l].ended); f[l].wantsHold = 0 }
inline on_START_DONE(l) { completed(l, OPEN_START); RULE(R6, f[l].sentInvite); RULE(R5, !f[l].ended) }
inline on_ANSWER_DONE(l) { completed(l, OPEN_ANSWER); RULE(M6, f[l].wasOpened); RULE(R5, !f[l].ended); f[l].answered = 1 }
inline on_END_DONE(l) { completed(l, OPEN_END) }
inline on_HOLD_DONE(l) { completed(l, OPEN_HOLD); RULE(R14, !f[l].running); RULE(R5, !f[l].ended); f[l].held = 1 }
inline on_RESUME_DONE(l) { completed(l, OPEN_RESUME); RULE(R5, !f[l].ended); f[l].held = 0 }
inline on_START_FAILED(l) { gaveUp(l, OPEN_START) }
inline on_ANSWER_FAILED(l) { gaveUp(l, OPEN_ANSWER) }
inline on_END_FAILED(l) { completed(l, OPEN_END) }
inline on_HOLD_FAILED(l) { completed(l, OPEN_HOLD); f[l].wantsHold = f[l].held }
inline on_RESUME_FAILED(l) { completed(l, OPEN_RESUME); f[l].wantsHold = f[l].held }
inline on_ENDED(l) {
    RULE(R10, !f[l].ended);
    RULE(M4, !f[l].running);
    RULE(R7, !f[l].outgoing || !f[l].wasOpened || f[l].connected);
    RULE(R9, !f[l].remoteEnd || f[l].reportedEnd || f[l].beganEnd || f[l].failed || WAS_REFUSED(l));
    f[l].ended = 1
}

/* Media, and the session. */
inline on_RESERVED(l) { RULE(M8, f[l].ports == f[l].taken && !f[l].wasOpened); f[l].ports++ }
inline on_REFUSED(l) { f[l].taken++ }
inline on_CONFIGURED(l) { RULE(M1, HAS_BEGUN(l)); RULE(M3, !IS_ENDING(l)); f[l].configured = 1 }
inline on_OPENED(l) {
    RULE(M1, HAS_BEGUN(l));
    RULE(M3, !IS_ENDING(l));
    RULE(M6, f[l].configured && !f[l].sentOK && !f[l].sentACK);
    RULE(M7, f[l].incoming || f[l].receivedOK);
    RULE(M8, !f[l].opened && f[l].ports > f[l].taken);
    f[l].opened = 1; f[l].wasOpened = 1
}
inline on_STARTED(l) {
    RULE(M1, HAS_BEGUN(l));
    RULE(M3, !IS_ENDING(l));
    RULE(M2, f[l].configured && f[l].opened && !f[l].running && session);
    RULE(R14, !f[l].wantsHold);
    f[l].running = 1
}
inline on_STOPPED(l) { RULE(M2, f[l].running); f[l].running = 0 }
inline on_CLOSED(l) {
    RULE(M5, IS_ENDING(l) || f[l].sentFinal);
    RULE(M4, !f[l].running);
    RULE(M8, f[l].opened);
    RULE(M5s, !session || IS_NEEDED);
    f[l].opened = 0
}
inline on_RELEASED(l) {
    RULE(M5, (IS_ENDING(l) || f[l].sentFinal) && !f[l].opened);
    RULE(M4, !f[l].running);
    RULE(M8, f[l].ports > 0);
    f[l].ports--
}
inline activate() { RULE(M9, !session && IS_NEEDED); session = 1 }
inline deactivate() { RULE(M9, session && !IS_NEEDED); session = 0 }

/* A call that is over broke none of these by an event that is missing. */
inline closing(l) {
    RULE(R5, !(f[l].open & OPEN_END));
    RULE(R10, f[l].ended || f[l].report != ACCEPTED && !f[l].beganStart);
    RULE(R13, !WAS_REFUSED(l) || f[l].sentFinal);
    RULE(M8, !f[l].opened && f[l].ports == 0)
}
