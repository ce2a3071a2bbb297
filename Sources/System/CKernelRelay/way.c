// How packets travel: asked of the kernel's routing table by netlink.
#include "CKernelRelay.h"
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
    struct nlmsghdr header;
    union {
        struct rtmsg route;
        struct ifinfomsg link;
    };
    char attributes[64];
};

union answer {
    struct nlmsghdr header;
    char bytes[8192];
};

static int open_netlink(int flags, uint32_t groups) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE);
    if (descriptor < 0) return -errno;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    return -code;
}

int kernel_relay_open_ways(void) { return open_netlink(0, 0); }

int kernel_relay_open_news(void) {
    return open_netlink(
        SOCK_NONBLOCK, RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_RULE);
}

int kernel_relay_has_news(int descriptor) {
    union answer news;
    int has_news = 0;
    for (;;) {
        ssize_t count = recv(descriptor, &news, sizeof news, MSG_DONTWAIT);
        // Without room for all of them the kernel says so once.
        if (count < 0 && errno != EINTR && errno != ENOBUFS) return has_news;
        has_news = 1;
    }
}

static void add(struct request *request, unsigned short type, const void *value, unsigned short size) {
    struct rtattr *attribute = (struct rtattr *)((char *)request + NLMSG_ALIGN(request->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), value, size);
    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

/// Sends a request and waits for its answer, which the kernel makes at once; 0, or -errno.
static int ask(int descriptor, struct request *request, uint16_t expected, union answer *answer) {
    static _Atomic uint32_t sequence;
    request->header.nlmsg_flags = NLM_F_REQUEST;
    request->header.nlmsg_seq = ++sequence;
    if (send(descriptor, request, request->header.nlmsg_len, 0) < 0) return -errno;
    for (;;) {
        ssize_t count = recv(descriptor, answer, sizeof *answer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -errno;
        if (!NLMSG_OK(&answer->header, (size_t)count)) return -EPROTO;
        if (answer->header.nlmsg_seq != request->header.nlmsg_seq) continue;
        if (answer->header.nlmsg_type == NLMSG_ERROR) return ((struct nlmsgerr *)NLMSG_DATA(&answer->header))->error ?: -EPROTO;
        return answer->header.nlmsg_type == expected ? 0 : -EPROTO;
    }
}

static uint32_t number(const struct rtattr *attribute) {
    uint32_t value = 0;
    if (RTA_PAYLOAD(attribute) >= sizeof value) memcpy(&value, RTA_DATA(attribute), sizeof value);
    return value;
}

/// The limit of a route, where it has one of its own.
static uint32_t route_limit(struct rtattr *metrics) {
    int size = RTA_PAYLOAD(metrics);
    for (struct rtattr *metric = RTA_DATA(metrics); RTA_OK(metric, size); metric = RTA_NEXT(metric, size)) {
        if (metric->rta_type == RTAX_MTU) return number(metric);
    }
    return 0;
}

/// Whether an interface's frames have Ethernet's header, and how long its packets may be.
static int measure(int descriptor, struct kernel_relay_way *way) {
    struct request request;
    union answer answer;
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.link);
    request.header.nlmsg_type = RTM_GETLINK;
    request.link.ifi_index = (int)way->interface;
    int result = ask(descriptor, &request, RTM_NEWLINK, &answer);
    if (result < 0) return result;
    struct ifinfomsg *link = NLMSG_DATA(&answer.header);
    if (link->ifi_type != ARPHRD_ETHER && link->ifi_type != ARPHRD_LOOPBACK) return -EOPNOTSUPP;
    int size = IFLA_PAYLOAD(&answer.header);
    for (struct rtattr *attribute = IFLA_RTA(link); RTA_OK(attribute, size); attribute = RTA_NEXT(attribute, size)) {
        if (attribute->rta_type != IFLA_MTU) continue;
        uint32_t limit = number(attribute);
        if (!way->longest || limit < way->longest) way->longest = limit;
    }
    return 0;
}

int kernel_relay_find_way(int descriptor, uint32_t family, const uint8_t *from, const uint8_t *to, struct kernel_relay_way *way) {
    struct request request;
    union answer answer;
    unsigned short size = family == 6 ? 16 : 4;
    memset(&request, 0, sizeof request);
    memset(way, 0, sizeof *way);
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.route);
    request.header.nlmsg_type = RTM_GETROUTE;
    request.route.rtm_family = family == 6 ? AF_INET6 : AF_INET;
    request.route.rtm_dst_len = (uint8_t)(8 * size);
    add(&request, RTA_DST, to, size);
    if (from) {
        request.route.rtm_src_len = (uint8_t)(8 * size);
        add(&request, RTA_SRC, from, size);
        memcpy(way->source, from, size);
    }
    int result = ask(descriptor, &request, RTM_NEWROUTE, &answer);
    if (result < 0) return result;
    struct rtmsg *route = NLMSG_DATA(&answer.header);
    if (route->rtm_type != RTN_LOCAL && route->rtm_type != RTN_UNICAST) return -ENETUNREACH;
    way->is_local = route->rtm_type == RTN_LOCAL;
    int left = RTM_PAYLOAD(&answer.header);
    for (struct rtattr *attribute = RTM_RTA(route); RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == RTA_OIF) way->interface = number(attribute);
        if (attribute->rta_type == RTA_METRICS) way->longest = route_limit(attribute);
        if (attribute->rta_type == RTA_PREFSRC && !from && RTA_PAYLOAD(attribute) == size) memcpy(way->source, RTA_DATA(attribute), size);
    }
    return way->interface ? measure(descriptor, way) : -ENETUNREACH;
}
