import Primitives
import Runtime

/// A resident that holds what a test puts on its lane, and reports the turns of its alarm.
final class Bench: LaneResident {
    var deadline: Instant?
    var held: [String: AnyObject] = [:]
    var onAdvance: (Bench, Instant) -> Void = { bench, _ in bench.deadline = nil }

    func advance(to now: Instant) { onAdvance(self, now) }

    func get<Thing: AnyObject>(_ name: String, as type: Thing.Type = Thing.self) -> Thing { held[name] as! Thing }

    static func lane(_ name: String = #function, hasPoller: Bool = false, isPatient: Bool = false) -> Lane<Bench> {
        Lane(label: name, hasPoller: hasPoller, isPatient: isPatient) { _, _ in Bench() }
    }
}

/// What a lane tells a test, in order. `next` waits, and the time limit of the test is the only clock.
struct Inbox<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    let put: AsyncStream<Value>.Continuation

    init(of type: Value.Type = Value.self) { (stream, put) = AsyncStream.makeStream() }

    func next() async -> Value? {
        for await value in stream { return value }
        return nil
    }

    func next(_ count: Int) async -> [Value] {
        var values: [Value] = []
        for await value in stream {
            values.append(value)
            if values.count == count { break }
        }
        return values
    }

    /// Gathers until `isEnough`.
    func gather(until isEnough: ([Value]) -> Bool) async -> [Value] {
        var values: [Value] = []
        for await value in stream {
            values.append(value)
            if isEnough(values) { break }
        }
        return values
    }
}

let anyLoopbackPort = SocketAddress(.loopback, port: 0)
let anyLoopbackPortV6 = SocketAddress(IPAddress(v6High: 0, low: 1), port: 0)
