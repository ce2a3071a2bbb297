#include "CKernelRelay.h"
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "relay.inc"

// Newer than the headers of Debian 12.
enum { TCX_INGRESS = 46, TEST_SUMMED = 1 << 2 };

// In the program the four fields of an instruction lie as the kernel has them on machines of this byte order.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "relay.inc is made for little-endian machines");
_Static_assert(sizeof(struct kernel_relay_key) == 40, "a key has no holes: the kernel compares its bytes");
_Static_assert(sizeof(struct kernel_relay_plan) == 320 && sizeof(struct kernel_relay_stream) == 128, "whole cache lines");
_Static_assert(sizeof(struct kernel_relay_entry) == 880, "an entry has no holes");

enum { INSTRUCTIONS = sizeof relay_program / sizeof relay_program[0] };

static int call(int command, union bpf_attr *attributes) {
    long result = syscall(SYS_bpf, command, attributes, sizeof *attributes);
    return result < 0 ? -errno : (int)result;
}

static uint64_t address(const void *memory) { return (uint64_t)(uintptr_t)memory; }

static int make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t most) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = type;
    attributes.key_size = key;
    attributes.value_size = value;
    attributes.max_entries = most;
    return call(BPF_MAP_CREATE, &attributes);
}

/// Puts the descriptor of a map where an instruction names it.
static void name_map(uint64_t *program, uint32_t at, int map) {
    struct bpf_insn *instruction = (struct bpf_insn *)&program[at];
    instruction->src_reg = BPF_PSEUDO_MAP_FD;
    instruction->imm = map;
}

static int load_program(const struct kernel_relay *relay) {
    uint64_t program[INSTRUCTIONS];
    memcpy(program, relay_program, sizeof program);
    for (unsigned i = 0; i < sizeof relay_entries / sizeof relay_entries[0]; i++) name_map(program, relay_entries[i], relay->entries);
    for (unsigned i = 0; i < sizeof relay_pulse / sizeof relay_pulse[0]; i++) name_map(program, relay_pulse[i], relay->pulse);
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_SCHED_CLS;
    attributes.insn_cnt = INSTRUCTIONS;
    attributes.insns = address(program);
    attributes.license = address("Apache-2.0");
    memcpy(attributes.prog_name, "kernel_relay", sizeof "kernel_relay");
    return call(BPF_PROG_LOAD, &attributes);
}

int kernel_relay_open(struct kernel_relay *relay, uint32_t most_entries) {
    *relay = (struct kernel_relay){-1, -1, -1};
    relay->entries = make_map(BPF_MAP_TYPE_HASH, sizeof(struct kernel_relay_key), sizeof(struct kernel_relay_entry), most_entries);
    int result = relay->entries;
    if (result >= 0) result = relay->pulse = make_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1);
    if (result >= 0) result = relay->program = load_program(relay);
    if (result >= 0) return 0;
    kernel_relay_close(relay);
    return result;
}

void kernel_relay_close(struct kernel_relay *relay) {
    if (relay->program >= 0) close(relay->program);
    if (relay->pulse >= 0) close(relay->pulse);
    if (relay->entries >= 0) close(relay->entries);
    *relay = (struct kernel_relay){-1, -1, -1};
}

int kernel_relay_attach(const struct kernel_relay *relay, uint32_t interface) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.link_create.prog_fd = relay->program;
    attributes.link_create.target_ifindex = interface;
    attributes.link_create.attach_type = TCX_INGRESS;
    return call(BPF_LINK_CREATE, &attributes);
}

void kernel_relay_detach(int link) { close(link); }

int kernel_relay_attached(uint32_t interface) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.query.target_fd = interface;
    attributes.query.attach_type = TCX_INGRESS;
    int result = call(BPF_PROG_QUERY, &attributes);
    if (result == -ENOENT) return 0;
    return result < 0 ? result : (int)attributes.query.prog_cnt;
}

static int element(int command, int map, const void *key, void *value) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = map;
    attributes.key = address(key);
    attributes.value = address(value);
    return call(command, &attributes);
}

int kernel_relay_renew(const struct kernel_relay *relay, uint64_t nanoseconds) {
    uint32_t index = 0;
    return element(BPF_MAP_UPDATE_ELEM, relay->pulse, &index, &nanoseconds);
}

/// The one's-complement sum of what is new less what was.
static uint32_t difference(const void *from, const void *to, size_t size) {
    uint64_t sum = 0;
    for (size_t at = 0; at < size; at += 2) {
        uint16_t old, new;
        memcpy(&old, (const char *)from + at, 2);
        memcpy(&new, (const char *)to + at, 2);
        sum += (uint16_t)~old + (uint32_t)new;
    }
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint32_t)sum;
}

void kernel_relay_prepare(const struct kernel_relay_key *key, struct kernel_relay_plan *plan) {
    struct kernel_relay_route *route = &plan->route;
    uint8_t before[32], after[32];
    plan->key = *key;
    memcpy(before, key->remote_address, 16);
    memcpy(before + 16, key->local_address, 16);
    memcpy(after, route->source, 16);
    memcpy(after + 16, route->destination, 16);
    route->address_difference = difference(before, after, sizeof before);
    uint16_t came[2] = {key->remote_port, key->local_port}, leaves[2] = {route->source_port, route->destination_port};
    route->port_difference = difference(came, leaves, sizeof came);
}

int kernel_relay_arm(const struct kernel_relay *relay, const struct kernel_relay_key *key, const struct kernel_relay_entry *entry) {
    return element(BPF_MAP_UPDATE_ELEM, relay->entries, key, (void *)entry);
}

int kernel_relay_take(const struct kernel_relay *relay, const struct kernel_relay_key *key, struct kernel_relay_entry *entry) {
    return element(BPF_MAP_LOOKUP_AND_DELETE_ELEM, relay->entries, key, entry);
}

int kernel_relay_read(const struct kernel_relay *relay, const struct kernel_relay_key *key, struct kernel_relay_entry *entry) {
    return element(BPF_MAP_LOOKUP_ELEM, relay->entries, key, entry);
}

int kernel_relay_read_all(
    const struct kernel_relay *relay, struct kernel_relay_reading *reading, struct kernel_relay_key *keys, struct kernel_relay_entry *entries,
    uint32_t most) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    uint32_t next = 0;
    attributes.batch.in_batch = reading->has_begun ? address(&reading->position) : 0;
    attributes.batch.out_batch = address(&next);
    attributes.batch.keys = address(keys);
    attributes.batch.values = address(entries);
    attributes.batch.count = most;
    attributes.batch.map_fd = relay->entries;
    int result = call(BPF_MAP_LOOKUP_BATCH, &attributes);
    if (result < 0 && result != -ENOENT) return result;
    *reading = (struct kernel_relay_reading){next, 1, result == -ENOENT};
    return (int)attributes.batch.count;
}

int kernel_relay_try(const struct kernel_relay *relay, struct kernel_relay_run *run) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.test.prog_fd = relay->program;
    attributes.test.data_in = address(run->frame);
    attributes.test.data_size_in = run->size;
    attributes.test.data_out = address(run->result);
    attributes.test.data_size_out = run->result_size;
    attributes.test.repeat = run->repeat;
    attributes.test.flags = run->is_summed ? TEST_SUMMED : 0;
    int result = call(BPF_PROG_TEST_RUN, &attributes);
    if (result < 0) return result;
    run->result_size = attributes.test.data_size_out;
    run->nanoseconds = attributes.test.duration;
    run->verdict = (int32_t)attributes.test.retval;
    return 0;
}

uint32_t kernel_relay_instructions(void) { return INSTRUCTIONS; }
