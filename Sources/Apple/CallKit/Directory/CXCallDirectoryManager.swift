import Foundation

/// The app's view of call directory extensions: whether they are enabled, and that they shall load anew.
///
/// Completions run on a private queue.
open class CXCallDirectoryManager: NSObject, @unchecked Sendable {
    public enum EnabledStatus: Int, Sendable {
        case unknown = 0, disabled = 1, enabled = 2
    }

    private let owner: Locked<Owner>

    private struct Owner { weak var system: CallSystem? }

    /// That of `CallSystem.current`; one for each system.
    open class var sharedInstance: CXCallDirectoryManager { CallSystem.current.directoryManager }

    init(_ system: CallSystem) {
        owner = Locked(Owner(system: system))
        super.init()
    }

    private var system: CallSystem? { owner.withLock { $0.system } }

    /// nil: loaded. Else the extension's own error, or a `CXErrorCodeCallDirectoryManagerError`; the entries stay as they were.
    @preconcurrency open func reloadExtension(
        withIdentifier identifier: String, completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil
    ) {
        guard let system, let directories = system.directories, directories.record(of: identifier) != nil else {
            return Self.answer(completion, .noExtensionFound)
        }
        guard system.enabledDirectories.contains(identifier) else { return Self.answer(completion, .extensionDisabled) }
        directories.load(identifier) { completion?($0) }
    }

    open func reloadExtension(withIdentifier identifier: String) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            reloadExtension(withIdentifier: identifier) { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    /// `unknown` and `noExtensionFound` when there is no such extension.
    @preconcurrency open func getEnabledStatusForExtension(
        withIdentifier identifier: String, completionHandler completion: @escaping @Sendable (EnabledStatus, (any Error)?) -> Void
    ) {
        guard let system, system.directories?.record(of: identifier) != nil else {
            let error = CXErrorCodeCallDirectoryManagerError(.noExtensionFound)
            return DispatchQueue.global().async { completion(.unknown, error) }
        }
        let status = system.enabledDirectories.contains(identifier) ? EnabledStatus.enabled : .disabled
        DispatchQueue.global().async { completion(status, nil) }
    }

    open func enabledStatusForExtension(withIdentifier identifier: String) async throws -> EnabledStatus {
        try await withCheckedThrowingContinuation { continuation in
            getEnabledStatusForExtension(withIdentifier: identifier) { status, error in
                continuation.resume(with: error.map(Result.failure) ?? .success(status))
            }
        }
    }

    /// Tells whoever shows the settings of this system (`CallSystem.openSettings`); with nobody there, it fails.
    @preconcurrency open func openSettings(completionHandler completion: (@Sendable ((any Error)?) -> Void)? = nil) {
        guard let open = system?.openSettings else { return Self.answer(completion, .unknown) }
        open()
        DispatchQueue.global().async { completion?(nil) }
    }

    open func openSettings() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            openSettings { continuation.resume(with: $0.map(Result.failure) ?? .success(())) }
        }
    }

    private static func answer(
        _ completion: (@Sendable ((any Error)?) -> Void)?, _ code: CXErrorCodeCallDirectoryManagerError.Code
    ) {
        DispatchQueue.global().async { completion?(CXErrorCodeCallDirectoryManagerError(code)) }
    }
}
