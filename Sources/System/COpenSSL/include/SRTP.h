// What SRTP needs of OpenSSL beyond its EVP: SHA-1 whose state is a plain value, so that the pads of an HMAC key are hashed once and copied per packet. (EVP
// copies a digest's state only through the heap, and so does EVP_MAC when it begins anew under the same key.)
#include <openssl/evp.h>
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#undef OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/crypto.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// HMAC-SHA1 (RFC 2104) under one key: the states after its two pads.
typedef struct { SHA_CTX inner, outer; } copenssl_hmac_sha1;

// The key has at most 64 bytes.
static inline void copenssl_hmac_sha1_key(copenssl_hmac_sha1 *pads, const unsigned char *key, size_t count) {
    unsigned char block[64];
    memset(block, 0x36, sizeof block);
    for (size_t i = 0; i < count; i++) block[i] ^= key[i];
    SHA1_Init(&pads->inner);
    SHA1_Update(&pads->inner, block, sizeof block);
    memset(block, 0x5c, sizeof block);
    for (size_t i = 0; i < count; i++) block[i] ^= key[i];
    SHA1_Init(&pads->outer);
    SHA1_Update(&pads->outer, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
}

// The code of a message in two pieces; 20 bytes.
static inline void copenssl_hmac_sha1_code(
    const copenssl_hmac_sha1 *pads, const void *message, size_t count, const void *tail, size_t tail_count, unsigned char *code) {
    SHA_CTX hash = pads->inner;
    SHA1_Update(&hash, message, count);
    SHA1_Update(&hash, tail, tail_count);
    SHA1_Final(code, &hash);
    hash = pads->outer;
    SHA1_Update(&hash, code, 20);
    SHA1_Final(code, &hash);
}

#pragma GCC diagnostic pop
