#ifndef HOOKSWITCH_COPUS_SHIM_H
#define HOOKSWITCH_COPUS_SHIM_H

#include <opus/opus.h>
#include <opus/opus_multistream.h>

// opus_encoder_ctl and opus_decoder_ctl are variadic, which Swift cannot call: one inline function per request and argument type.

static inline int hs_opus_encoder_set(OpusEncoder *encoder, int request, opus_int32 value) {
    return opus_encoder_ctl(encoder, request, value);
}
static inline int hs_opus_encoder_reset(OpusEncoder *encoder) {
    return opus_encoder_ctl(encoder, OPUS_RESET_STATE);
}
static inline int hs_opus_decoder_reset(OpusDecoder *decoder) {
    return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}
static inline int hs_opus_multistream_encoder_set(OpusMSEncoder *encoder, int request, opus_int32 value) {
    return opus_multistream_encoder_ctl(encoder, request, value);
}
static inline int hs_opus_multistream_encoder_get(OpusMSEncoder *encoder, int request, opus_int32 *value) {
    return opus_multistream_encoder_ctl(encoder, request, value);
}

#endif
