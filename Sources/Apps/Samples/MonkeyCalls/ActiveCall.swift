import Foundation

/// A call with its two flags, each with the times at which it rose and fell.
public class ActiveCall {
    public let uuid: UUID
    public let isOutgoing: Bool
    public let handle: String
    public internal(set) var isOnHold = false

    public private(set) var startedConnectingOn: Date?
    public private(set) var connectedOn: Date?
    public private(set) var endedOn: Date?

    /// Told on both edges; look at the flag.
    public var startingConnectionChanged: ((ActiveCall) -> Void)?
    public var connectedChanged: ((ActiveCall) -> Void)?
    private let service: CallService

    public internal(set) var isConnecting = false {
        didSet {
            guard isConnecting != oldValue else { return }
            if isConnecting { startedConnectingOn = Date() }
            startingConnectionChanged?(self)
        }
    }

    public internal(set) var isConnected = false {
        didSet {
            guard isConnected != oldValue else { return }
            if isConnected { connectedOn = Date() } else { endedOn = Date() }
            connectedChanged?(self)
        }
    }

    init(uuid: UUID, handle: String, outgoing: Bool, service: CallService) {
        (self.uuid, self.handle, isOutgoing, self.service) = (uuid, handle, outgoing, service)
    }

    /// Connecting and connected follow when the other side does its part.
    func startCall(completion: (Bool) -> Void) { completion(service.start(uuid, to: handle)) }

    func answerCall(completion: (Bool) -> Void) {
        let answered = service.answer(uuid)
        isConnected = answered
        completion(answered)
    }

    func endCall(completion: (Bool) -> Void) {
        isConnected = false
        completion(service.end(uuid))
    }
}
