// Reads a frame: UDP over IPv4 or IPv6 that may be RTP.
#ifndef PACKET_H
#define PACKET_H

#include "../include/CKernelRelay.h"
#include "kernel.h"

/// What is known of a packet.
struct packet {
    /// From the start of the frame.
    u32 udp;
    /// Bytes of RTP, header and padding included.
    u32 size;
    /// Octets of payload.
    u32 octets;
    u8 is_v6;
    u8 first, second;
    u16 sequence;
    u32 timestamp, ssrc;
    /// The three words of RTP's header as they came.
    u32 words[3];
    u64 now;
};

/// The start of a frame whose first bytes lie in one piece; null where they are not there. Only UDP is put together.
ALWAYS const u8 *linear(struct frame *frame, u32 needed, u32 protocol_at) {
    const u8 *data = (const u8 *)(long)frame->data;
    if (data + needed <= (const u8 *)(long)frame->data_end) return data;
    u8 protocol;
    if (frame->length < needed || load_bytes(frame, protocol_at, &protocol, 1) || protocol != UDP_PROTOCOL) return 0;
    if (pull_data(frame, needed)) return 0;
    data = (const u8 *)(long)frame->data;
    return data + needed <= (const u8 *)(long)frame->data_end ? data : 0;
}

ALWAYS u16 half(const u8 *at) { return *(const u16 *)at; }

/// Of whole words: the compiler must not take it for a call of memcpy.
ALWAYS void copy_words(void *to, const void *from, u32 count) {
    for (u32 index = 0; index < count; index++) ((u32 *)to)[index] = ((const u32 *)from)[index];
}

/// Ports, length and RTP's header, which lie in one piece.
ALWAYS int take_datagram(struct packet *packet, struct kernel_relay_key *key, const u8 *udp, u32 length) {
    if (SWAP16(half(udp + 4)) != length || length < UDP_HEADER + RTP_HEADER) return 0;
    const u8 *rtp = udp + UDP_HEADER;
    if (rtp[0] >> 6 != 2) return 0;
    key->remote_port = half(udp);
    key->local_port = half(udp + 2);
    packet->size = length - UDP_HEADER;
    copy_words(packet->words, rtp, 3);
    packet->first = rtp[0];
    packet->second = rtp[1];
    packet->sequence = SWAP16(half(rtp + 2));
    packet->timestamp = SWAP32(packet->words[1]);
    packet->ssrc = SWAP32(packet->words[2]);
    return 1;
}

/// IPv4 without options, whole.
ALWAYS int take_v4(struct frame *frame, struct packet *packet, struct kernel_relay_key *key) {
    const u8 *data = linear(frame, ETHERNET + 20 + UDP_HEADER + RTP_HEADER, ETHERNET + 9);
    if (!data) return 0;
    const u8 *ip = data + ETHERNET;
    if (ip[9] != UDP_PROTOCOL || ip[0] != 0x45 || half(ip + 6) & SWAP16(0x3FFF)) return 0;
    u32 total = SWAP16(half(ip + 2));
    if (ETHERNET + total > frame->length) return 0;
    packet->udp = ETHERNET + 20;
    packet->is_v6 = 0;
    copy_words(key->remote_address, ip + 12, 1);
    copy_words(key->local_address, ip + 16, 1);
    key->family = 4;
    return take_datagram(packet, key, ip + 20, total - 20);
}

/// IPv6 with UDP next, which must have a checksum.
ALWAYS int take_v6(struct frame *frame, struct packet *packet, struct kernel_relay_key *key) {
    const u8 *data = linear(frame, ETHERNET + 40 + UDP_HEADER + RTP_HEADER, ETHERNET + 6);
    if (!data) return 0;
    const u8 *ip = data + ETHERNET;
    if (ip[6] != UDP_PROTOCOL || ip[0] >> 4 != 6 || half(ip + 46) == 0) return 0;
    u32 length = SWAP16(half(ip + 4));
    if (ETHERNET + 40 + length > frame->length) return 0;
    packet->udp = ETHERNET + 40;
    packet->is_v6 = 1;
    copy_words(key->remote_address, ip + 8, 4);
    copy_words(key->local_address, ip + 24, 4);
    key->family = 6;
    return take_datagram(packet, key, ip + 40, length);
}

/// As RTPHeader.init(parsing:): whether CSRCs, extension and padding fit; and the octets of the payload.
ALWAYS int measure(struct frame *frame, struct packet *packet) {
    u32 rtp = packet->udp + UDP_HEADER, offset = RTP_HEADER + 4 * (packet->first & 0x0F), end = packet->size;
    if (packet->first & 0x10) {
        u16 words;
        if (end < offset + 4 || load_bytes(frame, rtp + offset + 2, &words, 2)) return 0;
        offset += 4 + 4 * (u32)SWAP16(words);
    }
    if (end < offset) return 0;
    if (packet->first & 0x20) {
        u8 padding;
        if (load_bytes(frame, rtp + end - 1, &padding, 1) || padding == 0 || padding > end - offset) return 0;
        end -= padding;
    }
    packet->octets = end - offset;
    return 1;
}

#endif
