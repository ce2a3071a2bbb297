// Counts what comes, as ReceiverStatistics, BurstMetrics and Histogram do (Sources/Wire/RTP).
#ifndef STATISTICS_H
#define STATISTICS_H

#include "packet.h"

enum { BELIEVED_GAP = 3000, BELIEVED_LATENESS = 99, BURST_DEPTH = 32, GMIN = 16 };

static const u64 SECOND = 1000000000;

/// As Instant.ticks.
ALWAYS u32 ticks(u64 nanoseconds, u32 rate) {
    u64 seconds = nanoseconds / SECOND;
    return (u32)(seconds * rate + (nanoseconds - seconds * SECOND) * rate / SECOND);
}

ALWAYS void lose(volatile struct kernel_relay_entry *entry, u32 count) {
    volatile struct kernel_relay_bursts *bursts = &entry->bursts;
    s64 since = entry->stream.since, others = (count < 3000 ? count : 3000) - 1;
    bursts->stretches++;
    bursts->losses += count;
    bursts->packets += since;
    if (since >= GMIN) {
        if (bursts->run == 1) bursts->c14++;
        else bursts->c13++;
        bursts->run = 1;
        bursts->c11 += since;
    } else {
        bursts->run++;
        if (since == 0) {
            bursts->c33++;
        } else {
            bursts->c23++;
            bursts->c22 += since - 1;
        }
    }
    bursts->run += others;
    bursts->c33 += others;
    entry->stream.since = 0;
}

/// One number leaves the younger half of the window: it has come, or has not. Volatile, for the verifier goes through the loop around this:
/// of what lies in registers it would follow each value from turn to turn.
ALWAYS void step_once(volatile struct kernel_relay_entry *entry) {
    volatile struct kernel_relay_stream *stream = &entry->stream;
    if (stream->age < BURST_DEPTH) {
        stream->age++;
    } else if (stream->window >> 31 & 1) {
        if (UNLIKELY(stream->missing)) lose(entry, stream->missing);
        stream->missing = 0;
        stream->since++;
    } else {
        stream->missing++;
    }
    stream->window <<= 1;
}

/// As ReceiverStatistics.step.
ALWAYS void step(struct kernel_relay_entry *entry, u32 count) {
    // After 64 steps the window is empty.
    u32 steps = count < 64 ? count : 64;
#pragma clang loop unroll(disable)
    for (u32 index = 0; index < 64; index++) {
        if (index >= steps) break;
        step_once(entry);
    }
    if (count > steps) entry->stream.missing += count - steps;
    entry->stream.window |= 1;
}

/// Whether ReceiverStatistics.updateSequence believes the number at once.
ALWAYS int is_believed(const struct kernel_relay_stream *stream, u16 sequence) {
    u16 ahead = sequence - stream->highest;
    return ahead < BELIEVED_GAP || ahead > 65535 - BELIEVED_LATENESS;
}

/// ReceiverStatistics.updateSequence, for a number that is believed.
ALWAYS void update_sequence(struct kernel_relay_entry *entry, u16 sequence) {
    struct kernel_relay_stream *stream = &entry->stream;
    u16 ahead = sequence - stream->highest, behind = stream->highest - sequence;
    if (ahead == 0) {
        if (stream->received > 0) stream->copies++;
    } else if (ahead < BELIEVED_GAP) {
        if (sequence < stream->highest) stream->cycles += 65536;
        stream->highest = sequence;
        step(entry, ahead);
    } else {
        stream->late++;
        if (behind < 64) {
            if (stream->window >> behind & 1) stream->copies++;
            else stream->window |= 1ULL << behind;
        }
    }
    stream->received++;
}

/// As Histogram.note.
ALWAYS void note(struct kernel_relay_jitters *jitters, u32 value) {
    u32 step = value;
    if (value >= 4) {
        u32 octave = 0, rest = value;
        if (rest >> 16) octave += 16, rest >>= 16;
        if (rest >> 8) octave += 8, rest >>= 8;
        if (rest >> 4) octave += 4, rest >>= 4;
        if (rest >> 2) octave += 2, rest >>= 2;
        octave += rest >> 1;
        octave -= 2;
        step = (octave + 1) * 4 + (value >> octave) - 4;
    }
    if (step > 67) step = 67;
    if (jitters->steps[step] == 0xFFFFFFFF) return;
    jitters->count++;
    if (value > jitters->greatest) jitters->greatest = value;
    jitters->steps[step]++;
}

/// As ReceiverStatistics.updateJitter (RFC 3550 A.8).
ALWAYS void update_jitter(struct kernel_relay_entry *entry, const struct packet *packet) {
    struct kernel_relay_stream *stream = &entry->stream;
    u32 rate = entry->plan.clock_rate, transit = ticks(packet->now, rate) - packet->timestamp;
    if (stream->has_transit) {
        s32 moved = (s32)(transit - stream->transit);
        u32 difference = moved < 0 ? 0 - (u32)moved : (u32)moved;
        stream->jitter = stream->jitter + difference - ((stream->jitter + 8) >> 4);
        stream->has_jitter = 1;
        u64 tenths = (u64)difference * 10000 / (rate ? rate : 1);
        note(&entry->jitters, tenths < 1 << 20 ? (u32)tenths : 1 << 20);
    }
    stream->transit = transit;
    stream->has_transit = 1;
}

#endif
