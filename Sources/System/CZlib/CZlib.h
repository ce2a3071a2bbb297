// zlib, the compression of gzip, as the system has it (Debian: zlib1g-dev).
#include <zlib.h>
