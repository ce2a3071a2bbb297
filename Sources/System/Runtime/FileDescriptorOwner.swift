import Glibc

/// Owns one file descriptor and closes it when its life ends.
public struct FileDescriptorOwner: ~Copyable, Sendable {
    /// The number; closed when this goes, so nobody else is to keep it.
    public let raw: Int32

    /// - Parameter raw: open, and nobody else's.
    public init(_ raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}
