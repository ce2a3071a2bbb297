// Rewrites a packet in its frame.
#ifndef REWRITING_H
#define REWRITING_H

#include "packet.h"

ALWAYS u32 folded(u64 sum) {
    sum = (sum & 0xFFFFFFFF) + (sum >> 32);
    return (u32)((sum & 0xFFFFFFFF) + (sum >> 32));
}

ALWAYS u64 difference(u32 from, u32 to) { return (u64)(u32)~from + to; }

/// The header of IPv4 and the ports as they leave. Its checksum is changed and not made anew: a wrong one stays wrong.
ALWAYS int make_v4(struct frame *frame, const struct kernel_relay_route *route, u32 *made) {
    const u8 *data = (const u8 *)(long)frame->data;
    if (data + ETHERNET + 24 > (const u8 *)(long)frame->data_end) return 0;
    copy_words(made, data + ETHERNET, 6);
    u8 *bytes = (u8 *)made;
    u64 sum = (u16)~half(bytes + 10) + (u64)route->address_difference + (u32)~made[0] + (u16)~half(bytes + 8);
    bytes[1] = route->traffic_class;
    bytes[8] = HOP_LIMIT;
    sum += (u64)made[0] + half(bytes + 8);
    u32 narrow = folded(sum);
    narrow = (narrow & 0xFFFF) + (narrow >> 16);
    narrow = (narrow & 0xFFFF) + (narrow >> 16);
    *(u16 *)(bytes + 10) = ~(narrow + (narrow >> 16));
    copy_words(made + 3, route->source, 1);
    copy_words(made + 4, route->destination, 1);
    copy_words(made + 5, &route->source_port, 1);
    return 1;
}

/// The header of IPv6 and the ports as they leave; `changed` is what that adds to the sum of a frame which a card has summed. Addresses are
/// not in it: the checksum of UDP makes up for them.
ALWAYS int make_v6(struct frame *frame, const struct kernel_relay_route *route, u32 *made, u32 *changed) {
    const u8 *data = (const u8 *)(long)frame->data;
    if (data + ETHERNET + 44 > (const u8 *)(long)frame->data_end) return 0;
    copy_words(made, data + ETHERNET, 2);
    u64 sum = (u64)(u32)~made[0] + (u32)~made[1];
    made[0] = SWAP32(6U << 28 | (u32)route->traffic_class << 20);
    ((u8 *)made)[7] = HOP_LIMIT;
    *changed = folded(sum + made[0] + made[1]);
    copy_words(made + 2, route->source, 4);
    copy_words(made + 6, route->destination, 4);
    copy_words(made + 10, &route->source_port, 1);
    return 1;
}

/// Rewrites the packet in the frame: 1, or 0 where nothing was changed, or -1 where the frame is of no use any more.
ALWAYS int rewrite(struct frame *frame, const struct kernel_relay_route *route, const struct packet *packet, u8 type) {
    u32 made[11], changed = 0, is_v6 = packet->is_v6;
    if (!(is_v6 ? make_v6(frame, route, made, &changed) : make_v4(frame, route, made))) return 0;
    u32 rtp[3] = {packet->words[0], SWAP32(packet->timestamp + route->timestamp_offset), SWAP32(route->new_ssrc)};
    ((u8 *)rtp)[1] = (packet->second & 0x80) | (type & 0x7F);
    ((u16 *)rtp)[1] = SWAP16((u16)(packet->sequence + route->sequence_offset));
    u64 sum = route->port_difference;
    for (int index = 0; index < 3; index++) sum += difference(packet->words[index], rtp[index]);

    // By the kernel: it knows whether the field holds the whole checksum, that of the pseudo-header alone, or the card's sum lies beside.
    u32 checksum = packet->udp + 6;
    u64 flags = MANGLED_0 | (is_v6 ? IS_IPV6 : 0);
    if (replace_checksum(frame, checksum, 0, route->address_difference, flags | PSEUDO_HEADER)) return 0;
    if (replace_checksum(frame, checksum, 0, folded(sum), flags)) return -1;
    if (is_v6 ? store_bytes(frame, ETHERNET, made, 44, 0) : store_bytes(frame, ETHERNET, made, 24, 0)) return -1;
    if (store_bytes(frame, packet->udp + UDP_HEADER, rtp, RTP_HEADER, 0)) return -1;
    if (changed) update_sum(frame, changed);
    return 1;
}

#endif
