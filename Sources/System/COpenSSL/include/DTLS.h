// DTLS for media (RFC 5763): a certificate of our own, sessions over datagrams that others carry, and what is a macro in OpenSSL's headers.
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>
#include <sys/time.h>

// One datagram that has come, and those that are to go, each behind two bytes with its length. What does not fit is lost, as on any network.
typedef struct {
    const unsigned char *input;
    int input_count;
    unsigned char *output;
    int output_count, output_room;
} copenssl_datagrams;

static int copenssl_datagram_write(BIO *bio, const char *bytes, int count) {
    copenssl_datagrams *box = (copenssl_datagrams *)BIO_get_data(bio);
    if (count <= 0 || count > 0xffff || box->output_count + 2 + count > box->output_room) return count;
    box->output[box->output_count++] = (unsigned char)(count >> 8);
    box->output[box->output_count++] = (unsigned char)count;
    memcpy(box->output + box->output_count, bytes, (size_t)count);
    box->output_count += count;
    return count;
}

static int copenssl_datagram_read(BIO *bio, char *bytes, int count) {
    copenssl_datagrams *box = (copenssl_datagrams *)BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (box->input_count <= 0) {
        BIO_set_retry_read(bio);
        return -1;
    }
    int taken = count < box->input_count ? count : box->input_count;
    memcpy(bytes, box->input, (size_t)taken);
    box->input_count = 0;
    return taken;
}

static long copenssl_datagram_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_DGRAM_QUERY_MTU:
    case BIO_CTRL_DGRAM_GET_FALLBACK_MTU: return 1200;
    case BIO_CTRL_DGRAM_GET_MTU_OVERHEAD: return 48;
    default: return 0;
    }
}

static int copenssl_datagram_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

// Made once, and never freed.
static inline BIO_METHOD *copenssl_datagram_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagrams");
    if (!method) return NULL;
    BIO_meth_set_write(method, copenssl_datagram_write);
    BIO_meth_set_read(method, copenssl_datagram_read);
    BIO_meth_set_ctrl(method, copenssl_datagram_control);
    BIO_meth_set_create(method, copenssl_datagram_create);
    return method;
}

// Any certificate is taken in the handshake; its fingerprint is compared afterwards with the signalled one (RFC 5763 §5).
static int copenssl_take_any_certificate(int ok, X509_STORE_CTX *store) {
    (void)ok, (void)store;
    return 1;
}

// A self-signed certificate with a fresh P-256 key, for 30 days from a day ago on; its name says nothing (RFC 8827 §6.5).
static inline int copenssl_make_certificate(X509 **certificate, EVP_PKEY **key) {
    *key = EVP_EC_gen("P-256");
    *certificate = X509_new();
    unsigned char serial[8];
    if (!*key || !*certificate || RAND_bytes(serial, sizeof serial) != 1) return 0;
    serial[0] &= 0x7f;
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    X509_NAME *name = X509_get_subject_name(*certificate);
    int ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(*certificate)) && X509_set_version(*certificate, 2)
        && X509_gmtime_adj(X509_getm_notBefore(*certificate), -86400) && X509_gmtime_adj(X509_getm_notAfter(*certificate), 30L * 86400)
        && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"media", -1, -1, 0) && X509_set_issuer_name(*certificate, name)
        && X509_set_pubkey(*certificate, *key) && X509_sign(*certificate, *key, EVP_sha256());
    BN_free(number);
    return ok ? 1 : 0;
}

// DTLS 1.2 for media alone: mutual certificates, the suites of SRTP, no resumption, no renegotiation.
static inline SSL_CTX *copenssl_media_context(X509 *certificate, EVP_PKEY *key) {
    SSL_CTX *context = SSL_CTX_new(DTLS_method());
    if (!context) return NULL;
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, copenssl_take_any_certificate);
    SSL_CTX_set_read_ahead(context, 1);
    if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1
        || SSL_CTX_set_tlsext_use_srtp(context, "SRTP_AEAD_AES_256_GCM:SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80:SRTP_AES128_CM_SHA1_32") != 0) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

// A far end that opens its socket only with the answer misses our first flight: so the first wait is short, and they double up to five seconds.
// OpenSSL gives up after twelve, which is then after half a minute.
static unsigned int copenssl_dtls_wait(SSL *session, unsigned int last_microseconds) {
    (void)session;
    if (last_microseconds == 0) return 50000;
    return last_microseconds < 2500000 ? 2 * last_microseconds : 5000000;
}
static inline void copenssl_set_waits(SSL *session) { DTLS_set_timer_cb(session, copenssl_dtls_wait); }

static inline void copenssl_set_mtu(SSL *session, long bytes) { SSL_set_mtu(session, bytes); }

// Microseconds until a flight is to be sent again; negative when nothing is awaited.
static inline long copenssl_dtls_timeout(SSL *session) {
    struct timeval left;
    return DTLSv1_get_timeout(session, &left) == 1 ? left.tv_sec * 1000000L + left.tv_usec : -1;
}
static inline int copenssl_dtls_retransmit(SSL *session) { return (int)DTLSv1_handle_timeout(session); }
static inline unsigned long copenssl_srtp_profile(SSL *session) {
    SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(session);
    return profile ? profile->id : 0;
}
