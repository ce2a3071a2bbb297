import Foundation

/// A value behind a lock.
///
/// A pthread mutex rather than `Synchronization.Mutex`, whose locking the thread sanitizer does not see on Linux. Locking
/// it again on the thread that holds it is a programmer's error and traps.
struct Guarded<Value>: @unchecked Sendable {
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit { withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) } }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in value }
        storage.withUnsafeMutablePointerToElements { mutex in
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
        }
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { value, mutex in
            let failure = pthread_mutex_lock(mutex)
            precondition(failure == 0, "CallKit was called back while it held its lock")
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }
}
