#define _GNU_SOURCE
#include "CMutexOrder.h"

#if __has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

bool cmutex_order_is_watched(void) { return true; }

// Methods of _MutexHandle, whose address comes as `self` and is that of the word that the fast path exchanges.
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

typedef METHOD void (*lock_method)(uint32_t thread, SELF);
typedef METHOD void (*unlock_method)(SELF);
typedef METHOD bool (*try_lock_method)(SELF);

static lock_method library_lock;
static unlock_method library_unlock;
static try_lock_method library_try_lock;

static void *library_symbol(const char *name) {
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol) return symbol;
    fprintf(stderr, "race-check: the library has no %s\n", name);
    abort();
}

__attribute__((constructor)) static void find_library(void) {
    library_lock = (lock_method)library_symbol(LOCK);
    library_unlock = (unlock_method)library_symbol(UNLOCK);
    library_try_lock = (try_lock_method)library_symbol(TRY_LOCK);
}

METHOD void cmutex_order_lock(uint32_t thread, SELF) __asm__(LOCK);
METHOD void cmutex_order_unlock(SELF) __asm__(UNLOCK);
METHOD bool cmutex_order_try_lock(SELF) __asm__(TRY_LOCK);

METHOD void cmutex_order_lock(uint32_t thread, SELF) {
    library_lock(thread, self);
    __tsan_acquire(self);
}

METHOD void cmutex_order_unlock(SELF) {
    __tsan_release(self);
    library_unlock(self);
}

METHOD bool cmutex_order_try_lock(SELF) {
    bool is_taken = library_try_lock(self);
    if (is_taken) __tsan_acquire(self);
    return is_taken;
}

#else

bool cmutex_order_is_watched(void) { return false; }

#endif
