// libsrtp2, the reference implementation (Debian: libsrtp2-dev), as tests and the benchmark ask it. Of no product.
#include <srtp2/srtp.h>
#include <string.h>

enum { oracle_cm_80, oracle_cm_32, oracle_gcm_128, oracle_gcm_256 };

// A session for any source under one master key (key, then salt); NULL where this library was built without the suite.
static inline srtp_t oracle_session(int suite, const unsigned char *key, int sends) {
    static int is_up;
    if (!is_up) is_up = srtp_init() == srtp_err_status_ok;
    srtp_policy_t policy;
    memset(&policy, 0, sizeof policy);
    switch (suite) {
    case oracle_cm_80:
        srtp_crypto_policy_set_rtp_default(&policy.rtp);
        srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
        break;
    case oracle_cm_32:
        srtp_crypto_policy_set_aes_cm_128_hmac_sha1_32(&policy.rtp);
        srtp_crypto_policy_set_rtcp_default(&policy.rtcp);
        break;
    case oracle_gcm_128:
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
        srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
        break;
    default:
        srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp);
        srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp);
    }
    policy.ssrc.type = sends ? ssrc_any_outbound : ssrc_any_inbound;
    policy.key = (unsigned char *)key;
    policy.window_size = 128;
    srtp_t session = NULL;
    return srtp_create(&session, &policy) == srtp_err_status_ok ? session : NULL;
}

// How many bytes the packet has now; negative when it was refused.
static inline int oracle_protect(srtp_t session, void *packet, int count) { return srtp_protect(session, packet, &count) == srtp_err_status_ok ? count : -1; }
static inline int oracle_unprotect(srtp_t session, void *packet, int count) { return srtp_unprotect(session, packet, &count) == srtp_err_status_ok ? count : -1; }
static inline int oracle_protect_control(srtp_t session, void *packet, int count) { return srtp_protect_rtcp(session, packet, &count) == srtp_err_status_ok ? count : -1; }
static inline int oracle_unprotect_control(srtp_t session, void *packet, int count) { return srtp_unprotect_rtcp(session, packet, &count) == srtp_err_status_ok ? count : -1; }
static inline void oracle_end(srtp_t session) { srtp_dealloc(session); }
