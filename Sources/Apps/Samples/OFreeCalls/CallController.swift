import CallKit

/// Listens for calls on the link, and passes on what the user wants; the provider's delegate alone answers to the system.
public class CallController {
    public let providerDelegate: ProviderDelegate
    private let controller = CXCallController()
    private let log: (String) -> Void

    public init(link: Linkd, media: MediaLibrary, log: @escaping (String) -> Void = { _ in }) {
        self.log = log
        providerDelegate = ProviderDelegate(link: link, media: MediaSDK(library: media, log: log), log: log)
    }

    // MARK: From the link

    public func linkHasCall(_ uuid: UUID, from handle: String, isNumber: Bool) {
        log("incoming")
        providerDelegate.reportIncoming(uuid, handle: CXHandle(type: isNumber ? .phoneNumber : .generic, value: handle))
    }

    public func linkIsConnecting(_ uuid: UUID) { providerDelegate.provider.reportOutgoingCall(with: uuid, startedConnectingAt: nil) }
    public func linkConnected(_ uuid: UUID) { providerDelegate.provider.reportOutgoingCall(with: uuid, connectedAt: nil) }
    public func linkEnded(_ uuid: UUID, _ reason: CXCallEndedReason) { providerDelegate.reportEnded(uuid, reason) }

    // MARK: From the user

    public func startCall(to handle: String) {
        let isNumber = handle.allSatisfy { $0.isNumber || $0 == "+" }
        request(CXStartCallAction(call: UUID(), handle: CXHandle(type: isNumber ? .phoneNumber : .generic, value: handle)))
    }

    public func hangUp(_ uuid: UUID) {
        log("end requested")
        request(CXEndCallAction(call: uuid))
    }

    private func request(_ action: CXCallAction) {
        controller.request(CXTransaction(action: action)) { error in
            if let error = error { print("The system refused: \(error)") }
        }
    }
}
