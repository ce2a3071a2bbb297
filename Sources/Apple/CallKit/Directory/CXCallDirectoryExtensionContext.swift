import Foundation

/// Hears that the system gave a load up.
public protocol CXCallDirectoryExtensionContextDelegate: NSObjectProtocol {
    /// The user may have started the load in the settings: keep the error where the app can read it.
    func requestFailed(for extensionContext: CXCallDirectoryExtensionContext, withError error: any Error)
}

/// One load of a call directory. The first wrong entry ends it, and the directory stays as it was.
///
/// Safe to use from any thread, by one at a time if the order of entries matters. All calls after the end are ignored.
open class CXCallDirectoryExtensionContext: NSExtensionContext, @unchecked Sendable {
    /// Outcomes of a load.
    enum Outcome: Sendable {
        case loaded(CallDirectoryData)
        /// By `cancelRequest`.
        case cancelled(any Error)
        /// By the system; nil when the context is no more.
        case failed(any Error, CXCallDirectoryExtensionContext?)
    }

    private struct Wiring {
        weak var delegate: (any CXCallDirectoryExtensionContextDelegate)?
    }

    /// nil: over.
    private let request: Locked<CallDirectoryRequest?>
    private let wiring = Locked(Wiring())
    private let queue: DispatchQueue
    private let end: @Sendable (Outcome) -> Void

    /// - Parameters:
    ///   - queue: where completion handlers run.
    ///   - end: called once, on any thread.
    init(_ request: CallDirectoryRequest, queue: DispatchQueue, end: @escaping @Sendable (Outcome) -> Void) {
        self.request = Locked(request)
        (self.queue, self.end) = (queue, end)
        super.init()
    }

    deinit {
        if request.withLock({ $0.take() }) != nil { end(.failed(CallDirectoryRequest.Failure(.loadingInterrupted), nil)) }
    }

    open weak var delegate: (any CXCallDirectoryExtensionContextDelegate)? {
        get { wiring.withLock { $0.delegate } }
        set { wiring.withLock { $0.delegate = newValue } }
    }

    /// Whether entries are relative to the last load. Only if this is read, before the first entry, and is true; a load in
    /// which it was not read is a full one, and removes nothing.
    open var isIncremental: Bool { request.withLock { $0?.readIncremental() ?? false } }

    /// Adds a blocked number, greater than all added before it.
    open func addBlockingEntry(withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
        change { request throws(CallDirectoryRequest.Failure) in try request.block(phoneNumber) }
    }

    /// Takes away a number that the last load left blocked. Only in an incremental load.
    open func removeBlockingEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
        change { request throws(CallDirectoryRequest.Failure) in try request.unblock(phoneNumber) }
    }

    /// Only in an incremental load.
    open func removeAllBlockingEntries() {
        change { request throws(CallDirectoryRequest.Failure) in try request.unblockAll() }
    }

    /// Adds a label to a number not less than those added before it. One number may have several different labels.
    open func addIdentificationEntry(withNextSequentialPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber, label: String) {
        change { request throws(CallDirectoryRequest.Failure) in try request.identify(phoneNumber, label: label) }
    }

    /// Takes away all labels that the last load left on a number. Only in an incremental load.
    open func removeIdentificationEntry(withPhoneNumber phoneNumber: CXCallDirectoryPhoneNumber) {
        change { request throws(CallDirectoryRequest.Failure) in try request.unidentify(phoneNumber) }
    }

    /// Only in an incremental load.
    open func removeAllIdentificationEntries() {
        change { request throws(CallDirectoryRequest.Failure) in try request.unidentifyAll() }
    }

    private func change(_ body: (inout CallDirectoryRequest) throws(CallDirectoryRequest.Failure) -> Void) {
        let failure = request.withLock { request -> CallDirectoryRequest.Failure? in
            guard var current = request.take() else { return nil }
            do throws(CallDirectoryRequest.Failure) {
                try body(&current)
                request = current
                return nil
            } catch { return error }
        }
        if let failure { end(.failed(failure, self)) }
    }

    /// All is said. The handler is told whether the load has expired: whether it was over already, or failed at this.
    @preconcurrency open func completeRequest(completionHandler completion: (@Sendable (Bool) -> Void)? = nil) {
        let expired = complete()
        guard let completion else { return }
        queue.async { completion(expired) }
    }

    @discardableResult
    open func completeRequest() async -> Bool {
        await withCheckedContinuation { continuation in completeRequest { continuation.resume(returning: $0) } }
    }

    private func complete() -> Bool {
        guard let request = request.withLock({ $0.take() }) else { return true }
        do throws(CallDirectoryRequest.Failure) {
            end(.loaded(try request.finish()))
            return false
        } catch {
            end(.failed(error, self))
            return true
        }
    }

    open override func cancelRequest(withError error: any Error) {
        if request.withLock({ $0.take() }) != nil { end(.cancelled(error)) }
    }

    /// The system gives up, if the load is not over.
    func interrupt() {
        if request.withLock({ $0.take() }) != nil {
            end(.failed(CallDirectoryRequest.Failure(.loadingInterrupted), self))
        }
    }
}
