/* A bridge: a call comes to a line (leg 0), the line calls out (leg 1; with three legs it calls two places at once, and the first that
   answers gets it), and what is reported of one leg becomes a transaction of the other. Checked for every order of what networks, users and
   timers may do: spin -a, exhaustively. scripts/model does it. */

#ifndef LEGS
#define LEGS 2
#endif
#define PORTS 1
#define AGAIN true
#define MAY_COME(l) (l == 0)
#if LEGS == 3
#define IS_NEEDED (IS_ACTIVE(0) || IS_ACTIVE(1) || IS_ACTIVE(2))
#else
#define IS_NEEDED (IS_ACTIVE(0) || IS_ACTIVE(1))
#endif

#include "alphabet.pml"
#include "rules.pml"
#include "leg.pml"

#define IS_UP(l) (state[l] == ringing || state[l] == answering || state[l] == calling || state[l] == up)
bit opens, wasBridged;

/* Reports of one leg become transactions of another. */
inline callOut() { startCall(1); if :: LEGS == 3 -> startCall(LEGS - 1) :: else fi }

inline followLeg(l) {
    if
    :: rang[l] -> rang[l] = 0; if :: state[0] == ringing -> SAY(0, TX_18X) :: else fi
    :: state[l] == up && state[0] == ringing -> answerCall(0)
    :: tellsEnd[l] && (LEGS == 2 || state[LEGS - l] == over || state[LEGS - l] == idle || IS_CONNECTED(l)) ->
        tellsEnd[l] = 0; if :: IS_UP(0) -> hangUp(0) :: else fi
    :: tellsEnd[0] && IS_UP(l) -> hangUp(l)
    /* Somebody else has answered. */
    :: LEGS == 3 && state[l] == calling && state[LEGS - l] == up -> giveUp(l)
    fi
}

inline settle() {
    if :: IS_NEEDED && !session -> activate() :: else fi;
    startMedia(0); startMedia(1); if :: LEGS == 3 -> startMedia(LEGS - 1) :: else fi;
    if :: session && !IS_NEEDED -> deactivate() :: else fi
}

/* What holds between turns, whatever happened: media exists between answer and end alone, and an end leaves nothing. */
#define HAS_MEDIA(l) (f[l].opened || f[l].running)
#define IS_SOUND(l) ((!HAS_MEDIA(l) || (f[l].sentOK || f[l].receivedOK) && !f[l].ended) && (!f[l].ended || f[l].ports == 0))

inline finishTurn() {
    settle();
    if
    :: state[0] == ringing && !wasBridged -> wasBridged = 1;
        /* An application answers by itself. */
        if :: callOut() :: answerCall(0) fi; settle()
    :: else
    fi;
    do
    :: followLeg(1); settle()
#if LEGS == 3
    :: followLeg(2); settle()
#endif
    :: else -> break
    od;
    closeMedia(0); closeMedia(1); if :: LEGS == 3 -> closeMedia(LEGS - 1) :: else fi;
    assert(IS_SOUND(0) && IS_SOUND(1) && IS_SOUND(LEGS - 1))
}

proctype leg(byte l) {
end:
    do
    :: atomic { if :: networkTurn(l) :: timerTurn(l) :: userTurn(l) fi; finishTurn() }
    od
}

#define IS_DONE(l) (state[l] == over || state[l] == idle)

/* Nothing more comes: what was missing by then will be missing for ever. */
active proctype gateway() {
    atomic {
        run leg(0); run leg(1);
        if :: LEGS == 3 -> run leg(LEGS - 1) :: else fi
    };
end:
    atomic {
        state[0] == over && IS_DONE(1) && IS_DONE(LEGS - 1) ->
        closing(0); closing(1); if :: LEGS == 3 -> closing(LEGS - 1) :: else fi;
        assert(!session)
    }
}
