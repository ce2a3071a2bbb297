// The media plane as a bare relay, to be measured beside Tests/Benchmarks/CRelay by its load.c.
//
//   media-relay FAR_FIRST_PORT CALLS LANES BATCH [KERNEL]      (BATCH: -1 for automatic, 0, or microseconds; KERNEL: 1, the kernel relays)
//
// For call n the far ends are 127.0.0.1 ports FAR_FIRST_PORT + 4n and + 4n + 2. Prints one line "PORT_A PORT_B" for each call and then
// "ready"; answers each line on standard input with "PACKETS_RELAYED CPU_MICROSECONDS"; ends when standard input does.
import CLinux
import Glibc
import Media
import Primitives
import RTP
import Runtime
import SDP

let arguments = CommandLine.arguments.dropFirst().map { Int($0) ?? -1 }
guard arguments.count == 4 || arguments.count == 5, let far = UInt16(exactly: arguments[0]), arguments[1] > 0, arguments[2] > 0 else {
    fatalError("usage: media-relay FAR_FIRST_PORT CALLS LANES BATCH [KERNEL]")
}
let batch: Poller.Batch = arguments[3] < 0 ? .automatic : arguments[3] == 0 ? .immediate : .every(.microseconds(arguments[3]))
let device = try arguments.last == 1 && arguments.count == 5 ? KernelRelayDevice.proven(mostEntries: 20_000) : nil
let plane = try MediaLanes(settings: MediaSettings(ports: 10_000...29_999, lanes: arguments[2], batch: batch), relay: device) { _, _ in }
_ = clinux_raise_descriptor_limit()

/// One started leg that relays PCMU.
@MainActor func open(_ number: Int, near: MediaLegID?) throws -> (leg: MediaLegID, port: UInt16) {
    let now = MonotonicClock.now
    let leg = MediaLegID(UInt64(number))
    var reservation = try plane.reserve(at: now)
    let remote = SocketAddress(.loopback, port: far + 2 * UInt16(number))
    let codec = NegotiatedCodec(codec: .pcmu, receivePayloadType: 0, sendPayloadType: 0)
    let audio = NegotiatedAudio(codecs: [codec], remoteRTP: remote, remoteRTCP: remote, rtcpMux: true)
    let plan = MediaPlan(localAddress: .loopback, audio: audio, source: .relay)
    while true {
        do throws(MediaError) {
            reservation = try plane.open(leg, reservation: reservation, plan: plan, near: near, at: now)
            break
        } catch {
            guard case .cannotBind(.addressInUse) = error else { throw error }   // another program's port: the next one
            reservation = try plane.reserve(at: now)
        }
    }
    try plane.activate(leg)
    try plane.start(leg, at: now)
    return (leg, reservation.rtp)
}

var legs: [MediaLegID] = []
for call in 0..<arguments[1] {
    let a = try open(2 * call, near: nil)
    let b = try open(2 * call + 1, near: a.leg)
    try plane.link(a.leg, b.leg, at: MonotonicClock.now)
    legs += [a.leg, b.leg]
    print(a.port, b.port)
}
print("ready")
fflush(nil)

while readLine() != nil {
    var usage = clinux_usage()
    clinux_get_usage(&usage)
    let relayed = try legs.reduce(0) { try $0 + plane.statistics(of: $1, at: MonotonicClock.now).sending.packets }
    print(relayed, usage.user_microseconds + usage.system_microseconds)
    fflush(nil)
}
