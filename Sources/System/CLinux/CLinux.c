#define _GNU_SOURCE
#include "CLinux.h"
#include <errno.h>
#include <linux/errqueue.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int clinux_socket(int family, int type) { return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

int clinux_accept(int listener, struct sockaddr_storage *remote) {
    socklen_t length = sizeof *remote;
    return accept4(listener, (struct sockaddr *)remote, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static int set_int(int socket, int level, int option, int value) { return setsockopt(socket, level, option, &value, sizeof value); }

int clinux_set_reuse_address(int socket, int on) { return set_int(socket, SOL_SOCKET, SO_REUSEADDR, on); }
int clinux_set_reuse_port(int socket, int on) { return set_int(socket, SOL_SOCKET, SO_REUSEPORT, on); }
int clinux_set_v6_only(int socket, int on) { return set_int(socket, IPPROTO_IPV6, IPV6_V6ONLY, on); }
int clinux_set_no_delay(int socket, int on) { return set_int(socket, IPPROTO_TCP, TCP_NODELAY, on); }

int clinux_set_packet_info(int socket, int family, int on) {
    return family == AF_INET6 ? set_int(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, on) : set_int(socket, IPPROTO_IP, IP_PKTINFO, on);
}

int clinux_set_returns(int socket, int family) {
    return family == AF_INET6 ? set_int(socket, IPPROTO_IPV6, IPV6_RECVERR, 1) : set_int(socket, IPPROTO_IP, IP_RECVERR, 1);
}

int clinux_set_timestamps(int socket) { return set_int(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1); }

int clinux_set_buffers(int socket, int receive, int send) {
    if (set_int(socket, SOL_SOCKET, SO_RCVBUFFORCE, receive) != 0 && set_int(socket, SOL_SOCKET, SO_RCVBUF, receive) != 0) return -1;
    return set_int(socket, SOL_SOCKET, SO_SNDBUF, send);
}

int clinux_set_send_buffer(int socket, int bytes) { return set_int(socket, SOL_SOCKET, SO_SNDBUF, bytes); }

int clinux_pending_error(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

union control { struct cmsghdr header; char room[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(struct timespec))]; };

static void read_destination(struct msghdr *message, struct sockaddr_storage *to) {
    memset(to, 0, sizeof *to);
    for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
        if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            struct sockaddr_in *address = (struct sockaddr_in *)to;
            address->sin_family = AF_INET;
            // ipi_spec_dst, not ipi_addr: for a broadcast or multicast datagram it is the address to answer from.
            address->sin_addr = info.ipi_spec_dst;
        } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(item), sizeof info);
            if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr)) continue;
            struct sockaddr_in6 *address = (struct sockaddr_in6 *)to;
            address->sin6_family = AF_INET6;
            address->sin6_addr = info.ipi6_addr;
        }
    }
}

/// Both are of the clock that people set: a step of it in between counts as no wait.
static int64_t read_wait(struct msghdr *message) {
    for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec came, now;
        memcpy(&came, CMSG_DATA(item), sizeof came);
        if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
        int64_t waited = (int64_t)(now.tv_sec - came.tv_sec) * 1000000000 + (now.tv_nsec - came.tv_nsec);
        return waited > 0 && waited < 60000000000 ? waited : 0;
    }
    return 0;
}

long clinux_receive(int socket, void *buffer, unsigned long capacity, struct sockaddr_storage *from, struct sockaddr_storage *to, int *truncated, int64_t *waited) {
    union control control;
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_name = from, .msg_namelen = sizeof *from, .msg_iov = &part, .msg_iovlen = 1,
                             .msg_control = &control, .msg_controllen = sizeof control};
    memset(from, 0, sizeof *from);
    ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
    if (count < 0) return -1;
    *truncated = (message.msg_flags & MSG_TRUNC) != 0;
    read_destination(&message, to);
    *waited = read_wait(&message);
    return count;
}

/// What RFC 3261 section 18.4 takes for a failure. That a datagram was too long or went too far says nothing of the peer.
static int says_unreachable(const struct sock_extended_err *error) {
    if (error->ee_origin == SO_EE_ORIGIN_ICMP) return error->ee_type == ICMP_DEST_UNREACH && error->ee_code != ICMP_FRAG_NEEDED;
    return error->ee_origin == SO_EE_ORIGIN_ICMP6 && error->ee_type == ICMP6_DST_UNREACH;
}

long clinux_receive_return(int socket, void *buffer, unsigned long capacity, int *unreachable) {
    _Alignas(struct cmsghdr) char control[256];
    struct iovec part = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *unreachable = 0;
    ssize_t count = recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT);
    if (count < 0) return -1;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        int is_error = (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) || (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR);
        if (!is_error) continue;
        struct sock_extended_err error;
        memcpy(&error, CMSG_DATA(item), sizeof error);
        *unreachable = says_unreachable(&error);
    }
    return count;
}

long clinux_send(int socket, const void *bytes, unsigned long count, const struct sockaddr *to, unsigned int to_length, const struct sockaddr_storage *source) {
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {.msg_name = (void *)to, .msg_namelen = to_length, .msg_iov = &part, .msg_iovlen = 1};
    union control control;
    if (source) {
        memset(&control, 0, sizeof control);
        message.msg_control = &control;
        if (source->ss_family == AF_INET6) {
            struct in6_pktinfo info = {.ipi6_addr = ((const struct sockaddr_in6 *)source)->sin6_addr};
            control.header.cmsg_level = IPPROTO_IPV6;
            control.header.cmsg_type = IPV6_PKTINFO;
            control.header.cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(&control.header), &info, sizeof info);
        } else {
            struct in_pktinfo info = {.ipi_spec_dst = ((const struct sockaddr_in *)source)->sin_addr};
            control.header.cmsg_level = IPPROTO_IP;
            control.header.cmsg_type = IP_PKTINFO;
            control.header.cmsg_len = CMSG_LEN(sizeof info);
            message.msg_controllen = CMSG_SPACE(sizeof info);
            memcpy(CMSG_DATA(&control.header), &info, sizeof info);
        }
    }
    return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

long clinux_recv(int socket, void *buffer, unsigned long capacity, int flags) { return syscall(SYS_recvfrom, socket, buffer, capacity, flags, NULL, NULL); }

long clinux_send_connected(int socket, const void *bytes, unsigned long count, int flags) {
    return syscall(SYS_sendto, socket, bytes, count, flags, NULL, 0);
}

int clinux_epoll_wait(int set, struct epoll_event *events, int count, int milliseconds) {
    return (int)syscall(SYS_epoll_pwait, set, events, count, milliseconds, NULL, 0);
}

int clinux_alarm(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

int clinux_set_alarm(int alarm, uint64_t nanoseconds) {
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)}};
    return timerfd_settime(alarm, TFD_TIMER_ABSTIME, &time, NULL);
}

int clinux_diagnosis(void) {
    int diagnosis = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diagnosis < 0) return -1;
    // The kernel answers at once. Where it does not, reading fails instead of waiting for ever.
    struct timeval longest = {.tv_sec = 2};
    setsockopt(diagnosis, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
    return diagnosis;
}

int clinux_ask_udp_sockets(int diagnosis, int family, uint16_t first, uint16_t last) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
        struct nlattr filter;
        // Each comparison with the port in the operation behind it: a jump behind the end refuses the socket.
        struct inet_diag_bc_op operations[4];
    } question = {
        .header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .request = {.sdiag_family = (uint8_t)family, .sdiag_protocol = IPPROTO_UDP, .idiag_states = ~0u},
        .filter = {.nla_len = sizeof question.filter + sizeof question.operations, .nla_type = INET_DIAG_REQ_BYTECODE},
        .operations = {{.code = INET_DIAG_BC_S_GE, .yes = 8, .no = 20}, {.no = first}, {.code = INET_DIAG_BC_S_LE, .yes = 8, .no = 12}, {.no = last}},
    };
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    return sendto(diagnosis, &question, sizeof question, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0 ? -1 : 0;
}

long clinux_read_udp_sockets(int diagnosis, struct clinux_bound_socket *found, unsigned long capacity, int *done) {
    _Alignas(struct nlmsghdr) char answer[32768];
    struct iovec part = {.iov_base = answer, .iov_len = sizeof answer};
    struct sockaddr_nl from;
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &part, .msg_iovlen = 1};
    ssize_t length = recvmsg(diagnosis, &message, 0);
    if (length < 0) return -1;
    unsigned long count = 0;
    *done = 0;
    errno = EPROTO;
    if ((message.msg_flags & MSG_TRUNC) || from.nl_pid != 0) return -1;
    for (struct nlmsghdr *item = (struct nlmsghdr *)answer; NLMSG_OK(item, (size_t)length); item = NLMSG_NEXT(item, length)) {
        if (item->nlmsg_type == NLMSG_DONE) {
            *done = 1;
            break;
        }
        if (item->nlmsg_type == NLMSG_ERROR) {
            if (item->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) errno = -((struct nlmsgerr *)NLMSG_DATA(item))->error;
            return -1;
        }
        if (item->nlmsg_type != SOCK_DIAG_BY_FAMILY || item->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)) || count == capacity) return -1;
        const struct inet_diag_msg *socket = NLMSG_DATA(item);
        found[count].inode = socket->idiag_inode;
        found[count].port = ntohs(socket->id.idiag_sport);
        found[count].family = socket->idiag_family;
        memcpy(found[count].address, socket->id.idiag_src, sizeof found[count].address);
        count++;
    }
    return (long)count;
}

void clinux_get_usage(struct clinux_usage *usage) {
    struct rusage figures;
    memset(usage, 0, sizeof *usage);
    if (getrusage(RUSAGE_SELF, &figures) != 0) return;
    usage->user_microseconds = (uint64_t)figures.ru_utime.tv_sec * 1000000 + (uint64_t)figures.ru_utime.tv_usec;
    usage->system_microseconds = (uint64_t)figures.ru_stime.tv_sec * 1000000 + (uint64_t)figures.ru_stime.tv_usec;
    usage->peak_kilobytes = (uint64_t)figures.ru_maxrss;
}

void clinux_get_memory(struct clinux_memory *memory) {
    struct mallinfo2 figures = mallinfo2();
    memory->used = figures.uordblks;
    memory->kept = figures.fordblks;
}

void clinux_return_memory(void) { malloc_trim(0); }

void clinux_use_one_arena(void) { mallopt(M_ARENA_MAX, 1); }

void clinux_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

int clinux_make_thread_urgent(void) {
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    struct sched_param urgent = {.sched_priority = 1}, usual = {.sched_priority = 0};
    // Reset on fork: Dispatch may start its threads from this one.
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &urgent) == 0) return 2;
    sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &usual);
    return setpriority(PRIO_PROCESS, 0, -15) == 0 ? 1 : 0;
}

void clinux_make_thread_patient(int nice) { setpriority(PRIO_PROCESS, 0, nice); }

uint64_t clinux_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

int clinux_random(void *buffer, unsigned long count) {
    unsigned long filled = 0;
    while (filled < count) {
        ssize_t got = getrandom((char *)buffer + filled, count - filled, 0);
        if (got < 0 && errno != EINTR) return -1;
        if (got > 0) filled += (unsigned long)got;
    }
    return 0;
}
