#include <openssl/crypto.h>

// OpenSSL's work at the end of a process frees the memory of every thread. A thread that ends in that moment frees its own, too, and the
// process dies of a double free after all is done. Our lanes live in threads that come and go, so OpenSSL leaves its memory to the kernel.
// Only the first call into it has a say, which is why this one comes before main.
__attribute__((constructor)) static void leave_memory_to_the_kernel(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }
