#include "COpenSSL.h"
#include <openssl/crypto.h>
#include <stdio.h>

static void complain(void) { printf("OpenSSL cleans up\n"); }

// Ends as a program of ours does, and says whether OpenSSL then frees what threads still use.
int main(void) {
    if (!EVP_MD_fetch(NULL, "MD5", NULL) || !OPENSSL_atexit(complain)) return 2;
    return 0;
}
