import Gateway
import Media

/// When relayed packets take the way through the kernel: `media.kernel-relay`.
enum KernelRelayChoice: String, CaseIterable { case off, auto, required }

/// The kernel's relay as a start of the gateway finds it.
struct KernelRelayStart {
    let choice: KernelRelayChoice
    /// Nil: packets go by sockets.
    let device: KernelRelayDevice?
    /// Why they do, where it is not by choice.
    let refusal: String?

    /// Opens it where the configuration has it on. Throws where it is required and cannot be used.
    init(_ configuration: ServeConfiguration) throws {
        choice = configuration.lanes.relay
        guard choice != .off else {
            (device, refusal) = (nil, nil)
            return
        }
        do throws(KernelRelayDevice.Refusal) {
            if configuration.trace.media != .none {
                throw .init("media is traced (trace.rtp), and the kernel's packets would pass that by")
            }
            device = try KernelRelayDevice.proven(mostEntries: Self.entries(configuration))
            refusal = nil
        } catch {
            guard choice == .auto else { throw Failure.cannotRun("media.kernel-relay: required, but \(error)") }
            (device, refusal) = (nil, error.description)
        }
    }

    /// One for each leg that can be at a time.
    private static func entries(_ configuration: ServeConfiguration) -> UInt32 {
        UInt32(max(2, PortPool.size(of: configuration.gateway.media.ports)))
    }

    /// One line for the summary of the start; nil where there is nothing to say.
    var summary: String? {
        switch choice {
        case .off where KernelRelayDevice.isPermitted:
            "by sockets; 'hookswitch doctor' says whether the kernel would take plain bridged calls (media.kernel-relay)"
        case .off: nil
        case .auto, .required:
            refusal.map { "by sockets: \($0)" } ?? "plain bridged calls in the kernel, past the host's firewall; all others by sockets"
        }
    }
}
