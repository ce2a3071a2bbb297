import Foundation

/// The store in which call directories survive a restart. Called from one queue at a time.
public protocol CallDirectoryStore: AnyObject, Sendable {
    /// Loads what was saved of all directories. Make the data with a `CallDirectoryBuilder`, from rows in ascending order.
    func load(limits: CallDirectoryLimits) throws -> [CallDirectoryRecord]
    /// Replaces a directory's entries, all or nothing, and forgets its failure.
    func save(_ data: CallDirectoryData, of identifier: String, at date: Date) throws
    /// Keeps why the last load failed, beside the entries in force.
    func save(_ failure: CallDirectoryFailure, of identifier: String) throws
}

/// The data that is kept of one directory.
public struct CallDirectoryRecord: Sendable {
    public let identifier: String
    /// nil: never loaded.
    public var data: CallDirectoryData?
    public var loaded: Date?
    /// Why the last load failed; nil when it did not.
    public var failure: CallDirectoryFailure?

    public init(
        identifier: String, data: CallDirectoryData? = nil, loaded: Date? = nil, failure: CallDirectoryFailure? = nil
    ) {
        (self.identifier, self.data, self.loaded, self.failure) = (identifier, data, loaded, failure)
    }
}

/// Why a load failed, in a form that can be kept.
public struct CallDirectoryFailure: Hashable, Sendable {
    public let domain: String
    public let code: Int
    public let message: String
    public let date: Date

    public init(domain: String, code: Int, message: String, date: Date) {
        (self.domain, self.code, self.message, self.date) = (domain, code, message, date)
    }

    init(_ error: any Error, at date: Date) {
        let bridged = error as NSError
        self.init(domain: bridged.domain, code: bridged.code, message: bridged.localizedDescription, date: date)
    }
}
