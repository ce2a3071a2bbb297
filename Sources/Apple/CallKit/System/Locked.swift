import Foundation

/// A value behind a lock.
///
/// A pthread mutex rather than `Synchronization.Mutex`, whose locking the thread sanitizer does not see on Linux. Locking it again on the
/// thread that holds it is a programmer's error and traps; also where there is no lock, because whoever owns the value lets in one thread
/// at a time.
struct Locked<Value>: @unchecked Sendable {
    private struct Contents {
        var value: Value
        /// Without a lock: it is in use.
        var isInUse = false
    }

    private final class Storage: ManagedBuffer<Contents, pthread_mutex_t> {
        deinit { withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) } }
    }

    private let storage: ManagedBuffer<Contents, pthread_mutex_t>
    private let hasLock: Bool

    init(_ value: Value, hasLock: Bool = true) {
        self.hasLock = hasLock
        storage = Storage.create(minimumCapacity: 1) { _ in Contents(value: value) }
        storage.withUnsafeMutablePointerToElements { mutex in
            var attributes = pthread_mutexattr_t()
            pthread_mutexattr_init(&attributes)
            pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
            pthread_mutex_init(mutex, &attributes)
            pthread_mutexattr_destroy(&attributes)
        }
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { contents, mutex in
            let isFree = hasLock ? pthread_mutex_lock(mutex) == 0 : !contents.pointee.isInUse
            precondition(isFree, "CallKit was called back while it held its lock")
            contents.pointee.isInUse = true
            defer {
                contents.pointee.isInUse = false
                if hasLock { pthread_mutex_unlock(mutex) }
            }
            return try body(&contents.pointee.value)
        }
    }
}
