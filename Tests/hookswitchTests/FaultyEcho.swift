import Foundation
import Primitives
import Runtime
import Synchronization

/// Answers calls with an echo of its own making, and does to each what it is told to do wrong: SIP and RTP over plain sockets.
final class FaultyEcho: Sendable {
    enum Fault: Hashable {
        case none
        // Signalling.
        case refuses(Int)
        /// Answers nothing at all.
        case isSilent
        /// So far and no further: 100 or 180.
        case comesTo(Int)
        case answersAfter(Double)
        /// The 200 has no session description.
        case answersWithoutSDP
        /// The description has port 0.
        case answersWithoutMedia
        /// The description has a codec that nobody offered.
        case answersWithForeignCodec
        case answersWithBrokenSDP
        case hangsUp(after: Double)
        case swallowsBye
        case refusesBye(Int)
        case refusesOffers(Int)
        case swallowsOffers
        // Media.
        /// Every so many-th packet.
        case drops(every: Int)
        /// Every second one, and numbers the others without a gap.
        case halves
        /// Seconds after the answer.
        case startsAfter(Double)
        case stops(after: Double)
        /// Sends nothing between these seconds after the answer.
        case pauses(Double, Double)
        /// The same, numbered without a gap.
        case skips(Double, Double)
        case neverSends
        case sendsElsewhere
        case delays(Double)
        /// Each packet waits longer than the one before, by so many milliseconds.
        case slows(Double)
        /// All of so many milliseconds at once.
        case bursts(Double)
        /// Its echo goes to the call before it, and that one's to it.
        case crosses
        /// What the first call said.
        case repeatsTheFirst
        case sendsSilence
        case sendsNoise
        case sendsTone
        case changesPayloadType
        case cutsPackets
        case repeatsNumber
        case swallowsKeys
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
            /// Packets that were left out and not numbered.
            var skipped: UInt16 = 0
            var bye: [String] = []
        }

        private let socket: Socket
        private let treat: (Int) -> Fault
        private var calls: [String: Call] = [:]
        private var order: [String] = []
        /// Payloads of the first call.
        private var firstSpoken: [[UInt8]] = []
        /// What leaves later.
        private var waiting: [(due: Double, send: () -> Void)] = []

        init(_ socket: Socket, _ treat: @escaping (Int) -> Fault) { (self.socket, self.treat) = (socket, treat) }

        private var now: Double { Double(DispatchTime.now().uptimeNanoseconds) / 1e9 }

        /// Waits for 5 ms at most.
        func turn() {
            let names = order
            var polled = ([socket] + names.compactMap { calls[$0]?.media }).map { pollfd(fd: $0.raw, events: Int16(POLLIN), revents: 0) }
            _ = poll(&polled, nfds_t(polled.count), 5)
            // One reading of the clock: what falls due between two would be removed and never sent.
            let now = self.now, due = waiting.filter { $0.due <= now }
            waiting.removeAll { $0.due <= now }
            for item in due { item.send() }
            if polled[0].revents & Int16(POLLIN) != 0, let (bytes, sender) = receive(socket) { take(bytes, from: sender) }
            // A BYE that was taken above may have ended a call.
            for (index, name) in names.enumerated() where polled[index + 1].revents & Int16(POLLIN) != 0 {
                if order.contains(name) { echo(name) }
            }
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
                guard let known = calls[id] else { return invite(lines, id, reply) }
                let isOffer = lines.contains { $0.hasPrefix("To:") && $0.contains("tag=") }
                switch known.fault {
                case .refusesOffers(let status) where isOffer: reply(response("\(status) No", to: lines))
                case .swallowsOffers where isOffer: break
                case _ where isOffer: reply(response("200 OK", to: lines, body: description(of: known)))
                case .refuses(let status): reply(response("\(status) No", to: lines))
                default: if known.answered != nil { reply(known.answer) }
                }
            case "BYE":
                switch calls[id]?.fault {
                case .swallowsBye: return
                case .refusesBye(let status): reply(response("\(status) No", to: lines))
                default: reply(response("200 OK", to: lines))
                }
                order.removeAll { $0 == id }
            case "CANCEL" where calls[id]?.fault != .isSilent:
                reply(response("200 OK", to: lines))
                if let call = calls[id], call.answered == nil { reply(response("487 Request Terminated", to: call.bye)) }
            case "OPTIONS", "INFO": reply(response("200 OK", to: lines))
            default: break
            }
        }

        private func invite(_ lines: [String], _ id: String, _ reply: @escaping (String) -> Void) {
            let number = calls.count + 1, fault = treat(number)
            let port = lines.first { $0.hasPrefix("m=audio ") }?.split(separator: " ").dropFirst().first
            guard let media = try? Socket(), let remote = port.flatMap({ UInt16($0) }) else { return }
            var call = Call(number: number, fault: fault, media: media, remote: SocketAddress(.loopback, port: remote), answer: "")
            call.answer = response("200 OK", to: lines, body: description(of: call))
            call.bye = lines
            calls[id] = call
            switch fault {
            case .isSilent: return
            case .refuses(let status): return reply(response("\(status) No", to: lines))
            case .comesTo(let status): return reply(response("\(status) Wait", to: lines))
            default: break
            }
            order.append(id)
            var delay = 0.0
            if case .answersAfter(let seconds) = fault { delay = seconds }
            waiting.append((now + delay, { [unowned self] in answer(id, reply) }))
        }

        private func answer(_ id: String, _ reply: (String) -> Void) {
            guard let call = calls[id] else { return }
            calls[id]?.answered = now
            reply(call.answer)
            guard case .hangsUp(let seconds) = call.fault, let caller = contact(of: call.bye) else { return }
            let bye = request("BYE", to: caller.uri, as: call)
            waiting.append((now + seconds, { [unowned self] in send(Array(bye.utf8), over: socket, to: caller.address.storage) }))
        }

        private func contact(of lines: [String]) -> (uri: String, address: SocketAddress)? {
            guard let line = lines.first(where: { $0.hasPrefix("Contact:") }),
                let uri = line.split(separator: "<").last?.split(separator: ">").first,
                let port = uri.split(separator: ";").first?.split(separator: ":").last.flatMap({ UInt16($0) })
            else { return nil }
            return (String(uri), SocketAddress(.loopback, port: port))
        }

        private func request(_ method: String, to uri: String, as call: Call) -> String {
            func value(_ name: String) -> String {
                call.bye.first { $0.hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 1)) } ?? ""
            }
            let head = [
                "\(method) \(uri) SIP/2.0", "Via: SIP/2.0/UDP \(socket.address);branch=z9hG4bK-\(call.number)", "Max-Forwards: 70",
                "From:\(value("To"));tag=faulty", "To:\(value("From"))", "Call-ID:\(value("Call-ID"))", "CSeq: 1 \(method)",
                "Content-Length: 0", "", "",
            ]
            return head.joined(separator: "\r\n")
        }

        /// An answer for the body of a 200.
        private func description(of call: Call) -> String {
            let (port, type) = (
                call.fault == .answersWithoutMedia ? 0 : call.media.address.port, call.fault == .answersWithForeignCodec ? 18 : 0
            )
            let media = ["m=audio \(port) RTP/AVP \(type) 101", "a=rtpmap:101 telephone-event/8000"]
            switch call.fault {
            case .answersWithoutSDP: return ""
            case .answersWithBrokenSDP: return "v=0\r\no=broken\r\n"
            default:
                return (["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0"] + media + [""]).joined(separator: "\r\n")
            }
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
            let elapsed = now - answered, isKey = packet[1] & 0x7F == 101
            defer { calls[name] = call }
            call.packets += 1
            if call.number == 1, firstSpoken.count < 500 { firstSpoken.append(Array(packet[12...])) }
            packet[8...11] = [0, 0, 0, UInt8(truncatingIfNeeded: call.number)]   // a source of its own
            var (target, delay) = (call, 0.0)
            switch call.fault {
            case .drops(let every) where call.packets.isMultiple(of: every): return
            case .halves where call.packets.isMultiple(of: 2): return call.skipped += 1
            case .skips(let from, let to) where from...to ~= elapsed: return call.skipped += 1
            case .startsAfter(let seconds) where elapsed < seconds: return
            case .pauses(let from, let to) where from...to ~= elapsed: return
            case .stops(let after) where elapsed > after: return
            case .neverSends: return
            case .swallowsKeys where isKey: return
            case .sendsElsewhere: target.remote = SocketAddress(.loopback, port: 9)
            case .delays(let seconds): delay = seconds
            case .slows(let milliseconds): delay = Double(call.packets) * milliseconds / 1_000
            case .bursts(let milliseconds): delay = (milliseconds / 1_000) - elapsed.truncatingRemainder(dividingBy: milliseconds / 1_000)
            case .crosses: target = calls[order[max(0, (order.firstIndex(of: name) ?? 0) - 1)]] ?? call
            case .none where crosses(after: name): target = calls[order[(order.firstIndex(of: name) ?? 0) + 1]] ?? call
            default: break
            }
            change(&packet, of: call)
            let bytes = packet
            waiting.append((now + delay, { [unowned self] in send(bytes, over: target.media, to: target.remote.storage) }))
        }

        private func change(_ packet: inout [UInt8], of call: Call) {
            if call.skipped > 0 {
                let number = (UInt16(packet[2]) << 8 | UInt16(packet[3])) &- call.skipped
                (packet[2], packet[3]) = (UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
            }
            let payload = 12..<packet.count
            switch call.fault {
            case .sendsSilence: for place in payload { packet[place] = 0xFF }
            case .sendsNoise: for place in payload { packet[place] = UInt8((place &* 167 &+ call.packets &* 97) & 0xFF) }
            case .sendsTone: for place in payload { packet[place] = place % 8 < 4 ? 0x20 : 0xA0 }
            case .repeatsTheFirst where !firstSpoken.isEmpty: packet[12...] = firstSpoken[call.packets % firstSpoken.count][...]
            case .changesPayloadType: packet[1] = packet[1] & 0x80 | 8
            case .cutsPackets: packet.removeLast(packet.count - 20)
            case .repeatsNumber: packet[2...3] = [0, 1]
            default: break
            }
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
