// wslay, the frames of WebSocket, as the system has it (Debian: libwslay-dev).
#include <wslay/wslay.h>
