import Primitives

/// HTTP on the listener for metrics.
final class MonitorAttack: Attack {
    private let context: AttackContext
    private var open: [StreamSocket] = []

    init(_ context: AttackContext) { self.context = context }

    func send(_ random: inout SeededRandom) throws {
        var bytes = request(&random)
        if random.happens(percent: 20) { ByteDamage.apply(to: &bytes, using: &random) }
        context.log.note(bytes, to: context.addresses.monitor, over: "TCP")
        guard let socket = StreamSocket(to: context.addresses.monitor, from: random.loopback()) else { return }
        for piece in Pieces.of(bytes, using: &random) where !socket.send(piece) { break }
        switch random.number(below: 8) {
        case 0, 1: socket.reset()
        case 2: open = open.suffix(30) + [socket]
        case 3...5:
            let answer = socket.receive(within: 20)
            guard answer.isEmpty || answer.starts(with: "HTTP/1.1 ".utf8) else {
                throw Broken("the monitor sent what is no HTTP:\n\(InputLog.hexadecimal(answer))")
            }
        default: socket.close()
        }
    }

    func finish() { open = [] }

    private func request(_ random: inout SeededRandom) -> [UInt8] {
        let path = random.pick([
            "/metrics", "/health/live", "/health/ready", "/", "*", "http://a/metrics", "/metrics?a=b", "/../metrics", "/%00",
        ])
        var lines = [
            "\(random.pick(["GET", "HEAD", "POST", "BREW"])) \(path) HTTP/\(random.pick(["1.1", "1.0", "2.0", "1"]))",
            "Host: \(random.pick(["127.0.0.1:9464", "[::1]", ""]))",
        ]
        lines += random.pick([
            [], ["Accept: */*"], ["Content-Length: 5", "Expect: 100-continue"], ["Transfer-Encoding: chunked"],
            ["Connection: keep-alive, Upgrade", "Upgrade: h2c"],
        ])
        var parts = lines.map { Array($0.utf8) }
        for _ in 0..<random.pick([0, 1, 1, 3]) {
            random.pick(LineDamage.allCases).apply(to: &parts, from: random.number(below: 2), using: &random)
        }
        return Array(parts.joined(separator: [0x0D, 0x0A])) + Array("\r\n\r\n".utf8)
            + random.pick([[], Array("5\r\nhello\r\n0\r\n\r\n".utf8)])
    }
}
