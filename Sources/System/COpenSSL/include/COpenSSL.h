// OpenSSL 3's hashes and its TLS, as the system has them (Debian: libssl-dev).
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <strings.h>
#include "DTLS.h"
#include "SRTP.h"

// What is a macro in OpenSSL's headers has no name in Swift.
static inline int copenssl_set_minimum_version(SSL_CTX *context, int version) { return (int)SSL_CTX_set_min_proto_version(context, version); }
static inline void copenssl_release_buffers(SSL_CTX *context) { SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS); }
static inline void copenssl_refuse_renegotiation(SSL_CTX *context) { SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION); }
static inline int copenssl_last_reason(void) { return ERR_GET_REASON(ERR_peek_last_error()); }
static inline int copenssl_set_server_name(SSL *session, const char *name) { return (int)SSL_set_tlsext_host_name(session, name); }
static inline long copenssl_pending_output(BIO *bio) { return (long)BIO_pending(bio); }

// Whether a certificate names a SIP domain (RFC 5922 §7.1): by a `sip:` URI without user part where it has any such URI, else by its DNS names. Wildcards
// name nobody (§7.2). The common name counts only where there is no alternative name at all, as OpenSSL has it.
static inline int copenssl_names_sip_domain(X509 *certificate, const char *domain) {
    GENERAL_NAMES *names = (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    int has_uri = 0, found = 0;
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++) {
        GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_URI) continue;
        const char *text = (const char *)ASN1_STRING_get0_data(name->d.uniformResourceIdentifier);
        size_t length = (size_t)ASN1_STRING_length(name->d.uniformResourceIdentifier);
        if (length <= 4 || strncasecmp(text, "sip:", 4) != 0 || memchr(text, '@', length)) continue;
        has_uri = 1;
        if (length - 4 == strlen(domain) && strncasecmp(text + 4, domain, length - 4) == 0) found = 1;
    }
    GENERAL_NAMES_free(names);
    if (has_uri) return found;
    return X509_check_host(certificate, domain, 0, X509_CHECK_FLAG_NO_WILDCARDS, NULL) == 1 || X509_check_ip_asc(certificate, domain, 0) == 1;
}

// Answers the name that a client asks for (SNI, RFC 6066 §3) with the first context of a NULL-terminated list whose certificate has it; without one the
// session keeps the first certificate.
static int copenssl_choose_certificate(SSL *session, int *alert, void *list) {
    (void)alert;
    const char *name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name);
    if (!name) return SSL_TLSEXT_ERR_NOACK;
    for (SSL_CTX **context = (SSL_CTX **)list; *context; context++) {
        X509 *certificate = SSL_CTX_get0_certificate(*context);
        if (certificate && X509_check_host(certificate, name, 0, 0, NULL) == 1) {
            SSL_set_SSL_CTX(session, *context);
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_NOACK;
}
static inline void copenssl_choose_by_name(SSL_CTX *context, SSL_CTX **list) {
    SSL_CTX_set_tlsext_servername_callback(context, copenssl_choose_certificate);
    SSL_CTX_set_tlsext_servername_arg(context, list);
}
