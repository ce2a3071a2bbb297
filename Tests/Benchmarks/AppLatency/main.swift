import Audio
import CallApp
import CallKit
import Foundation
import HotlineCalls
import Media
import Primitives
import Runtime

// app-latency CALLS: two Hotlines call each other on loopback, one call after the other. Prints two lines for each call: milliseconds from
// the callee's answer to its first packet of sound, and from the caller's hang-up until its sockets are closed. A call that came to
// nothing, because another program had taken its port in the meantime, is made again; more than one in fifty of them is exit code 1.

extension LiveAppLine: CallNetwork {}

@MainActor final class App {
    private(set) var line: LiveAppLine?
    private var manager: CallManager?
    private var delegate: HotlineCalls.ProviderDelegate?
    private let system = CallSystem(configuration: .app, host: QueueHost())
    private var answeredAt: Instant?, hungUpAt: Instant?
    /// How the network ended the last call.
    private(set) var lastEnd: CXCallEndedReason?
    var onFirstPacket: (Double?) -> Void = { _ in }
    var onReleased: (Double?) -> Void = { _ in }

    init(_ number: Text, server: SocketAddress, ports: ClosedRange<UInt16>) throws {
        var settings = LiveAppSettings(number: number, server: server)
        settings.mediaPorts = ports
        settings.microphone = .tone(Tone(440))
        settings.startsAudio = false
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
            delegate?.reportIncomingCall(uuid: call, handle: caller.handle) { @Sendable _ in
                DispatchQueue.main.async { MainActor.assumeIsolated { self.answer(call) } }
            }
        case .connecting(let call): delegate?.networkRings(uuid: call)
        case .connected(let call): delegate?.networkConnects(uuid: call)
        case .ended(let call, let reason):
            lastEnd = reason
            delegate?.networkEnds(uuid: call, reason: reason)
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

/// Ports of this machine that nobody has, where neither the kernel takes any for others nor the tests do: above the kernel's range, else
/// below 22,000.
func freePorts(_ count: Int) -> ClosedRange<UInt16> {
    let kernel = EphemeralPortRange.current ?? 32_768...60_999
    for region in [min(65_535, Int(kernel.upperBound) + 1)...65_535, 10_000...max(10_000, min(21_999, Int(kernel.lowerBound) - 1))]
    where region.count > count {
        for _ in 0..<50 {
            let first = Int.random(in: region.lowerBound...region.upperBound - count) & ~1,
                block = UInt16(first)...UInt16(first + count - 1)
            if block.allSatisfy({ (try? FileDescriptorOwner.udp(bound: SocketAddress(.anyV4, port: $0))) != nil }) { return block }
        }
    }
    fatalError("no \(count) UDP ports in a row are free")
}

let calls = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 500
let ports = freePorts(800), middle = ports.lowerBound + 400
let callee = try App("callee", server: SocketAddress(.loopback, port: 5060), ports: ports.lowerBound...middle - 1)
let caller = try App("caller", server: callee.line!.address, ports: middle...ports.upperBound)
var done = 0, again = 0, running = 0
/// Of the call that is under way.
var answered: Double?, ended: Double?

callee.onFirstPacket = { time in
    guard let time else { return }
    answered = time
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(30)) { MainActor.assumeIsolated { caller.hangUp() } }
}
let released: (Double?) -> Void = { time in
    if let time { ended = time }
    running -= 1
    guard running == 0 else { return }
    conclude()
    if done == calls { exit(caller.line!.close() + callee.line!.close() == 0 ? 0 : 1) }
    DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(10)) { MainActor.assumeIsolated { begin() } }
}
caller.onReleased = released
callee.onReleased = released

/// Both figures of a call, or neither.
@MainActor func conclude() {
    if let answered, let ended {
        print("answer", answered)
        print("end", ended)
        done += 1
    } else {
        again += 1
        FileHandle.standardError.write(
            Data("a call came to nothing (\(caller.lastEnd.map { "\($0)" } ?? "no reason")) and is made again\n".utf8))
        if again > max(2, calls / 50) { exit(1) }
    }
    (answered, ended) = (nil, nil)
}

@MainActor func begin() {
    running = 2
    caller.dial()
}

begin()
RunLoop.main.run()
