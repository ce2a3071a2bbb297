import Foundation

public enum CallState {
    case connecting, active, held, ended
}

public enum ConnectedState {
    case pending, complete
}

/// One call, as the screen shows it.
public class Call {
    public let uuid: UUID
    public let outgoing: Bool
    public let handle: String
    private weak var network: CallNetwork?

    public internal(set) var state: CallState = .connecting {
        didSet { stateChanged?() }
    }

    public internal(set) var connectedState: ConnectedState = .pending {
        didSet { connectedStateChanged?() }
    }

    var stateChanged: (() -> Void)?
    var connectedStateChanged: (() -> Void)?

    init(uuid: UUID, outgoing: Bool = false, handle: String, network: CallNetwork?) {
        self.uuid = uuid
        self.outgoing = outgoing
        self.handle = handle
        self.network = network
    }

    /// The invitation leaves; what becomes of it comes back as `rings` and `connects`.
    func start(completion: ((_ success: Bool) -> Void)?) {
        completion?(network?.start(uuid, to: handle) ?? false)
    }

    func rings() { connectedState = .pending }

    func connects() {
        state = .active
        connectedState = .complete
    }

    func answer() -> Bool {
        guard network?.answer(uuid) == true else { return false }
        state = .active
        return true
    }

    func end() {
        _ = network?.end(uuid)
        state = .ended
    }

    func setHeld(_ held: Bool, completion: @escaping (Bool) -> Void) {
        let answer = Answer(call: self, completion: completion)
        network?.setHeld(uuid, held) { done in answer.give(done, held) }
    }

    private final class Answer: @unchecked Sendable {
        private let call: Call
        private let completion: (Bool) -> Void
        init(call: Call, completion: @escaping (Bool) -> Void) { (self.call, self.completion) = (call, completion) }
        func give(_ done: Bool, _ held: Bool) {
            if done { call.state = held ? .held : .active }
            completion(done)
        }
    }
}
