import Glibc

/// Owns one file descriptor and closes it when its life ends.
public struct FileDescriptorOwner: ~Copyable, Sendable {
    public let raw: Int32

    /// - Parameter raw: open, and nobody else's.
    public init(_ raw: Int32) { self.raw = raw }

    deinit { close(raw) }
}

/// A descriptor that several Dispatch sources watch: closed when the last of them has been cancelled and its owner let it go.
///
/// Closing earlier would hand the number to another socket while a source still listens to it.
final class SharedDescriptor: Sendable {
    private let owner: FileDescriptorOwner
    var raw: Int32 { owner.raw }

    init(_ owner: consuming FileDescriptorOwner) { self.owner = owner }
}
