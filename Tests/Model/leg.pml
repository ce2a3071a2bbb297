/* A leg of the gateway: what it does at each input, in which order. One leg is one SIP dialog, its media, and one call of CallKit.

   The lane is serial: a turn is one input with all that follows from it (atomic). Whatever the network and users may do comes at any time:
   the far end sends each message that SIP knows, in any order, or none; a timer fires whenever it runs. So a message that is lost, late or
   doubled is a message that does not come, or comes later. say(l, EVENT) writes the journal. */

#ifdef TRACE
/* A trace of a journal is followed: only what it says next may happen. */
#define SAY(l, event) c_expr { traces[now.chosen][now.place] == (event) }; place++; on_##event(l)
#else
#define SAY(l, event) true; printf(#event); printf(" of leg %d\n", l); on_##event(l)
#endif

mtype = { idle, ringing, answering, calling, up, over };
mtype state[LEGS] = idle;
/* A message that must wait: BYE for the ACK, CANCEL for a provisional response. */
bit owesBye[LEGS], owesCancel[LEGS];
/* It ended in this turn, and is closed at the turn's end. */
bit leaves[LEGS];
/* What is told to the other leg. */
bit rang[LEGS], tellsEnd[LEGS];

/* MARK: Ends */

inline stopMedia(l) { if :: f[l].running -> SAY(l, STOPPED) :: else fi }

/* What is outstanding when a call ends is failed. */
inline failActions(l) {
    if :: f[l].open & OPEN_HOLD -> SAY(l, HOLD_FAILED) :: else fi;
    if :: f[l].open & OPEN_RESUME -> SAY(l, RESUME_FAILED) :: else fi
}

inline endCall(l) { SAY(l, ENDED); state[l] = over; leaves[l] = 1; tellsEnd[l] = 1 }

inline sendBye(l) {
    if :: f[l].outgoing || f[l].receivedACK || waited[l] -> SAY(l, TX_BYE) :: else -> owesBye[l] = 1 fi
}

inline cancelInvite(l) {
    if :: f[l].receivedProvisional && !f[l].receivedFinal -> SAY(l, TX_CANCEL) :: !f[l].receivedProvisional -> owesCancel[l] = 1 :: else fi
}

/* The far end, or the gateway, has ended it. */
inline reportEnd(l) {
    stopMedia(l); SAY(l, REPORT_ENDED);
    if :: f[l].open & OPEN_ANSWER -> SAY(l, ANSWER_FAILED) :: else fi;
    failActions(l); endCall(l)
}

/* The gateway ends it: no ACK came, its time is over, nobody answered, media is lost. */
inline giveUp(l) {
    if
    :: state[l] == ringing || state[l] == answering -> reportEnd(l); SAY(l, TX_FINAL)
    :: state[l] == up -> reportEnd(l); sendBye(l)
    :: state[l] == calling -> reportEnd(l); cancelInvite(l)
    fi
}

/* The user ends it. */
inline hangUp(l) {
    SAY(l, END);
    if
    :: state[l] == ringing -> SAY(l, TX_FINAL); SAY(l, END_DONE)
    :: state[l] == answering -> SAY(l, TX_FINAL); SAY(l, END_DONE); SAY(l, ANSWER_FAILED)
    :: state[l] == up -> stopMedia(l); sendBye(l); SAY(l, END_DONE)
    :: state[l] == calling -> cancelInvite(l); SAY(l, END_DONE)
    fi;
    failActions(l); endCall(l)
}

/* MARK: A call that comes */

inline receiveInvite(l) {
    SAY(l, RX_INVITE);
    if
    :: SAY(l, TX_100)
    :: true
    fi;
    if
    /* A password is asked for, or nobody is there. */
    :: SAY(l, TX_FINAL); state[l] = (AGAIN -> idle : over)
    :: f[l].sentTrying -> SAY(l, RESERVED); SAY(l, REPORT);
        if
        :: SAY(l, REPORT_OK); state[l] = ringing; rang[l] = 0
        :: SAY(l, REPORT_ERROR); SAY(l, TX_FINAL); SAY(l, RELEASED); state[l] = over
        fi
    fi
}

/* Media for the 200: another port is taken where a program holds the first. */
inline openMedia(l, opens) {
    do
    :: f[l].taken < PORTS -> SAY(l, REFUSED); if :: SAY(l, RESERVED) :: opens = 0; break fi
    :: SAY(l, OPENED); opens = 1; break
    od
}

inline answerCall(l) {
    SAY(l, ANSWER);
    if
    :: acceptCall(l)
    /* The delegate takes its time. */
    :: state[l] = answering
    fi
}

inline acceptCall(l) {
    SAY(l, CONFIGURED); openMedia(l, opens);
    if
    :: opens -> SAY(l, TX_2XX); SAY(l, ANSWER_DONE); state[l] = up
    :: else -> failAnswer(l)
    fi
}

/* The delegate fails it, or the action clock does. */
inline failAnswer(l) { SAY(l, ANSWER_FAILED); SAY(l, TX_FINAL); endCall(l) }

/* MARK: A call that goes out */

inline startCall(l) {
    SAY(l, START);
    if
    :: SAY(l, RESERVED); SAY(l, CONFIGURED); SAY(l, TX_INVITE); SAY(l, START_DONE); state[l] = calling
    /* No port, or no way to the place. */
    :: SAY(l, START_FAILED); endCall(l)
    fi
}

inline receiveOK(l) {
    SAY(l, RX_2XX);
    if
    :: state[l] == calling ->
        openMedia(l, opens);
        if
        :: opens -> SAY(l, TX_ACK); SAY(l, CONNECTED); state[l] = up
        :: else -> SAY(l, TX_ACK); SAY(l, TX_BYE); SAY(l, REPORT_ENDED); endCall(l)
        fi
    /* It crossed the end. */
    :: else -> SAY(l, TX_ACK); SAY(l, TX_BYE); owesCancel[l] = 0
    fi
}

/* A challenge, a redirection, or another server: the INVITE goes once more. */
inline receiveFinal(l) {
    if :: SAY(l, RX_FINAL) :: SAY(l, UNANSWERED) fi;
    owesCancel[l] = 0;
    if
    :: state[l] == calling && AGAIN -> SAY(l, TX_INVITE)
    :: state[l] == calling -> SAY(l, REPORT_ENDED); endCall(l)
    :: else
    fi
}

/* MARK: Turns */

/* What the network does to it. */
inline networkTurn(l) {
    if
    :: MAY_COME(l) && state[l] == idle -> receiveInvite(l)
    :: f[l].sentOK && !f[l].receivedACK ->
        SAY(l, RX_ACK); if :: owesBye[l] -> SAY(l, TX_BYE); owesBye[l] = 0 :: else fi
    :: f[l].incoming && (state[l] == ringing || state[l] == answering) ->
        SAY(l, RX_CANCEL); SAY(l, TX_FINAL); reportEnd(l)
    :: state[l] == up -> SAY(l, RX_BYE); reportEnd(l)
    :: state[l] == over && (f[l].sentOK || f[l].receivedOK) -> SAY(l, RX_BYE); owesBye[l] = 0
    :: f[l].sentInvite && !f[l].receivedOK && !f[l].receivedFinal ->
        if
        :: SAY(l, RX_100)
        :: SAY(l, RX_18X);
            if :: state[l] == calling && !f[l].connecting -> SAY(l, CONNECTING) :: else fi; rang[l] = 1
        fi;
        if :: owesCancel[l] -> SAY(l, TX_CANCEL); owesCancel[l] = 0 :: else fi
    /* A provisional response that the 2xx overtook. */
    :: f[l].receivedOK -> if :: SAY(l, RX_100) :: SAY(l, RX_18X) fi
    :: f[l].sentInvite && !f[l].receivedOK && !f[l].receivedFinal -> receiveOK(l)
    :: f[l].sentInvite && !f[l].receivedOK && !f[l].receivedFinal -> receiveFinal(l)
    fi
}

/* What timers and delegates do. */
inline timerTurn(l) {
    if
    :: state[l] == ringing || state[l] == answering || state[l] == calling || state[l] == up -> giveUp(l)
    :: f[l].sentOK && !f[l].receivedACK && !waited[l] -> waited[l] = 1;
        if :: owesBye[l] -> SAY(l, TX_BYE); owesBye[l] = 0 :: state[l] == up -> giveUp(l) :: else fi
    :: state[l] == answering -> if :: acceptCall(l) :: failAnswer(l) fi
    /* The far end has answered the re-INVITE, or it failed. */
    :: f[l].open & OPEN_RESUME -> if :: SAY(l, RESUME_DONE) :: SAY(l, RESUME_FAILED) fi
    :: f[l].open & OPEN_HOLD -> if :: SAY(l, HOLD_DONE) :: SAY(l, HOLD_FAILED) fi
    fi
}

/* What users do. */
inline holdCall(l) {
    SAY(l, HOLD); stopMedia(l);
    if :: f[l].open & OPEN_RESUME -> SAY(l, RESUME_FAILED) :: else fi;
    if :: SAY(l, HOLD_DONE) :: true fi
}
inline resumeCall(l) { SAY(l, RESUME); if :: SAY(l, RESUME_DONE) :: SAY(l, RESUME_FAILED) :: true fi }

inline userTurn(l) {
    if
    :: state[l] == ringing || state[l] == answering || state[l] == calling || state[l] == up -> hangUp(l)
    :: state[l] == up && !(f[l].open & OPEN_HOLD) -> holdCall(l)
    :: state[l] == up && f[l].held && !f[l].open -> resumeCall(l)
    fi
}

/* The end of a turn: the session as the calls need it, media with it, and what has ended is closed. */
inline startMedia(l) { if :: session && IS_ACTIVE(l) && f[l].opened && !f[l].running && !f[l].wantsHold -> SAY(l, STARTED) :: else fi }
inline closeMedia(l) {
    if
    :: leaves[l] && (!session || IS_NEEDED) ->
        if :: f[l].opened -> SAY(l, CLOSED) :: else fi;
        do :: f[l].ports > 0 -> SAY(l, RELEASED) :: else -> break od;
        leaves[l] = 0
    :: else
    fi
}
