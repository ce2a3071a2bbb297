import Media
import Primitives
import RTP
import Workbench

extension PhoneOrder {
    /// Does it, on the lane of the client; `quit` is for whoever has the client.
    ///
    /// - Throws: why it cannot be done; then everything is as before.
    func perform(by client: LoadClient, at now: Instant) throws(RefusedOrder) {
        let calls = client.phone.calls.values.filter { $0.state != .ending && $0.state != .closed }
        let up = calls.sorted { $0.leg.rawValue < $1.leg.rawValue }
        let call = try choose(among: up)
        do throws(RefusedOrder) { try perform(on: call, at: now) } catch {
            let number = call.leg.rawValue
            throw RefusedOrder(reason: error.reason, nearest: up.count == 1 ? error.nearest : "\(error.nearest) \(number)", call: number)
        }
    }

    private var name: String {
        switch command {
        case .digits(let digits): "digits " + String(digits.map(\.character))
        case .transfer(let target): "transfer \(target)"
        case .reject(let status): "reject \(status)"
        case .hangUp: "hangup"
        case .hold, .resume, .mute, .unmute, .answer, .quit: "\(command)"
        }
    }

    private var isOfRinging: Bool {
        switch command {
        case .answer, .reject: true
        case .digits, .hold, .resume, .transfer, .mute, .unmute, .hangUp, .quit: false
        }
    }

    private func choose(among up: [PhoneCall]) throws(RefusedOrder) -> PhoneCall {
        if let call {
            if let named = up.first(where: { $0.leg.rawValue == call }) { return named }
            throw RefusedOrder(reason: "call \(call) is not up", nearest: up.first.map { "\(name) \($0.leg.rawValue)" } ?? "quit")
        }
        let meant = isOfRinging && up.contains(where: \.isRinging) ? up.filter(\.isRinging) : up
        guard let first = meant.first else { throw RefusedOrder(reason: "no call is up", nearest: "quit") }
        guard meant.count == 1 else {
            let numbers = meant.map { "\($0.leg.rawValue)" }.joined(separator: ", ")
            throw RefusedOrder(reason: "several calls are meant: \(numbers)", nearest: "\(name) \(first.leg.rawValue)")
        }
        return first
    }

    private func perform(on call: PhoneCall, at now: Instant) throws(RefusedOrder) {
        let number = call.leg.rawValue
        switch command {
        case .hangUp: return call.hangUp(at: now)
        case .answer where call.isRinging: return call.answer(at: now)
        case .reject(let status) where call.reject(status: status, at: now): return
        case .answer, .reject: throw RefusedOrder(reason: "call \(number) does not ring here", nearest: "hangup")
        case .digits, .hold, .resume, .transfer, .mute, .unmute, .quit: break
        }
        guard call.state == .connected else {
            throw RefusedOrder(reason: "call \(number) is not answered", nearest: call.isRinging ? "answer" : "hangup")
        }
        try performConnected(on: call, at: now)
    }

    private func performConnected(on call: PhoneCall, at now: Instant) throws(RefusedOrder) {
        let number = call.leg.rawValue
        switch command {
        case .digits(let digits): try press(digits, on: call, at: now)
        case .hold where call.isHolding: throw RefusedOrder(reason: "call \(number) is on hold", nearest: "resume")
        case .resume where !call.isHolding: throw RefusedOrder(reason: "call \(number) is not on hold", nearest: "hold")
        case .hold, .resume:
            guard call.commandHold(command == .hold, at: now) else {
                throw RefusedOrder(reason: "another offer of call \(number) is under way: try again", nearest: name)
            }
        case .transfer(let target):
            guard call.transfer(to: target, at: now) else {
                throw RefusedOrder(reason: "another transfer of call \(number) is under way", nearest: "hangup")
            }
        case .mute where call.isMuted: throw RefusedOrder(reason: "call \(number) is muted", nearest: "unmute")
        case .unmute where !call.isMuted: throw RefusedOrder(reason: "call \(number) is not muted", nearest: "mute")
        case .mute, .unmute:
            guard call.setMute(command == .mute, at: now) else {
                throw RefusedOrder(reason: "the media of call \(number) cannot be changed", nearest: "hangup")
            }
        case .hangUp, .answer, .reject, .quit: break
        }
    }

    private func press(_ digits: [DTMFDigit], on call: PhoneCall, at now: Instant) throws(RefusedOrder) {
        let number = call.leg.rawValue
        guard !call.isHolding else { throw RefusedOrder(reason: "call \(number) is on hold: nothing is sent", nearest: "resume") }
        do throws(MediaError) { try call.press(digits, at: now) } catch {
            switch error {
            case .tooManyDigits: throw RefusedOrder(reason: "too many keys of call \(number) wait", nearest: name)
            case .outOfOrder: throw RefusedOrder(reason: "the other side holds call \(number): nothing is sent", nearest: "hangup")
            default: throw RefusedOrder(reason: "the other side of call \(number) takes no keys", nearest: "hangup")
            }
        }
    }
}
