// OpenSSL 3's hashes, as the system has them (Debian: libssl-dev).
#include <openssl/evp.h>
#include <openssl/hmac.h>
