// The program of the kernel relay. Its rules are those of RTPRewriter and ReceiverStatistics (Sources/Wire/RTP); anything that is not an
// ordinary next packet of the stream is passed up as it came, and holds the entry where user space has to know better.
// scripts/kernel-relay compiles it.
#include "rewriting.h"
#include "statistics.h"

// As in RTPRewriter.
enum { GREATEST_GAP = 3000, GREATEST_LATENESS = 100 };

/// Nanoseconds for which user space may be silent.
static const s64 PATIENCE = 5000000000;

struct map;
extern struct map entries, pulse;

ALWAYS int hold(struct kernel_relay_entry *entry, u8 reason) {
    entry->stream.held = reason;
    entry->left.held++;
    return PASS;
}

/// Whether RTPRewriter would keep the offset: else timestamps have a new base.
ALWAYS int is_timely(const struct kernel_relay_entry *entry, const struct packet *packet) {
    s64 ahead = (s32)(packet->timestamp - entry->stream.source_timestamp), tolerance = entry->plan.tolerance;
    if (ahead < -tolerance) return 0;
    if (ahead <= tolerance) return 1;
    u64 since = entry->stream.source_at;
    return ahead <= tolerance + (packet->now > since ? ticks(packet->now - since, entry->plan.clock_rate) : 0);
}

/// Why RTPRewriter or ReceiverStatistics would do more than go on; 0 for an ordinary packet.
ALWAYS u8 objection(const struct kernel_relay_entry *entry, const struct packet *packet) {
    const struct kernel_relay_stream *stream = &entry->stream;
    if (!is_believed(stream, packet->sequence)) return KERNEL_RELAY_HELD_SEQUENCE;
    s32 distance = (int16_t)(packet->sequence - stream->source_highest);
    if (distance > GREATEST_GAP || distance < -GREATEST_LATENESS) return KERNEL_RELAY_HELD_SEQUENCE;
    if (distance <= 0) return -distance > stream->span ? KERNEL_RELAY_HELD_STALE : 0;
    return is_timely(entry, packet) ? 0 : KERNEL_RELAY_HELD_TIMESTAMP;
}

/// As RTPRewriter.advance.
ALWAYS void advance(struct kernel_relay_stream *stream, const struct packet *packet) {
    s32 distance = (int16_t)(packet->sequence - stream->source_highest);
    if (distance <= 0) return;
    stream->source_highest = packet->sequence;
    u32 span = stream->span + distance;
    stream->span = span < GREATEST_LATENESS ? span : GREATEST_LATENESS;
    if ((s32)(packet->timestamp - stream->source_timestamp) <= 0) return;
    stream->source_timestamp = packet->timestamp;
    stream->source_at = packet->now;
}

/// Counts an ordinary packet, on both sides.
ALWAYS void count(struct kernel_relay_entry *entry, const struct packet *packet) {
    struct kernel_relay_stream *stream = &entry->stream;
    advance(stream, packet);
    update_sequence(entry, packet->sequence);
    stream->packets++;
    stream->octets += packet->octets;
    stream->last_at = packet->now;
    stream->last_octets = packet->octets;
    stream->last_type = packet->second & 0x7F;
    stream->sent_timestamp = packet->timestamp + entry->plan.route.timestamp_offset;
    stream->fresh = 0;
    if (entry->plan.rate_limit) stream->second_packets++;
    update_jitter(entry, packet);
}

/// Whether a second has had its packets; those that are relayed count.
ALWAYS int is_over_rate(struct kernel_relay_entry *entry, u64 now) {
    struct kernel_relay_stream *stream = &entry->stream;
    u32 limit = entry->plan.rate_limit;
    if (!limit) return 0;
    if (now - stream->second_at >= SECOND) {
        stream->second_at = now;
        stream->second_packets = 0;
    }
    return stream->second_packets >= limit;
}

/// Copies the route; 0 where the memory of the entry has been given to another one meanwhile. Whoever arms that writes its key first.
ALWAYS int take_route(const struct kernel_relay_entry *entry, const struct kernel_relay_key *key, struct kernel_relay_route *route) {
    copy_words(route, &entry->plan.route, sizeof *route / 4);
    __asm__ volatile("" ::: "memory");
    const u64 *mine = (const u64 *)key, *its = (const u64 *)&entry->plan.key;
    u64 other = 0;
    for (u32 index = 0; index < sizeof *key / 8; index++) other |= mine[index] ^ its[index];
    return other == 0;
}

ALWAYS int is_overdue(u64 now) {
    u32 index = 0;
    const u64 *renewed = map_lookup(&pulse, &index);
    return !renewed || (s64)(now - *renewed) > PATIENCE;
}

/// A packet of an entry that is not held: what §3 of its design says, in that order.
ALWAYS int relay(struct frame *frame, struct kernel_relay_entry *entry, const struct kernel_relay_key *key, struct packet *packet) {
    packet->now = now_nanoseconds();
    if (is_overdue(packet->now)) return hold(entry, KERNEL_RELAY_HELD_OVERDUE);
    if (!measure(frame, packet)) {
        entry->left.malformed++;
        return PASS;
    }
    u8 type = entry->plan.types[packet->second & 0x7F];
    if (type == KERNEL_RELAY_UP) return hold(entry, KERNEL_RELAY_HELD_TYPE);
    struct kernel_relay_stream *stream = &entry->stream;
    if (packet->ssrc != entry->plan.route.ssrc) return hold(entry, KERNEL_RELAY_HELD_SSRC);
    if (stream->fresh && packet->sequence != (u16)(stream->highest + 1)) return hold(entry, KERNEL_RELAY_HELD_FRESH);
    u32 longest = entry->plan.longest;
    if (longest && packet->udp - ETHERNET + UDP_HEADER + packet->size > longest) return hold(entry, KERNEL_RELAY_HELD_LENGTH);
    if (is_over_rate(entry, packet->now)) {
        entry->left.over_rate++;
        return DROP;
    }
    u8 reason = objection(entry, packet);
    if (reason) return hold(entry, reason);

    struct kernel_relay_route route;
    if (!take_route(entry, key, &route)) return PASS;
    int written = rewrite(frame, &route, packet, type);
    if (written == 0) return hold(entry, KERNEL_RELAY_HELD_CHECKSUM);
    if (written < 0) {
        entry->left.failed++;
        return DROP;
    }
    count(entry, packet);
    return route.interface ? redirect_neighbour(route.interface, 0, 0, 0) : PASS;
}

__attribute__((section("tc"), used)) int kernel_relay(struct frame *frame) {
    // Not another machine's (a promiscuous interface), no tag of a VLAN, not many packets in one.
    if (frame->kind || frame->has_vlan || frame->segment_size) return PASS;
    struct packet packet;
    struct kernel_relay_key key = {};
    u32 protocol = frame->protocol;
    if (protocol == SWAP16(0x0800)) {
        if (!take_v4(frame, &packet, &key)) return PASS;
    } else if (protocol == SWAP16(0x86DD)) {
        if (!take_v6(frame, &packet, &key)) return PASS;
    } else {
        return PASS;
    }
    struct kernel_relay_entry *entry = map_lookup(&entries, &key);
    if (!entry) return PASS;
    // RTCP beside RTP (RFC 5761 §4).
    if ((packet.second & 0x60) == 0x40) {
        entry->left.control++;
        return PASS;
    }
    if (entry->stream.held) {
        entry->left.held++;
        return PASS;
    }
    return relay(frame, entry, &key, &packet);
}
