// The yardstick: what relaying RTP costs when nothing but the kernel's part is done.
// One epoll set, one recvfrom and one sendto per packet, two sockets per call, one thread.
//
//   cc -O2 -o relay relay.c
//   relay FIRST_PORT CALLS
//
// Speaks what load.c wants of a relay: prints one line "PORT_A PORT_B" for each call and then "ready"; answers each line on standard input
// with one line "PACKETS_RELAYED CPU_MICROSECONDS"; ends when standard input does.
//
// Each side sends to the address that its last packet came from; a packet that arrives before the other side is known is dropped.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct side {
    int socket;
    struct sockaddr_in far;
};

static int bound(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s < 0 || bind(s, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("bind");
        exit(1);
    }
    return s;
}

static double processor_microseconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: relay FIRST_PORT CALLS\n");
        return 2;
    }
    int first = atoi(argv[1]), calls = atoi(argv[2]);
    if (first < 1 || calls < 1 || first + 4 * calls > 65535) {
        fprintf(stderr, "relay: ports out of range\n");
        return 2;
    }
    struct side *sides = calloc(2 * calls, sizeof *sides);
    int set = epoll_create1(EPOLL_CLOEXEC);
    for (int n = 0; n < 2 * calls; n++) {
        sides[n].socket = bound(first + 2 * n);
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = n};
        epoll_ctl(set, EPOLL_CTL_ADD, sides[n].socket, &event);
        printf("%d%c", first + 2 * n, n % 2 ? '\n' : ' ');
    }
    struct epoll_event input = {.events = EPOLLIN, .data.u32 = UINT32_MAX};
    epoll_ctl(set, EPOLL_CTL_ADD, STDIN_FILENO, &input);
    puts("ready");
    fflush(stdout);

    uint64_t relayed = 0;
    struct epoll_event events[256];
    uint8_t packet[2048];
    for (;;) {
        int ready = epoll_wait(set, events, 256, -1);
        for (int n = 0; n < ready; n++) {
            uint32_t index = events[n].data.u32;
            if (index == UINT32_MAX) {
                if (read(STDIN_FILENO, packet, sizeof packet) <= 0) return 0;
                printf("%llu %.0f\n", (unsigned long long)relayed, processor_microseconds());
                fflush(stdout);
                continue;
            }
            struct side *from = &sides[index], *to = &sides[index ^ 1];
            socklen_t length = sizeof from->far;
            ssize_t count = recvfrom(from->socket, packet, sizeof packet, 0, (struct sockaddr *)&from->far, &length);
            if (count <= 0 || to->far.sin_port == 0) continue;
            if (sendto(to->socket, packet, count, 0, (struct sockaddr *)&to->far, sizeof to->far) == count) relayed++;
        }
    }
}
