import Dispatch
import Foundation

/// The call directories of a machine: which extensions there are, their entries in force, and their loads.
///
/// On a telephone the installed apps bring these. Here a program registers them; each `CallSystem` says which it has
/// enabled. A failed load leaves the entries as they were. Safe to use from any thread.
public final class CallDirectories: @unchecked Sendable {
    public typealias Failure = CXErrorCodeCallDirectoryManagerError

    /// Those of this process, in memory only.
    public static let shared = CallDirectories()

    struct Directory {
        var record: CallDirectoryRecord
        /// Makes the extension's principal class; nil: restored, and not registered since.
        var makeProvider: (@Sendable () -> CXCallDirectoryProvider)?
        /// Alive while a load goes on.
        var load: Load?
    }

    struct Load {
        var provider: UncheckedBox<CXCallDirectoryProvider>?
        let completion: @Sendable ((any Error)?) -> Void
    }

    public let limits: CallDirectoryLimits
    private let store: (any CallDirectoryStore)?
    private let directories = Locked<[String: Directory]>([:])
    /// Ends loads, one after another; completions run here.
    private let queue = DispatchQueue(label: "CallKit.directories")

    public init(limits: CallDirectoryLimits = CallDirectoryLimits(), store: (any CallDirectoryStore)? = nil) {
        (self.limits, self.store) = (limits, store)
    }

    /// Takes up what the store has kept. Once, before the first load.
    public func restore() throws {
        guard let store else { return }
        for record in try store.load(limits: limits) {
            directories.withLock { $0[record.identifier, default: Directory(record: record)].record = record }
        }
    }

    /// Installs an extension, or replaces it; entries that are in force stay.
    public func register(_ identifier: String, provider: @escaping @Sendable () -> CXCallDirectoryProvider) {
        directories.withLock {
            $0[identifier, default: Directory(record: CallDirectoryRecord(identifier: identifier))].makeProvider = provider
        }
    }

    public var identifiers: [String] { directories.withLock { $0.keys.sorted() } }

    /// Gives the record of a directory; nil when there is none.
    public func record(of identifier: String) -> CallDirectoryRecord? { directories.withLock { $0[identifier]?.record } }

    // MARK: Lookup

    func isBlocked(_ number: CXCallDirectoryPhoneNumber, by identifiers: [String]) -> Bool {
        identifiers.contains { record(of: $0)?.data?.isBlocked(number) ?? false }
    }

    /// The first label that one of the directories has, in their order.
    func label(of number: CXCallDirectoryPhoneNumber, in identifiers: [String]) -> (label: String, identifier: String)? {
        for identifier in identifiers {
            if let label = record(of: identifier)?.data?.label(of: number) { return (label, identifier) }
        }
        return nil
    }

    // MARK: Loads

    /// Loads a directory anew. The completion runs on a private queue: nil, the extension's own error, or a `Failure`.
    public func load(_ identifier: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
        do throws(Failure) {
            let (make, base) = try begin(identifier, completion)
            DispatchQueue.global().async { self.run(identifier, make, base) }
        } catch {
            queue.async { completion(error) }
        }
    }

    private func begin(
        _ identifier: String, _ completion: @escaping @Sendable ((any Error)?) -> Void
    ) throws(Failure) -> (@Sendable () -> CXCallDirectoryProvider, CallDirectoryData?) {
        let (code, admitted) = directories.withLock {
            directories -> (Failure.Code, (@Sendable () -> CXCallDirectoryProvider, CallDirectoryData?)?) in
            guard let directory = directories[identifier], let make = directory.makeProvider else { return (.noExtensionFound, nil) }
            guard directory.load == nil else { return (.currentlyLoading, nil) }
            directories[identifier]?.load = Load(provider: nil, completion: completion)
            return (.unknown, (make, directory.record.data))
        }
        guard let admitted else { throw Failure(code) }
        return admitted
    }

    private func run(_ identifier: String, _ make: @Sendable () -> CXCallDirectoryProvider, _ base: CallDirectoryData?) {
        let provider = make()
        directories.withLock { $0[identifier]?.load?.provider = UncheckedBox(provider) }
        let request = CallDirectoryRequest(base: base, limits: limits)
        // Strong: the load must end even if its owner lets go of the directories.
        let context = CXCallDirectoryExtensionContext(request, queue: queue) { outcome in
            self.queue.async { self.end(identifier, outcome) }
        }
        queue.asyncAfter(deadline: .now() + limits.loadTime / .seconds(1)) { [weak context] in context?.interrupt() }
        provider.beginRequest(with: context)
    }

    private func end(_ identifier: String, _ outcome: CXCallDirectoryExtensionContext.Outcome) {
        var failure: (any Error)?
        switch outcome {
        case .loaded(let data): failure = keep(data, of: identifier)
        case .cancelled(let error): failure = error
        case .failed(let error, let context):
            failure = error
            if let context { context.delegate?.requestFailed(for: context, withError: error) }
        }
        if let failure { keep(CallDirectoryFailure(failure, at: Date()), of: identifier) }
        let load = directories.withLock { $0[identifier]?.load.take() }
        load?.completion(failure)
    }

    /// Entries that could not be saved do not come into force: memory and store say the same.
    private func keep(_ data: CallDirectoryData, of identifier: String) -> (any Error)? {
        let date = Date()
        do { try store?.save(data, of: identifier, at: date) } catch { return error }
        let record = CallDirectoryRecord(identifier: identifier, data: data, loaded: date)
        directories.withLock { $0[identifier]?.record = record }
        return nil
    }

    private func keep(_ failure: CallDirectoryFailure, of identifier: String) {
        directories.withLock { $0[identifier]?.record.failure = failure }
        // A store that cannot even keep this has nothing more to tell than the failure in memory.
        try? store?.save(failure, of: identifier)
    }
}
