/* Legs of journals, as traces.py writes them: is each of them one that the model has? One leg alone, around which everything may happen.
   At the end of a trace its number is told; a trace whose number is never told is not the model's. */

#define LEGS 1
#define PORTS 9
#define AGAIN true
#define MAY_COME(l) true
#define IS_NEEDED true

c_code { static unsigned char told[sizeof traces / sizeof *traces]; }
short chosen, place;

#include "alphabet.pml"
#include "traces.pml"
#include "rules.pml"
#include "leg.pml"

bit opens;

active proctype lane() {
    session = 1;
    select(chosen : 0 .. TRACES - 1);
    do
    :: atomic { networkTurn(0) }
    :: atomic { timerTurn(0) }
    :: atomic { userTurn(0) }
    :: atomic { state[0] == idle -> startCall(0) }
    :: atomic { state[0] == ringing -> SAY(0, TX_18X) }
    :: atomic { state[0] == ringing -> answerCall(0) }
    :: atomic { true; startMedia(0) }
    :: atomic { true; closeMedia(0) }
    :: d_step { c_expr { traces[now.chosen][now.place] == 0 } ->
        c_code { if (!told[now.chosen]) { told[now.chosen] = 1; printf("accepted %d\n", now.chosen); } } } -> break
    od
}
