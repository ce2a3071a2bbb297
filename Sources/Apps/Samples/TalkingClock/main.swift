import Audio
import Dispatch
import Foundation
import Gateway
import Primitives
import UserAgent

/// A number as a row of beeps: tens are long, ones are short. A clock for people reads files.
func beeps(_ number: Int) -> WAV {
    var samples = [Int16](repeating: 0, count: 4_000)
    for length in [Int](repeating: 3_200, count: number / 10) + [Int](repeating: 1_200, count: number % 10) {
        var generator = ToneGenerator(Tone(880), sampleRate: 8_000), beep = [Int16](repeating: 0, count: length)
        var room = beep.mutableSpan
        generator.fill(&room)
        samples += beep + [Int16](repeating: 0, count: 1_600)
    }
    return WAV(sampleRate: 8_000, samples: samples)
}

let numbers = (0..<60).map(beeps), address = SocketAddress(.loopback, port: 5060)
var line = LineConfiguration(number: "1194"), gateway = GatewayConfiguration()
line.endpoint = .application(
    .custom("clock") { [numbers] _ in
        TalkingClock(numbers: numbers) {
            let now = Calendar.current.dateComponents([.hour, .minute], from: Date())
            return (now.hour ?? 0, now.minute ?? 0)
        }
    })
gateway.lines = [line]
let server = try GatewayServer(.init(gateway: gateway, listeners: [Transports.Listener(.udp, address)])) { print($0) }
print("hookswitch call sip:1194@\(address) --duration 30")
withExtendedLifetime(server) { dispatchMain() }
