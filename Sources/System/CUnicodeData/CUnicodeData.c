#include "CUnicodeData.h"

// The part of ICU's data that hookswitch uses, under the symbol that Foundation's own archive gives to all of it. small_icu.py makes the header;
// a build that does not name its folder, as those of the tests, takes what the toolchain has.
#if __has_include(<small-icu.h>)
#include <small-icu.h>
#endif
