// The few Linux calls that Swift's Glibc module lacks because they want _GNU_SOURCE, wrapped so that Swift sees plain functions.
// Keep <sys/resource.h> and <sys/prctl.h> out of this header: what they declare clashes with Swift's own Glibc module. They live in CLinux.c.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/// A listening, connecting or datagram socket: non-blocking, closed on exec. -1 and errno on failure.
int clinux_socket(int family, int type);

/// accept4 with SOCK_NONBLOCK and SOCK_CLOEXEC. -1 and errno on failure.
int clinux_accept(int listener, struct sockaddr_storage *remote);

/// Switches one of the boolean options below on or off. -1 and errno on failure.
int clinux_set_reuse_address(int socket, int on);
int clinux_set_reuse_port(int socket, int on);
int clinux_set_v6_only(int socket, int on);
int clinux_set_no_delay(int socket, int on);
/// IP_PKTINFO or IPV6_RECVPKTINFO: datagrams then come with the address that they were sent to.
int clinux_set_packet_info(int socket, int family, int on);
/// IP_RECVERR or IPV6_RECVERR: what ICMP says of datagrams that were sent can be read (clinux_receive_return).
int clinux_set_returns(int socket, int family);
/// SO_TIMESTAMPNS: the kernel notes when a datagram came.
int clinux_set_timestamps(int socket);
/// SO_RCVBUF and SO_SNDBUF in bytes; the kernel caps them silently, the first one not where we have CAP_NET_ADMIN.
int clinux_set_buffers(int socket, int receive, int send);
/// SO_SNDBUF in bytes; the kernel doubles it and caps it silently, and no more adapts it.
int clinux_set_send_buffer(int socket, int bytes);
/// The pending error of a socket (SO_ERROR), cleared by reading; an errno value, 0 for none.
int clinux_pending_error(int socket);

/// recvmsg of one datagram. `from` gets the sender, `to` the local address (family 0 when the kernel did not say; the port is not filled), `waited` the
/// nanoseconds since it came (0 when the kernel did not say).
/// Returns the byte count (never more than capacity; a longer datagram sets *truncated), or -1 and errno.
long clinux_receive(int socket, void *buffer, unsigned long capacity, struct sockaddr_storage *from, struct sockaddr_storage *to, int *truncated, int64_t *waited);

/// The next ICMP message about a datagram of this socket: the buffer gets the beginning of that datagram, as far as it was quoted; *unreachable tells that
/// it was not delivered. Returns the byte count, or -1 and errno (EAGAIN: there is none).
long clinux_receive_return(int socket, void *buffer, unsigned long capacity, int *unreachable);

/// sendmsg of one datagram, without SIGPIPE. `source` (may be null) picks the local address of a socket that is bound to the wildcard. -1 and errno on failure.
long clinux_send(int socket, const void *bytes, unsigned long count, const struct sockaddr *to, unsigned int to_length, const struct sockaddr_storage *source);

/// recv, send and epoll_wait as the kernel has them. Those of glibc are cancellation points: where there is a second thread, each goes in and out of
/// asynchronous cancellation around the call, and no thread of ours is ever cancelled. -1 and errno on failure.
long clinux_recv(int socket, void *buffer, unsigned long capacity, int flags);
long clinux_send_connected(int socket, const void *bytes, unsigned long count, int flags);
int clinux_epoll_wait(int set, struct epoll_event *events, int count, int milliseconds);

/// An alarm on the monotonic clock: a descriptor that is readable from the time on that was set last. -1 and errno on failure.
int clinux_alarm(void);
/// Nanoseconds of the monotonic clock, not 0; a time that has passed rings at once.
int clinux_set_alarm(int alarm, uint64_t nanoseconds);

/// A way to ask the kernel for sockets of this network namespace: sock_diag(7). -1 and errno on failure.
int clinux_diagnosis(void);
/// Asks for the UDP sockets of a family that are bound to ports of a range. 0, or -1 and errno.
int clinux_ask_udp_sockets(int diagnosis, int family, uint16_t first, uint16_t last);
/// A bound socket; the bytes of an IPv4 address are the first four.
struct clinux_bound_socket { uint32_t inode; uint16_t port; uint8_t family; uint8_t address[16]; };
/// The next part of the answer, at most `capacity` sockets of it. Returns how many, with *done set behind the last; or -1 and errno.
long clinux_read_udp_sockets(int diagnosis, struct clinux_bound_socket *found, unsigned long capacity, int *done);

/// A UDP datagram that left by an interface of this network namespace: the time of day in nanoseconds since 1970, the port that it left
/// from, and the first bytes of its payload.
struct clinux_packet { uint64_t wall; uint16_t port; uint8_t has_payload; uint8_t payload[2]; };
/// Has the kernel write down such datagrams from ports of a range, in a ring of 32,720. -1 and errno on failure: EPERM without CAP_NET_RAW.
int clinux_open_capture(uint16_t first, uint16_t last, void **ring);
void clinux_close_capture(int capture, void *ring);
/// The next ones, at most `capacity` of them, from the frame at *place, which begins with 0. Returns how many.
long clinux_read_capture(void *ring, uint32_t *place, struct clinux_packet *packets, unsigned long capacity);
/// Datagrams for which the ring had no room since this was asked last.
uint32_t clinux_capture_losses(int capture);

/// Processor time and peak memory of this process since it started.
struct clinux_usage { uint64_t user_microseconds; uint64_t system_microseconds; uint64_t peak_kilobytes; };
void clinux_get_usage(struct clinux_usage *usage);

/// Bytes that were allocated and are not freed, and bytes that were freed and that the allocator keeps for what comes. It looks at every free piece,
/// and each arena waits meanwhile.
struct clinux_memory { uint64_t used; uint64_t kept; };
void clinux_get_memory(struct clinux_memory *memory);
/// Gives the pages of free pieces back to the kernel; each arena waits while it is its turn.
void clinux_return_memory(void);
/// From now on threads allocate from one arena, beside what each keeps for itself.
void clinux_use_one_arena(void);

/// Names the calling thread for debuggers and `top -H`; at most 15 bytes are kept.
void clinux_name_thread(const char *name);

/// Has the scheduler prefer the calling thread, not those that it will start: 2 for real time (SCHED_FIFO), 1 for nice -15, 0 where neither is permitted.
/// Its sleeps end within a microsecond of their time instead of 50.
int clinux_make_thread_urgent(void);

/// Has the scheduler prefer others to the calling thread: nice 1 (a little) to 19 (all).
void clinux_make_thread_patient(int nice);

/// The soft limit of open descriptors after raising it to the hard limit.
uint64_t clinux_raise_descriptor_limit(void);

/// getrandom until `count` bytes are there. 0, or -1 and errno.
int clinux_random(void *buffer, unsigned long count);

#endif
