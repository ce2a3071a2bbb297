#define _GNU_SOURCE
#include "CNetworkNamespace.h"
#include "CKernelRelay.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int network_namespace_make(void) {
    if (unshare(CLONE_NEWNET) != 0) return -errno;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/ns/net", syscall(SYS_gettid));
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

int network_namespace_enter(int descriptor) { return setns(descriptor, CLONE_NEWNET) == 0 ? 0 : -errno; }

int network_namespace_sum_in_software(const char *interface) {
    int result = 0, descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (int sends = 0; sends < 2 && result == 0; sends++) {
        struct ethtool_value off = {.cmd = sends ? ETHTOOL_STXCSUM : ETHTOOL_SRXCSUM};
        struct ifreq request = {.ifr_data = (void *)&off};
        strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
        if (ioctl(descriptor, SIOCETHTOOL, &request) != 0) result = -errno;
    }
    close(descriptor);
    return result;
}

/// Forks; the child sends a number, and lives on where that is not negative, until this process is gone: then nobody holds the other end of
/// its second pipe. It is a copy of a process of many threads: system calls only.
static pid_t fork_with(int (*work)(uint32_t), uint32_t argument, int *result) {
    int ends[2], life[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(life, O_CLOEXEC) != 0) return -errno;
    pid_t child = fork();
    if (child == 0) {
        close(life[1]);
        int told = work(argument);
        if (write(ends[1], &told, sizeof told) == sizeof told && told >= 0) read(life[0], &told, sizeof told);
        _exit(0);
    }
    close(life[0]);
    close(ends[1]);
    *result = -EIO;
    if (child > 0 && read(ends[0], result, sizeof *result) != sizeof *result) *result = -EIO;
    close(ends[0]);
    if (child > 0 && *result < 0) {
        waitpid(child, 0, 0);
        close(life[1]);
    }
    return child < 0 ? -errno : child;
}

static int open_and_attach(uint32_t interface) {
    struct kernel_relay relay;
    int result = kernel_relay_open(&relay, 16);
    return result < 0 ? result : kernel_relay_attach(&relay, interface);
}

pid_t network_namespace_fork_relay(uint32_t interface) {
    int result;
    pid_t child = fork_with(open_and_attach, interface, &result);
    return child < 0 || result >= 0 ? child : result;
}

static int open_as_nobody(uint32_t unused) {
    (void)unused;
    // By system calls: those of the C library would change all threads.
    if (syscall(SYS_setresgid, 65534, 65534, 65534) != 0 || syscall(SYS_setresuid, 65534, 65534, 65534) != 0) return -errno;
    struct kernel_relay relay;
    int result = kernel_relay_open(&relay, 16);
    return result < 0 ? result : -EEXIST;
}

int network_namespace_open_as_nobody(void) {
    int result;
    pid_t child = fork_with(open_as_nobody, 0, &result);
    return child < 0 ? child : result;
}
