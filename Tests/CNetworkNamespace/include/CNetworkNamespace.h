// Network namespaces without names, for tests: they are gone with their last descriptor.
#ifndef CNETWORKNAMESPACE_H
#define CNETWORKNAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

/// Moves the calling thread, and none other, into a new namespace. Returns a descriptor of it, or -errno.
int network_namespace_make(void);
/// Moves the calling thread into a namespace. 0, or -errno.
int network_namespace_enter(int descriptor);

/// Has an interface of the calling thread's namespace make and check checksums in software, as between machines. 0, or -errno.
int network_namespace_sum_in_software(const char *interface);

/// A process that opens a kernel relay, puts its program before an interface of the calling thread's namespace and then waits to be killed.
/// Returns its number when the program is there, or -errno.
pid_t network_namespace_fork_relay(uint32_t interface);

/// What bpf(2) says to a process without capabilities: kernel_relay_open's result there.
int network_namespace_open_as_nobody(void);

#endif
