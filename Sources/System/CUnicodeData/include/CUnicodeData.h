#ifndef CUNICODEDATA_H
#define CUNICODEDATA_H

// Nothing to call. A release build links this instead of all of ICU's data: see CUnicodeData.c.

#endif
