// c-ares, the asynchronous resolver, as the system has it (Debian: libc-ares-dev).
#include <ares.h>

// Macros in one version, an enumeration in the next.
static const int ccares_success = ARES_SUCCESS;
static const int ccares_no_data = ARES_ENODATA;
static const int ccares_not_found = ARES_ENOTFOUND;
