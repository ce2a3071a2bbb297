// Reading the headers of datagrams that leave: packet(7), with a filter and a ring that the kernel fills.
#define _GNU_SOURCE
#include "CLinux.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ipv6.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    // A frame has the kernel's header and the longest header of IPv4 (60), that of UDP (8) and two bytes of what it carries.
    KEPT = 72,
    FRAME = 160,
    BLOCK = 1 << 16,
    BLOCKS = 80,
    FRAMES_OF_BLOCK = BLOCK / FRAME,
    FRAMES = FRAMES_OF_BLOCK * BLOCKS,
};

_Static_assert(TPACKET_ALIGN(TPACKET2_HDRLEN) + 16 + KEPT <= FRAME, "a frame has room for the bytes that are kept");

/// Only what leaves, only UDP that is no later fragment, only from these ports. A packet socket for datagrams shows the IP header first.
static int set_filter(int capture, uint16_t first, uint16_t last) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 16),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IPV6, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 13),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 11),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1FFF, 9, 0),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 0),
        BPF_JUMP(BPF_JMP | BPF_JA, 3, 0, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct ipv6hdr, nexthdr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_UDP, 0, 4),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, sizeof(struct ipv6hdr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, KEPT),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof program[0], .filter = program};
    return setsockopt(capture, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static void *make_ring(int capture) {
    int version = TPACKET_V2;
    struct tpacket_req request = {.tp_block_size = BLOCK, .tp_block_nr = BLOCKS, .tp_frame_size = FRAME, .tp_frame_nr = FRAMES};
    if (setsockopt(capture, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0) return MAP_FAILED;
    if (setsockopt(capture, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0) return MAP_FAILED;
    return mmap(NULL, (size_t)BLOCK * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, capture, 0);
}

int clinux_open_capture(uint16_t first, uint16_t last, void **ring) {
    // Of no protocol: nothing comes before the filter is there.
    int capture = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (capture < 0) return -1;
    struct sockaddr_ll all = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    *ring = MAP_FAILED;
    if (set_filter(capture, first, last) == 0) *ring = make_ring(capture);
    if (*ring != MAP_FAILED && bind(capture, (struct sockaddr *)&all, sizeof all) == 0) return capture;
    int error = errno;
    clinux_close_capture(capture, *ring == MAP_FAILED ? NULL : *ring);
    errno = error;
    return -1;
}

void clinux_close_capture(int capture, void *ring) {
    if (ring) munmap(ring, (size_t)BLOCK * BLOCKS);
    close(capture);
}

/// Reads a frame. 0: it is too short.
static int read_frame(const uint8_t *frame, const struct tpacket2_hdr *header, struct clinux_packet *packet) {
    const uint8_t *bytes = frame + header->tp_net;
    uint32_t size = header->tp_snaplen;
    if (size < 1) return 0;
    uint32_t at = bytes[0] >> 4 == 6 ? sizeof(struct ipv6hdr) : (uint32_t)(bytes[0] & 0xF) * 4;
    if (size < at + 8) return 0;
    *packet = (struct clinux_packet){
        .wall = (uint64_t)header->tp_sec * 1000000000 + header->tp_nsec,
        .port = (uint16_t)(bytes[at] << 8 | bytes[at + 1]),
        .has_payload = size >= at + 10,
    };
    if (packet->has_payload) memcpy(packet->payload, bytes + at + 8, sizeof packet->payload);
    return 1;
}

long clinux_read_capture(void *ring, uint32_t *place, struct clinux_packet *packets, unsigned long capacity) {
    unsigned long count = 0;
    while (count < capacity) {
        uint8_t *frame = (uint8_t *)ring + (size_t)(*place / FRAMES_OF_BLOCK) * BLOCK + (size_t)(*place % FRAMES_OF_BLOCK) * FRAME;
        struct tpacket2_hdr *header = (struct tpacket2_hdr *)frame;
        if (!(__atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) break;
        count += (unsigned long)read_frame(frame, header, &packets[count]);
        __atomic_store_n(&header->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        *place = (*place + 1) % FRAMES;
    }
    return (long)count;
}

uint32_t clinux_capture_losses(int capture) {
    struct tpacket_stats figures = {0};
    socklen_t size = sizeof figures;
    return getsockopt(capture, SOL_PACKET, PACKET_STATISTICS, &figures, &size) == 0 ? figures.tp_drops : 0;
}
