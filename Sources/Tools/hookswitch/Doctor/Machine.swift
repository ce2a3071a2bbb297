import Foundation
import Gateway
import Media
import Primitives
import Runtime
import Store
import UserAgent
import Workbench

/// The facts of a machine that the doctor looks at; a test makes its own.
struct Machine {
    /// Why the data folder cannot be had.
    enum FolderFailure: Equatable {
        case inUse, unwritable, noFolder(String)

        var text: String {
            switch self {
            case .inUse: "is in use by another hookswitch"
            case .unwritable: "cannot be made, or nothing can be made in it"
            case .noFolder(let path): "cannot be made: \(path) is no folder"
            }
        }
    }

    /// How a database was found, asked as a server asks it.
    enum DatabaseReading {
        case good(milliseconds: Double)
        case otherVersion(PostgresStore.OtherVersion, String)
        /// A gateway serves without it.
        case away(String)
        /// A start ends with this line.
        case refused(String)
    }

    /// Addresses of interfaces that are up, without loopback.
    var addresses: [IPAddress]
    var ephemeral: ClosedRange<UInt16>?
    var receiveBufferLimit: Int?
    var sendBufferLimit: Int?
    var clockSource: String?
    var descriptorLimit: Int
    var cores: Int
    /// Milliseconds, or nil where a name leads to no server: asked as a server asks.
    var resolve: (TrunkConfiguration.Target, ServeConfiguration) -> Double?
    /// Nil: the folder can be had, and no other server has it.
    var folderFailure: (String) -> FolderFailure?
    var database: (StorePlace) -> DatabaseReading
    /// Nil: the kernel can relay packets of media here.
    var relayRefusal: () -> KernelRelayDevice.Refusal?
    /// Nil: the port can be bound; else why not.
    var bindFailure: (SocketAddress, _ isTCP: Bool) -> String?

    static var here: Machine {
        Machine(
            addresses: LocalAddresses.all.filter { $0.isUp && !$0.isLoopback }.map(\.address), ephemeral: EphemeralPortRange.current,
            receiveBufferLimit: number("/proc/sys/net/core/rmem_max"),
            sendBufferLimit: number("/proc/sys/net/core/wmem_max"),
            clockSource: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            descriptorLimit: ProcessResources.raiseDescriptorLimit(), cores: MachineReading.cores, resolve: resolved,
            folderFailure: failure(ofFolder:), database: reading(of:), relayRefusal: refusalOfRelay,
            bindFailure: failure)
    }

    private static func text(_ path: String) -> String? { MachineReading.text(of: path)?.trimmingCharacters(in: .whitespacesAndNewlines) }
    private static func number(_ path: String) -> Int? { text(path).flatMap { Int($0) } }

    private static func resolved(_ target: TrunkConfiguration.Target, _ configuration: ServeConfiguration) -> Double? {
        let begin = MonotonicClock.now
        guard TrunkLookup.location(of: target, configuration, TrunkLookup.resolver(configuration))?.servers.isEmpty == false else {
            return nil
        }
        return Double((MonotonicClock.now - begin).wholeNanoseconds) / 1e6
    }

    private static func failure(ofFolder path: String) -> FolderFailure? {
        var folder = path, isFolder: ObjCBool = false
        while !folder.isEmpty, !FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) {
            folder = (folder as NSString).deletingLastPathComponent
        }
        if !folder.isEmpty, !isFolder.boolValue { return .noFolder(folder) }
        guard access(folder.isEmpty ? "." : folder, W_OK | X_OK) == 0 else { return .unwritable }
        do { _ = try LockFile(path) } catch { return .inUse }
        return nil
    }

    private static func reading(of database: StorePlace) -> DatabaseReading {
        let begin = MonotonicClock.now
        do {
            switch try database.read(migrating: false) {
            case .kept: return .good(milliseconds: Double((MonotonicClock.now - begin).wholeNanoseconds) / 1e6)
            case .otherVersion(let version, let words): return .otherVersion(version, words)
            }
        } catch let failure as Failure {
            return failure.exitCode == ExitStatus.usage.rawValue ? .refused(failure.message) : .away(failure.message)
        } catch { return .away("\(error)") }
    }

    private static func refusalOfRelay() -> KernelRelayDevice.Refusal? {
        do throws(KernelRelayDevice.Refusal) {
            _ = try KernelRelayDevice.proven(mostEntries: 4)
            return nil
        } catch { return error }
    }

    private static func failure(_ address: SocketAddress, _ isTCP: Bool) -> String? {
        do throws(SocketError) {
            _ = isTCP ? try FileDescriptorOwner.tcp(listening: address, backlog: 1) : try FileDescriptorOwner.udp(bound: address)
            return nil
        } catch { return error.description }
    }
}
