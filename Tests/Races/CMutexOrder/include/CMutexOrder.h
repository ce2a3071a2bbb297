// Tells ThreadSanitizer what a `Synchronization.Mutex` orders.
//
// The library's fast path is compiled into its users, where the sanitizer sees it. Its slow path, taken when another thread holds the lock,
// is not: each lock that was waited for would be reported as a race. Built with the sanitizer, this stands in front of the slow path.
#ifndef CMUTEX_ORDER_H
#define CMUTEX_ORDER_H

#include <stdbool.h>

/// Whether this was built with ThreadSanitizer.
bool cmutex_order_is_watched(void);

#endif
