import Foundation
import Primitives
import Runtime
import Synchronization

/// Answers calls with an echo of its own making, and does to each what it is told to do wrong: SIP and RTP over plain sockets.
final class FaultyEcho: Sendable {
    enum Fault: Equatable {
        case none
        /// Every so many-th packet.
        case drops(every: Int)
        /// Seconds after the answer.
        case stops(after: Double)
        case neverSends
        case delays(Double)
        /// Its echo goes to the call before it, and that one's to it.
        case crosses
        case swallowsBye
        case refuses(Int)
        case answersAfter(Double)
    }

    let address: SocketAddress
    private let isOver = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameter treat: by the number of the call, from 1 on.
    init(_ treat: @escaping @Sendable (Int) -> Fault) throws {
        let socket = try Socket()
        address = socket.address
        Thread.detachNewThread { [self] in
            let worker = Worker(socket, treat)
            while !isOver.load(ordering: .relaxed) { worker.turn() }
            hasEnded.signal()
        }
    }

    func stop() {
        isOver.store(true, ordering: .relaxed)
        hasEnded.wait()
    }

    private final class Socket: Sendable {
        private let owner: FileDescriptorOwner
        let address: SocketAddress

        init() throws {
            owner = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: 0))
            address = owner.localAddress ?? SocketAddress(.loopback, port: 0)
        }

        var raw: Int32 { owner.raw }
    }

    /// Lives on its thread.
    private final class Worker {
        private struct Call {
            var number: Int
            var fault: Fault
            var media: Socket
            var remote: SocketAddress
            var answer: String
            var answered: Double?
            var packets = 0
        }

        private let socket: Socket
        private let treat: (Int) -> Fault
        private var calls: [String: Call] = [:]
        private var order: [String] = []
        /// What leaves later.
        private var waiting: [(due: Double, send: () -> Void)] = []

        init(_ socket: Socket, _ treat: @escaping (Int) -> Fault) { (self.socket, self.treat) = (socket, treat) }

        private var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        /// Waits for 5 ms at most.
        func turn() {
            let names = order
            var polled = ([socket] + names.compactMap { calls[$0]?.media }).map { pollfd(fd: $0.raw, events: Int16(POLLIN), revents: 0) }
            _ = poll(&polled, nfds_t(polled.count), 5)
            let due = waiting.filter { $0.due <= now }
            waiting.removeAll { $0.due <= now }
            for item in due { item.send() }
            if polled[0].revents & Int16(POLLIN) != 0, let (bytes, sender) = receive(socket) { take(bytes, from: sender) }
            for (index, name) in names.enumerated() where polled[index + 1].revents & Int16(POLLIN) != 0 { echo(name) }
        }

        private func receive(_ socket: Socket) -> ([UInt8], sockaddr_storage)? {
            var bytes = [UInt8](repeating: 0, count: 65_536), sender = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let count = withUnsafeMutablePointer(to: &sender) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { recvfrom(socket.raw, &bytes, bytes.count, 0, $0, &size) }
            }
            return count > 0 ? (Array(bytes[..<count]), sender) : nil
        }

        private func send(_ bytes: [UInt8], over socket: Socket, to place: sockaddr_storage) {
            var place = place
            _ = withUnsafePointer(to: &place) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(socket.raw, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }

        // MARK: SIP

        private func take(_ bytes: [UInt8], from sender: sockaddr_storage) {
            let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
            guard let id = lines.first(where: { $0.hasPrefix("Call-ID:") }) else { return }
            func reply(_ text: String) { send(Array(text.utf8), over: socket, to: sender) }
            switch lines[0].prefix(while: { $0 != " " }) {
            case "INVITE":
                if let known = calls[id] { return known.answered == nil ? () : reply(known.answer) }
                invite(lines, id, reply)
            case "BYE" where calls[id]?.fault != .swallowsBye:
                reply(response("200 OK", to: lines))
                order.removeAll { $0 == id }
            case "CANCEL", "OPTIONS": reply(response("200 OK", to: lines))
            default: break
            }
        }

        private func invite(_ lines: [String], _ id: String, _ reply: @escaping (String) -> Void) {
            let number = calls.count + 1, fault = treat(number)
            guard let media = try? Socket(),
                let remote = lines.first(where: { $0.hasPrefix("m=audio ") })?.split(separator: " ").dropFirst().first.flatMap({
                    UInt16($0)
                })
            else { return }
            let sdp = [
                "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", "m=audio \(media.address.port) RTP/AVP 0",
                "a=rtpmap:0 PCMU/8000", "",
            ]
            let answer = response("200 OK", to: lines, body: sdp.joined(separator: "\r\n"))
            calls[id] = Call(
                number: number, fault: fault, media: media, remote: SocketAddress(.loopback, port: remote), answer: answer)
            if case .refuses(let status) = fault { return reply(response("\(status) No", to: lines)) }
            order.append(id)
            var delay = 0.0
            if case .answersAfter(let seconds) = fault { delay = seconds }
            waiting.append(
                (
                    now + delay,
                    { [unowned self] in
                        calls[id]?.answered = now
                        reply(answer)
                    }
                ))
        }

        private func response(_ status: String, to lines: [String], body: String = "") -> String {
            let kept = lines.filter { line in ["Via:", "From:", "Call-ID:", "CSeq:"].contains(where: line.hasPrefix) }
            let to = lines.first { $0.hasPrefix("To:") }.map { $0.contains("tag=") ? $0 : $0 + ";tag=faulty" } ?? ""
            let type = body.isEmpty ? [] : ["Content-Type: application/sdp"]
            let head = ["SIP/2.0 \(status)"] + kept + [to, "Contact: <sip:faulty@\(socket.address)>"] + type
            return (head + ["Content-Length: \(body.utf8.count)", "", body]).joined(separator: "\r\n")
        }

        // MARK: RTP

        private func echo(_ name: String) {
            guard var call = calls[name], var (packet, _) = receive(call.media), let answered = call.answered, packet.count > 12 else {
                return
            }
            call.packets += 1
            calls[name] = call
            packet[8...11] = [0, 0, 0, UInt8(truncatingIfNeeded: call.number)]   // a source of its own
            var (target, delay) = (call, 0.0)
            switch call.fault {
            case .drops(let every) where call.packets.isMultiple(of: every): return
            case .stops(let after) where now - answered > after: return
            case .neverSends: return
            case .delays(let seconds): delay = seconds
            case .crosses: target = calls[order[max(0, (order.firstIndex(of: name) ?? 0) - 1)]] ?? call
            case .none where crosses(after: name): target = calls[order[(order.firstIndex(of: name) ?? 0) + 1]] ?? call
            default: break
            }
            let bytes = packet
            waiting.append((now + delay, { [unowned self] in send(bytes, over: target.media, to: target.remote.storage) }))
        }

        private func crosses(after name: String) -> Bool {
            guard let place = order.firstIndex(of: name), place + 1 < order.count else { return false }
            return calls[order[place + 1]]?.fault == .crosses
        }
    }
}

extension SocketAddress {
    /// Of IPv4, on loopback.
    fileprivate var storage: sockaddr_storage {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { bytes in
            bytes.bindMemory(to: sockaddr_in.self)[0] = sockaddr_in(
                sin_family: sa_family_t(AF_INET), sin_port: port.bigEndian, sin_addr: in_addr(s_addr: UInt32(0x7F00_0001).bigEndian),
                sin_zero: (0, 0, 0, 0, 0, 0, 0, 0))
        }
        return storage
    }
}
