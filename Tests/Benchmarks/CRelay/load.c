// Two-way RTP through a relay, and what that cost the relay.
//
//   cc -O2 -o load load.c
//   load FIRST_PORT CALLS SECONDS RELAY [ARGUMENT ...]
//
// Starts the relay as a child that speaks as relay.c does; "-" is none: the two ends of a call send to each other. For call n it sends from 127.0.0.1 port FIRST_PORT + 4n to PORT_A and from
// FIRST_PORT + 4n + 2 to PORT_B: 172 bytes 50 times a second each way (PCMU, payload type 0), the calls spread evenly over the 20 ms. After
// three seconds to warm up it measures for SECONDS and prints one line of JSON: packets sent and received, the relay's CPU time per relayed
// packet in microseconds, that of the relay and of this program together per packet received (a relay in the kernel works in the time of
// who sends), and the delay through the relay (p50, p99, greatest) in microseconds.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HEADER 12
#define SIZE 172

struct side {
    int socket;
    uint16_t sequence;
    uint32_t timestamp;
};

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static FILE *to_relay, *from_relay;

static pid_t start_relay(char **command) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_relay = fdopen(in[1], "w");
    from_relay = fdopen(out[0], "r");
    return child;
}

static double own_cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static void ask(uint64_t *packets, double *cpu) {
    unsigned long long count;
    if (!to_relay) {
        *packets = 0;
        *cpu = 0;
        return;
    }
    fputs("mark\n", to_relay);
    fflush(to_relay);
    if (fscanf(from_relay, "%llu %lf", &count, cpu) != 2) fail("the relay's answer");
    *packets = count;
}

static int connected(uint16_t mine, uint16_t theirs) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(mine), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address)) fail("bind");
    address.sin_port = htons(theirs);
    if (connect(s, (struct sockaddr *)&address, sizeof address)) fail("connect");
    return s;
}

static void send_packet(struct side *side, uint32_t ssrc) {
    uint8_t packet[SIZE] = {0x80, 0};
    uint16_t sequence = htons(side->sequence++);
    uint32_t timestamp = htonl(side->timestamp), source = htonl(ssrc);
    uint64_t at = now();
    side->timestamp += 160;
    memcpy(packet + 2, &sequence, 2);
    memcpy(packet + 4, &timestamp, 4);
    memcpy(packet + 8, &source, 4);
    memcpy(packet + HEADER, &at, 8);
    if (send(side->socket, packet, SIZE, 0) != SIZE) perror("send");
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(stderr, "usage: load FIRST_PORT CALLS SECONDS RELAY [ARGUMENT ...]\n");
        return 2;
    }
    int first = atoi(argv[1]), calls = atoi(argv[2]), seconds = atoi(argv[3]), sides_count = 2 * calls;
    if (first < 1 || calls < 1 || seconds < 1 || first + 4 * calls > 65535) {
        fprintf(stderr, "load: ports or seconds out of range\n");
        return 2;
    }
    pid_t child = strcmp(argv[4], "-") ? start_relay(argv + 4) : 0;
    struct side *sides = calloc(sides_count, sizeof *sides);
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int n = 0; n < sides_count; n++) {
        int port = first + 2 * (n ^ 1);
        if (child && fscanf(from_relay, "%d", &port) != 1) fail("the relay's ports");
        sides[n].socket = connected(first + 2 * n, port);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
        epoll_ctl(set, EPOLL_CTL_ADD, sides[n].socket, &event);
    }
    char word[16];
    if (child && (fscanf(from_relay, "%15s", word) != 1 || strcmp(word, "ready"))) fail("the relay is not ready");

    size_t capacity = (size_t)sides_count * 50 * (seconds + 1), received = 0;
    uint32_t *delays = malloc(capacity * sizeof *delays);
    uint64_t relayed[2], sent = 0, sent_before = 0, begin = now(), next_send = begin, index = 0;
    uint64_t step = 20000000ull / sides_count, measure = begin + 3000000000ull, end = measure + seconds * 1000000000ull;
    double cpu[2], own = 0;
    int measuring = 0;
    for (;;) {
        uint64_t time = now();
        if (!measuring && time >= measure) {
            ask(&relayed[0], &cpu[0]);
            own = own_cpu();
            sent_before = sent;
            measuring = 1;
        }
        if (time >= end) break;
        while (next_send <= time) {
            send_packet(&sides[index % sides_count], 1000 + index % sides_count);
            sent++;
            index++;
            next_send = begin + index * step;
        }
        struct epoll_event events[256];
        struct timespec wait = {0, next_send > time ? (long)(next_send - time) : 0};
        int ready = epoll_pwait2(set, events, 256, &wait, NULL);
        for (int n = 0; n < ready; n++) {
            uint8_t packet[2048];
            ssize_t count = recv(sides[events[n].data.u32].socket, packet, sizeof packet, 0);
            if (count != SIZE || packet[1] != 0 + (packet[1] & 0x80) || !measuring || received == capacity) continue;
            uint64_t at;
            memcpy(&at, packet + HEADER, 8);
            delays[received++] = (uint32_t)((now() - at) / 1000);
        }
    }
    own = own_cpu() - own;
    ask(&relayed[1], &cpu[1]);
    double all = (own + cpu[1] - cpu[0]) / (double)(received ? received : 1), share = relayed[1] - relayed[0] ? (cpu[1] - cpu[0]) / (double)(relayed[1] - relayed[0]) : 0;
    if (child) {
        fclose(to_relay);
        waitpid(child, NULL, 0);
    }
    qsort(delays, received, sizeof *delays, ascending);
    printf("{\"calls\": %d, \"sent\": %llu, \"received\": %zu, \"relayed\": %llu, \"cpu_us_per_packet\": %.2f, \"all_us_per_packet\": %.2f, \"delay_us\": {\"p50\": %u, \"p99\": %u, \"max\": %u}}\n",
           calls, (unsigned long long)(sent - sent_before), received, (unsigned long long)(relayed[1] - relayed[0]),
           share, all, received ? delays[received / 2] : 0, received ? delays[received * 99 / 100] : 0,
           received ? delays[received - 1] : 0);
    return 0;
}
