// What the kernel gives a program of this kind. Nothing of the system's headers is included, so that the same compiler makes the same code
// everywhere.
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define ALWAYS static inline __attribute__((always_inline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SWAP16(value) __builtin_bswap16(value)
#define SWAP32(value) __builtin_bswap32(value)

/// The beginning of the kernel's struct __sk_buff.
struct frame {
    u32 length, kind, mark, queue, protocol, has_vlan, vlan, vlan_protocol, priority, came_by, interface, tc_index, control[5], hash,
        tc_class, data, data_end, napi, family, remote4, local4, remote6[4], local6[4], remote_port, local_port, data_meta;
    u64 flow_keys, stamp;
    u32 wire_length, segments;
    u64 socket;
    u32 segment_size;
};

// The kernel's helpers by their numbers; programs under any licence may call these.
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*const now_nanoseconds)(void) = (void *)5;
static long (*const store_bytes)(struct frame *, u32 offset, const void *from, u32 count, u64 flags) = (void *)9;
static long (*const replace_checksum)(struct frame *, u32 offset, u64 from, u64 to, u64 flags) = (void *)11;
static long (*const load_bytes)(const struct frame *, u32 offset, void *to, u32 count) = (void *)26;
static long (*const pull_data)(struct frame *, u32 count) = (void *)39;
static s64 (*const update_sum)(struct frame *, u32 difference) = (void *)40;
static long (*const redirect_neighbour)(u32 interface, void *parameters, int size, u64 flags) = (void *)152;

enum {
    PASS = -1,
    DROP = 2,
    ETHERNET = 14,
    UDP_HEADER = 8,
    RTP_HEADER = 12,
    UDP_PROTOCOL = 17,
    HOP_LIMIT = 64,
    /// Flags of bpf_l4_csum_replace: the pseudo-header of UDP; no checksum stays none; IPv6 (Linux 6.16).
    PSEUDO_HEADER = 1 << 4,
    MANGLED_0 = 1 << 5,
    IS_IPV6 = 1 << 7,
};

#endif
