// The media relay in the kernel: a program at the ingress of an interface (TCX) that rewrites the RTP of relayed calls and sends it on, and
// the bpf(2) calls that load, feed and read it. The program's source is in the folder program; scripts/kernel-relay makes relay.inc of it.
#ifndef CKERNELRELAY_H
#define CKERNELRELAY_H

#include <stdint.h>

/// One direction of a relayed call, as its packets arrive. Addresses and ports are in network order, an IPv4 address in the first four bytes
/// with zeros behind it.
struct kernel_relay_key {
    uint8_t local_address[16];
    uint8_t remote_address[16];
    uint16_t local_port;
    uint16_t remote_port;
    /// 4 or 6.
    uint32_t family;
};

/// The mark in the table of payload types of one that is not relayed, and holds the entry. Others are numbers below 128, which are written into
/// the packet; those of RTCP (64 to 95, RFC 5761 §4) never are.
enum { KERNEL_RELAY_UP = 0x40 };

/// Why an entry is held: from that packet on, which was the first to be passed up untouched, user space has the stream.
enum {
    KERNEL_RELAY_OPEN = 0,
    /// Another SSRC.
    KERNEL_RELAY_HELD_SSRC,
    /// The first packet after arming was not the very next one: others may wait in the socket.
    KERNEL_RELAY_HELD_FRESH,
    /// A step in the sequence that the statistics or the rewriter do not believe at once.
    KERNEL_RELAY_HELD_SEQUENCE,
    /// From before the source's first packet here.
    KERNEL_RELAY_HELD_STALE,
    /// A new base of timestamps.
    KERNEL_RELAY_HELD_TIMESTAMP,
    /// Longer than the outgoing interface takes.
    KERNEL_RELAY_HELD_LENGTH,
    /// User space has not renewed the dead-man word for five seconds.
    KERNEL_RELAY_HELD_OVERDUE,
    /// The kernel did not change the checksum: before 6.16 that of IPv6.
    KERNEL_RELAY_HELD_CHECKSUM,
    /// A payload type that is not relayed: user space has it and what follows, so that both stay in order and nothing is counted twice.
    KERNEL_RELAY_HELD_TYPE,
};

/// How a packet leaves; one cache line.
struct kernel_relay_route {
    /// What is written into the packet, in network order as in the key. kernel_relay_prepare fills the differences.
    uint8_t source[16];
    uint8_t destination[16];
    uint16_t source_port;
    uint16_t destination_port;
    /// One's-complement differences of the new addresses, and of the new ports, to those of the key.
    uint32_t address_difference;
    uint32_t port_difference;
    /// The outgoing interface; 0: up the stack of this machine, rewritten.
    uint32_t interface;
    /// The source that is relayed, and the one under which its packets leave.
    uint32_t ssrc;
    uint32_t new_ssrc;
    uint32_t timestamp_offset;
    uint16_t sequence_offset;
    /// The TOS byte, or the traffic class of IPv6.
    uint8_t traffic_class;
    uint8_t reserved;
};

/// Written by user space when it arms the entry, and only read by the program.
struct kernel_relay_plan {
    /// The entry's own key, from kernel_relay_prepare: the kernel gives the memory of an entry that is taken to the next one at once, and a
    /// program on another processor may still read there. It sends by no route that is not its packet's.
    struct kernel_relay_key key;
    /// For user space alone.
    uint64_t token;
    uint8_t padding[16];
    struct kernel_relay_route route;
    /// For each payload type that comes its number on the other side, or a mark from above.
    uint8_t types[128];

    /// Ticks per second of what comes and of what leaves, which are the same.
    uint32_t clock_rate;
    /// Ticks by which timestamps may differ from the time that passed.
    uint32_t tolerance;
    /// Packets in a second that are relayed, what is more is dropped; 0: no limit.
    uint32_t rate_limit;
    /// Bytes of an IP packet that the outgoing interface takes; 0: no limit.
    uint32_t longest;
    uint8_t more_padding[48];
};

/// Written by the program with each packet, from where user space stood when it armed the entry.
struct kernel_relay_stream {
    /// Ordinary packets and octets of payload since it was armed: what came and what was sent.
    uint64_t packets;
    uint64_t octets;
    /// The packets of this epoch, with copies and with those that were passed over.
    int64_t received;
    /// The time of the last ordinary packet; all times are nanoseconds of the monotonic clock.
    uint64_t last_at;
    /// As in `ReceiverStatistics.Epoch`.
    uint64_t window;
    uint32_t cycles;
    uint16_t highest;
    /// The highest sequence number that was relayed; what came before the entry was armed may have been passed over.
    uint16_t source_highest;
    uint8_t fresh;
    uint8_t held;
    uint8_t age;
    /// As in `RTPRewriter.Source`.
    uint8_t span;
    uint8_t has_transit;
    uint8_t has_jitter;
    /// The first sequence number of the epoch, kept for reports.
    uint16_t base_sequence;
    uint32_t transit;
    /// In sixteenths of a tick.
    uint32_t jitter;

    /// The newest timestamp of the source, and when it was sent on.
    uint32_t source_timestamp;
    /// The timestamp that was sent last (RTCP's sender report).
    uint32_t sent_timestamp;
    uint64_t source_at;
    /// Of the last packet as it came.
    uint32_t last_octets;
    uint8_t last_type;
    uint8_t unused[3];
    int64_t copies;
    uint64_t late;
    /// The second that the rate limit counts, and its packets that were relayed; in user space before, or here.
    uint64_t second_at;
    uint32_t second_packets;
    uint32_t missing;
    /// `BurstMetrics.since`.
    int64_t since;
};

/// What was passed up or dropped; written by the program.
struct kernel_relay_left {
    /// Packets that came while the entry was held, the first included.
    uint64_t held;
    /// RTCP on this port.
    uint64_t control;
    /// Extension or padding beyond the end.
    uint64_t malformed;
    /// Dropped: above the rate limit.
    uint64_t over_rate;
    /// Dropped: the kernel had no memory for the rewritten packet.
    uint64_t failed;
    uint64_t reserved[3];
};

/// `BurstMetrics`, but for `since`.
struct kernel_relay_bursts {
    int64_t run, c11, c13, c14, c22, c23, c33, stretches, losses, packets;
};

/// `ReceiverStatistics.jitters`: tenths of a millisecond in the steps of `Histogram`.
struct kernel_relay_jitters {
    uint64_t count;
    uint32_t greatest;
    uint32_t steps[68];
};

/// One direction of a relayed call. All of the stream's state moves with it: to the kernel with kernel_relay_arm, back with
/// kernel_relay_take.
struct kernel_relay_entry {
    struct kernel_relay_plan plan;
    struct kernel_relay_stream stream;
    struct kernel_relay_left left;
    struct kernel_relay_bursts bursts;
    struct kernel_relay_jitters jitters;
};

/// Descriptors of this process; with the last of them the program leaves the kernel. Every call below returns 0 or more, or -errno, and may be
/// called on any thread.
struct kernel_relay {
    int entries;
    int pulse;
    int program;
};

/// Makes the maps and loads the program. -EPERM without CAP_BPF and CAP_NET_ADMIN; -EACCES without CAP_PERFMON,
/// where the kernel takes no loop and no comparison of pointers.
int kernel_relay_open(struct kernel_relay *relay, uint32_t most_entries);
void kernel_relay_close(struct kernel_relay *relay);

/// Puts the program before what comes in by an interface of this network namespace, which must have Ethernet headers, as lo has. Returns a
/// descriptor: closing it takes the program away. -EINVAL before Linux 6.6.
int kernel_relay_attach(const struct kernel_relay *relay, uint32_t interface);
/// Takes the program away; the descriptor is closed.
void kernel_relay_detach(int link);
/// How many programs stand before what comes in by an interface.
int kernel_relay_attached(uint32_t interface);

/// Tells the program that user space lives: it relays until five seconds after this time.
int kernel_relay_renew(const struct kernel_relay *relay, uint64_t nanoseconds);

/// Fills in the key of a plan, and the differences of its route.
void kernel_relay_prepare(const struct kernel_relay_key *key, struct kernel_relay_plan *plan);
/// Hands a direction to the program, or replaces it. -E2BIG: all entries are used.
int kernel_relay_arm(const struct kernel_relay *relay, const struct kernel_relay_key *key, const struct kernel_relay_entry *entry);
/// Takes a direction back. No packet leaves any more when it returns, but for one that another processor was just sending. -ENOENT: none.
int kernel_relay_take(const struct kernel_relay *relay, const struct kernel_relay_key *key, struct kernel_relay_entry *entry);
/// Reads a direction that the program goes on with.
int kernel_relay_read(const struct kernel_relay *relay, const struct kernel_relay_key *key, struct kernel_relay_entry *entry);
/// Where a reading of all directions stands; zeros to begin.
struct kernel_relay_reading {
    uint32_t position;
    uint8_t has_begun;
    uint8_t is_over;
};
/// Reads up to `most` directions more and returns how many. -ENOSPC: `most` is too small for one bucket of the table; some dozens are enough.
int kernel_relay_read_all(
    const struct kernel_relay *relay, struct kernel_relay_reading *reading, struct kernel_relay_key *keys, struct kernel_relay_entry *entries,
    uint32_t most);

/// The program run on a frame that is made (BPF_PROG_TEST_RUN): nothing is sent. Returns what the program returned, see below.
struct kernel_relay_run {
    const void *frame;
    uint32_t size;
    /// What became of it: a buffer, and its capacity; then the size.
    void *result;
    uint32_t result_size;
    /// How many times; 0 and 1: once.
    uint32_t repeat;
    /// The kernel holds the sum of the whole frame beside it, as a network card does (CHECKSUM_COMPLETE), and compares in the end. -EBADMSG:
    /// the program left it wrong.
    uint32_t is_summed;
    /// The mean of a run.
    uint32_t nanoseconds;
    /// -1: passed up; 2: dropped; 7: sent by the outgoing interface.
    int32_t verdict;
};
int kernel_relay_try(const struct kernel_relay *relay, struct kernel_relay_run *run);

/// How packets travel from an address of this machine to another one.
struct kernel_relay_way {
    /// The address of this machine, in network order: that which was given, or the one that the kernel would take.
    uint8_t source[16];
    /// The interface by which they leave, and by which those of the other end come where the way back is the same.
    uint32_t interface;
    /// Bytes of an IP packet that it takes; 0: no limit.
    uint32_t longest;
    /// The other end is of this machine, too.
    uint8_t is_local;
};

/// A descriptor to ask for ways with, by one thread at a time.
int kernel_relay_open_ways(void);
/// Asks for the way between two addresses in network order; a null pointer for `from` leaves the choice of it to the kernel. -EOPNOTSUPP: its
/// frames have no Ethernet header.
int kernel_relay_find_way(int descriptor, uint32_t family, const uint8_t *from, const uint8_t *to, struct kernel_relay_way *way);
/// A descriptor that hears of changes of routes, links and addresses.
int kernel_relay_open_news(void);
/// Whether there were any since the last time.
int kernel_relay_has_news(int descriptor);

/// The number of instructions of the program.
uint32_t kernel_relay_instructions(void);

#endif
