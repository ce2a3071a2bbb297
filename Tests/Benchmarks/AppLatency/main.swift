import Audio
import CallApp
import CallKit
import Foundation
import HotlineCalls
import Media
import Primitives
import Runtime

// app-latency CALLS: two Hotlines call each other on loopback, one call after the other. Prints two lines for each call: milliseconds from the
// callee's answer to its first packet of sound, and from the caller's hang-up until its sockets are closed.

extension LiveAppLine: CallNetwork {}

@MainActor final class App {
    private(set) var line: LiveAppLine?
    private var manager: CallManager?
    private var delegate: HotlineCalls.ProviderDelegate?
    private let system = CallSystem(configuration: .app, host: QueueHost())
    private var answeredAt: Instant?, hungUpAt: Instant?
    var onFirstPacket: (Double?) -> Void = { _ in }
    var onReleased: (Double?) -> Void = { _ in }

    init(_ number: Text, server: SocketAddress, ports: ClosedRange<UInt16>) throws {
        var settings = LiveAppSettings(number: number, server: server)
        settings.mediaPorts = ports
        settings.microphone = .tone(Tone(440))
        settings.adjust = { $0.registers = false }
        let line = try LiveAppLine(settings, system: system) { event in MainActor.assumeIsolated { self.heard(event) } }
        self.line = line
        (manager, delegate) = CallSystem.$current.withValue(system) {
            let manager = CallManager(network: line)
            return (manager, HotlineCalls.ProviderDelegate(callManager: manager))
        }
    }

    func dial() { manager?.startCall(handle: "callee", videoEnabled: false) }

    func hangUp() {
        guard let call = manager?.calls.first else { return }
        hungUpAt = MonotonicClock.now
        manager?.end(call: call)
    }

    private func heard(_ event: AppLineEvent) {
        switch event {
        case .incoming(let call, let caller):
            delegate?.reportIncomingCall(uuid: call, handle: caller.handle) { @Sendable _ in DispatchQueue.main.async { MainActor.assumeIsolated { self.answer(call) } } }
        case .connecting(let call): delegate?.networkRings(uuid: call)
        case .connected(let call): delegate?.networkConnects(uuid: call)
        case .ended(let call, let reason): delegate?.networkEnds(uuid: call, reason: reason)
        case .firstSent(_, let time): onFirstPacket(answeredAt.take().map { (time - $0) / .milliseconds(1) })
        case .released(_, let time): onReleased(hungUpAt.take().map { (time - $0) / .milliseconds(1) })
        case .violation(let violation): fatalError("\(violation)")
        default: break
        }
    }

    private func answer(_ call: UUID) {
        answeredAt = MonotonicClock.now
        CXCallController(system: system).request(CXTransaction(action: CXAnswerCallAction(call: call))) { _ in }
    }
}

let calls = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
let callee = try App("callee", server: SocketAddress(.loopback, port: 5060), ports: 30_000...30_999)
let caller = try App("caller", server: callee.line!.address, ports: 31_000...31_999)
var done = 0, running = 0

callee.onFirstPacket = { time in
    guard let time else { return }
    print("answer", time)
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(30)) { MainActor.assumeIsolated { caller.hangUp() } }
}
let released: (Double?) -> Void = { time in
    if let time { print("end", time) }
    running -= 1
    guard running == 0 else { return }
    done += 1
    if done == calls { exit(caller.line!.close() + callee.line!.close() == 0 ? 0 : 1) }
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(10)) { MainActor.assumeIsolated { begin() } }
}
caller.onReleased = released
callee.onReleased = released

@MainActor func begin() {
    running = 2
    caller.dial()
}

begin()
RunLoop.main.run()
