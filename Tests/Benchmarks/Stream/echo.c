// Echoes the sound of streams, binary or in messages of Media Streams: the program that does least.
//
//   stream-echo PORT
//
// Prints "ready". One thread, one epoll set; messages of up to 64 kB, unfragmented, as the gateway sends them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { room = 131072, most = 4096 };

struct client {
    int is_open;
    size_t count;
    unsigned char bytes[room];
};
static struct client *clients[most];

static void drop(int socket) {
    close(socket);
    free(clients[socket]);
    clients[socket] = NULL;
}

// RFC 6455 §4.2.2.
static int greet(int socket, struct client *client) {
    char *end = memmem(client->bytes, client->count, "\r\n\r\n", 4);
    if (!end) return 1;
    char *key = memmem(client->bytes, client->count, "Sec-WebSocket-Key: ", 19), text[128], answer[256];
    if (!key) return 0;
    unsigned char hash[SHA_DIGEST_LENGTH], accept[64];
    int length = snprintf(text, sizeof text, "%.24s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key + 19);
    SHA1((unsigned char *)text, (size_t)length, hash);
    EVP_EncodeBlock(accept, hash, SHA_DIGEST_LENGTH);
    length = snprintf(
        answer, sizeof answer, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
        accept);
    if (send(socket, answer, (size_t)length, MSG_NOSIGNAL) != length) return 0;
    size_t used = (size_t)(end + 4 - (char *)client->bytes);
    memmove(client->bytes, client->bytes + used, client->count -= used);
    return client->is_open = 1;
}

// Answers all whole frames. 0: the connection is over.
static int answer(int socket, struct client *client) {
    static unsigned char output[room + 16];
    size_t start = 0;
    while (client->count - start >= 6) {
        unsigned char *frame = client->bytes + start;
        size_t length = frame[1] & 0x7F, head = 6;
        if (length == 126) {
            if (client->count - start < 8) break;
            length = (size_t)(frame[2] << 8 | frame[3]), head = 8;
        } else if (length == 127) {
            return 0;
        }
        if (client->count - start < head + length) break;
        int opcode = frame[0] & 0x0F;
        if (opcode == 8) return 0;
        for (size_t index = 0; index < length; index++) frame[head + index] ^= frame[head - 4 + index % 4];
        if (opcode == 2 || opcode == 9 || (opcode == 1 && memmem(frame + head, length, "\"payload\":", 10))) {
            size_t filled = 0;
            output[filled++] = (unsigned char)(0x80 | (opcode == 9 ? 10 : opcode));
            if (length > 125) {
                output[filled++] = 126;
                output[filled++] = (unsigned char)(length >> 8);
            }
            output[filled++] = (unsigned char)length;
            memcpy(output + filled, frame + head, length);
            filled += length;
            if (send(socket, output, filled, MSG_NOSIGNAL) != (ssize_t)filled) return 0;
        }
        start += head + length;
    }
    memmove(client->bytes, client->bytes + start, client->count -= start);
    return 1;
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM, 0), poller = epoll_create1(0), on = 1;
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(count > 1 ? atoi(arguments[1]) : 0))};
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) || listen(listener, 1024)) return perror("stream-echo"), 1;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener}, events[64];
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    puts("ready");
    fflush(stdout);
    for (;;) {
        int ready = epoll_wait(poller, events, 64, -1);
        for (int index = 0; index < ready; index++) {
            int socket = events[index].data.fd;
            if (socket == listener) {
                int accepted = accept(listener, NULL, NULL);
                if (accepted < 0 || accepted >= most) return fputs("stream-echo: too many connections\n", stderr), 1;
                clients[accepted] = calloc(1, sizeof(struct client));
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = accepted};
                epoll_ctl(poller, EPOLL_CTL_ADD, accepted, &event);
                continue;
            }
            struct client *client = clients[socket];
            ssize_t got = recv(socket, client->bytes + client->count, room - client->count, MSG_DONTWAIT);
            if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
            if (got <= 0) { drop(socket); continue; }
            client->count += (size_t)got;
            int is_up = client->is_open || greet(socket, client);
            if (is_up && client->is_open) is_up = answer(socket, client);
            if (!is_up) drop(socket);
        }
    }
}
