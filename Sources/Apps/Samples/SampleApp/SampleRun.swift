import ArgumentParser
import Audio
import CallApp
import CallKit
import Dispatch
import Foundation
import Gateway
import Media
import Primitives
import Runtime
import UserAgent

/// An app, as far as its network library has to reach it. On the main queue.
@MainActor public protocol SampleCalls: AnyObject {
    /// Report it.
    func incoming(_ call: UUID, from caller: AppCaller)
    func connecting(_ call: UUID)
    func connected(_ call: UUID)
    func ended(_ call: UUID, _ reason: CXCallEndedReason)
    /// The user dials.
    func dial(_ handle: String)
    /// So many calls may talk together.
    func allowConference(of calls: Int)
}

/// A sample app at work: its line, its user, and what there is to tell of both.
@MainActor public final class SampleRun {
    private let options: SampleOptions
    private let system: CallSystem
    private let teller: SampleTeller
    private var line: LiveAppLine?
    private var app: (any SampleCalls)?
    private var user: ScriptedUser?
    private var signals: SignalTrap?
    private var dialled = false
    private var closing = false

    public init(_ options: SampleOptions, app name: String) {
        self.options = options
        teller = SampleTeller(name: name, json: options.json)
        var configuration = CallSystemConfiguration.app
        configuration.account = options.line
        configuration.ringTimeout = .milliseconds(Int64(options.ringTimeout * 1_000))
        system = CallSystem(configuration: configuration, host: QueueHost())
        let (refusesAll, blocked) = (options.doNotDisturb, Set(options.block))
        system.filter = { _, update in
            if refusesAll { return .filteredByDoNotDisturb }
            return update.remoteHandle.map { blocked.contains($0.value) } ?? false ? .filteredByBlockList : nil
        }
    }

    /// Tells the steps of the app itself, in milliseconds since the first one.
    public func note(_ step: String) { teller.step(step) }

    /// Launches the app and serves the main queue until it is done. Does not return.
    public func start(_ launch: @MainActor (LiveAppLine) -> any SampleCalls) throws -> Never {
        guard let server = options.serverAddress, let ports = options.mediaRange else {
            throw ValidationError("--server and --media-ports are needed")
        }
        var settings = LiveAppSettings(number: Text(options.line), server: server)
        settings.password = options.password.map { Text($0) }
        settings.mediaPorts = ports
        settings.journalFile = options.journal
        settings.microphone = .tone(Tone(440))
        settings.startsAudio = false
        settings.dial = { handle in MainActor.assumeIsolated { self.app?.dial(handle) } }
        let encryption = options.srtp
        settings.adjust = { ($0.srtp, $0.keying) = (encryption.policy, encryption.keying) }
        let line = try LiveAppLine(settings, system: system) { event in MainActor.assumeIsolated { self.heard(event) } }
        self.line = line
        let app = CallSystem.$current.withValue(system) { launch(line) }
        self.app = app
        if options.conference { app.allowConference(of: 2) }
        user = ScriptedUser(options, system: system, teller: teller) { [unowned self] in
            dialSecond()
        } onDone: { [unowned self] in
            leave()
        }
        signals = SignalTrap(on: .main) { request in
            MainActor.assumeIsolated {
                if request == .stop { Foundation.exit(1) }
                self.stop()
            }
        }
        teller.say("line", ["number": options.line, "at": "\(line.address)", "server": "\(server)"])
        // It does not return, and its type does not say so.
        while true { RunLoop.main.run() }
    }

    private func heard(_ event: AppLineEvent) {
        switch event {
        case .registered(let seconds):
            teller.say("registered", ["seconds": "\(seconds)"])
            dialFirst()
        case .registrationFailed(let status):
            teller.say("registration failed", ["status": "\(status)"])
            if closing { close() } else if (400..<500).contains(status), status != 408 { Foundation.exit(1) }
        case .unregistered: close()
        case .incoming(let call, let caller):
            teller.say("invite", ["call": call.uuidString, "from": caller.handle])
            app?.incoming(call, from: caller)
        case .adopted(let call, let own): teller.say("adopted", ["call": call.uuidString, "as": own.uuidString])
        case .reportedUnknown(let call): teller.say("reported unknown", ["call": call.uuidString])
        case .cannotCall(let call, let target):
            teller.say("cannot call", ["call": call.uuidString, "target": target])
            user?.couldNotCall(call)
        case .connecting(let call): app?.connecting(call)
        case .connected(let call): app?.connected(call)
        case .ended(let call, let reason):
            teller.say("network ended", ["call": call.uuidString, "reason": "\(reason)"])
            app?.ended(call, reason)
        case .extended(let call, let event): tell(event, of: call)
        case .firstSent(let call, let time): user?.firstPacket(of: call, at: time)
        case .firstReceived: break
        case .released(let call, let time): user?.released(call, at: time)
        case .advice(let advice): teller.say("advice", ["text": advice.description])
        case .violation(let violation): teller.say("violation", ["text": violation.description])
        }
    }

    private func tell(_ event: CallExtension, of call: UUID) {
        switch event {
        case .progress(let status): teller.say("progress", ["call": call.uuidString, "status": "\(status)"])
        case .remoteHold(let on): teller.say(on ? "held by the other side" : "resumed by the other side", ["call": call.uuidString])
        case .digit(let digit): teller.say("digit", ["call": call.uuidString, "digit": "\(digit)"])
        case .transferRequested(let target): teller.say("transfer requested", ["call": call.uuidString, "to": target])
        case .transferProgress(let status): teller.say("transfer", ["call": call.uuidString, "status": "\(status)"])
        case .transferred(let target): teller.say("transferred", ["call": call.uuidString, "to": target])
        case .mediaStatistics(let figures):
            teller.say("media", ["call": call.uuidString, "sent": "\(figures.packetsSent)", "received": "\(figures.packetsReceived)"])
        }
    }

    private func dialFirst() {
        guard let target = options.call, !dialled else { return }
        dialled = true
        app?.dial(target)
    }

    private func dialSecond() {
        if let target = options.second { app?.dial(target) }
    }

    /// The user puts the telephone away: every call is hung up, then the line is given up.
    private func stop() {
        guard !closing else { return }
        user?.hangUpAll()
        leave()
    }

    private func leave() {
        guard !closing else { return }
        closing = true
        leaveWhenIdle(until: MonotonicClock.now + .seconds(5))
    }

    /// The last BYE deserves its answer.
    private func leaveWhenIdle(until limit: Instant) {
        // Transactions that only wait for what may come again are left behind.
        let isOver = line?.counts.map { $0.calls == 0 && $0.agent.sessions == 0 } ?? true
        if isOver || MonotonicClock.now > limit { return line?.leave() ?? () }
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(20)) {
            MainActor.assumeIsolated { self.leaveWhenIdle(until: limit) }
        }
    }

    private func close() {
        guard closing, let line else { return }
        self.line = nil
        let refusals = line.refusals
        let violations = line.close()
        teller.summary(user?.figures ?? SampleFigures(), violations: violations, refusals: refusals)
        Foundation.exit(violations == 0 ? 0 : 1)
    }
}
