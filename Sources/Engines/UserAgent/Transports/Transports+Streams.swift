import Primitives
import Runtime
import SIP

/// Connections: accepted and opened, cut into messages, bounded and forgotten.
extension Transports {
    func accept(_ accepted: consuming TCPListener.Accepted, _ transport: Transport, at now: Instant) {
        let (local, remote) = (accepted.local, accepted.remote)
        guard mayAccept(from: remote.address, transport) else { return tally.refused += 1 }
        let flow = Flow(transport: transport, local: local, remote: remote, connection: nextID())
        let connection = makeConnection(accepted, flow, at: now)
        tally.accepted += 1
        acceptedFrom[remote.address, default: 0] += 1
        if transport.isSecure { handshakesFrom[remote.address, default: 0] += 1 }
        let webSocket = transport.isWebSocket ? WebSocketFraming(server: webSocketRule(for: remote.address)) : nil
        keep(
            MessageStream(
                flow: flow, connection: connection, webSocket: webSocket, isAccepted: true,
                firstMessageBy: now + configuration.messageTimeout))
    }

    private func webSocketRule(for source: IPAddress) -> WebSocketFraming.Server {
        .init(
            origins: configuration.webSocketOrigins, isProxied: configuration.webSocketProxies.contains { $0.contains(source) })
    }

    private func mayAccept(from source: IPAddress, _ transport: Transport) -> Bool {
        guard streams.count < configuration.maximumConnections else { return false }
        if configuration.trusted.contains(where: { $0.contains(source) }) { return true }
        return acceptedFrom[source, default: 0] < configuration.maximumConnectionsPerSource
            && (!transport.isSecure || handshakesFrom[source, default: 0] < configuration.maximumHandshakesPerSource)
    }

    private func makeConnection(_ accepted: consuming TCPListener.Accepted, _ flow: Flow, at now: Instant) -> any StreamConnection {
        guard flow.transport.isSecure, let tls = flow.transport == .wss ? webSocketTLS ?? tls : tls else {
            return TCPConnection(accepted, limits: configuration.connection, on: lane, at: now) { [weak self] _, event, now in
                self?.stream(flow.connection, did: event, at: now)
            }
        }
        return TLSConnection(accepted, session: tls.accept(), limits: configuration.connection, on: lane, at: now) {
            [weak self] _, event, now in
            self?.stream(flow.connection, did: event, at: now)
        }
    }

    func sendStream(_ bytes: [UInt8], over flow: Flow) {
        let id = flow.connection == 0 ? streamTo[Peer(flow)] : flow.connection
        guard let stream = id.flatMap({ streams[$0] }) ?? (flow.connection == 0 ? open(flow) : nil), !stream.isLost else {
            if flow.connection == 0 { tally.failed += 1 }
            return lost.append(flow)
        }
        stream.hasSpoken = true
        let now = MonotonicClock.now
        tap?.note(.sent, bytes, over: stream.flow)
        stream.send(bytes, at: now)
        if stream.nextQuestion != nil { leave(stream, at: now) }
        watch(stream)
    }

    /// A connection that says nothing any more: what waits on it has failed.
    func closeStream(of flow: Flow) {
        guard let stream = (flow.connection == 0 ? streamTo[Peer(flow)] : flow.connection).flatMap({ streams[$0] }) else { return }
        closeSilent(stream)
    }

    func closeSilent(_ stream: MessageStream) {
        stream.connection.close()
        forget(stream)
    }

    public func isOpen(_ flow: Flow) -> Bool {
        guard flow.connection != 0 else { return true }
        // A peer that has said the last word takes answers, but no requests.
        return streams[flow.connection]?.takesRequests == true
    }

    public func isConnected(_ flow: Flow) -> Bool { flow.connection == 0 && streams[carrier(of: flow)]?.isConnected == true }

    public func carrier(of flow: Flow) -> UInt64 {
        guard flow.connection == 0, flow.transport.isReliable else { return flow.connection }
        return streamTo[Peer(flow)] ?? 0
    }

    /// Begins a connection to the flow's peer; nil when the kernel knows already that it cannot be, or there are too many.
    ///
    /// - Parameter isShared: what names no connection goes over it, too.
    func open(_ flow: Flow, isShared: Bool = true) -> MessageStream? {
        guard streams.count < configuration.maximumConnections else { return nil }
        // A browser does not listen: the way to it is the connection that it opened.
        guard !flow.transport.isWebSocket || configuration.opensWebSockets else { return nil }
        let id = nextID()
        guard let connection = makeConnection(to: flow, id) else { return nil }
        tally.opened += 1
        // Our Via and Contact name the port that is listened on, not the one that this connection happens to have.
        let local = SocketAddress(connection.local.address, port: flow.local.port)
        let opened = Flow(transport: flow.transport, local: local, remote: flow.remote, connection: id, peer: flow.peer)
        let stream = MessageStream(
            flow: opened, connection: connection, webSocket: webSocket(to: opened), isAccepted: false, firstMessageBy: nil)
        keep(stream, isShared: isShared)
        stream.greet(at: MonotonicClock.now)
        return stream
    }

    private func webSocket(to flow: Flow) -> WebSocketFraming? {
        guard flow.transport.isWebSocket else { return nil }
        let host =
            flow.peer.isEmpty
            ? (flow.remote.address.family == .v6 ? "[\(flow.remote.address)]" : "\(flow.remote.address)") : flow.peer.description
        let authority = flow.remote.port == flow.transport.standardPort ? host : "\(host):\(flow.remote.port)"
        return WebSocketFraming(client: .init(authority: authority, path: configuration.webSocketPath), random: SystemRandom())
    }

    private func makeConnection(to flow: Flow, _ id: UInt64) -> (any StreamConnection)? {
        let (local, now) = (flow.local.address.isAny ? nil : flow.local.address, MonotonicClock.now)
        guard flow.transport.isSecure else {
            return try? TCPConnection(to: flow.remote, from: local, limits: configuration.connection, on: lane, at: now) {
                [weak self] _, event, now in
                self?.stream(id, did: event, at: now)
            }
        }
        guard let tls else { return nil }
        // Without a name to hold the certificate against, only the address is left.
        let peer = flow.peer.isEmpty ? "\(flow.remote.address)" : flow.peer.withoutBrackets.description
        return try? TLSConnection(
            to: flow.remote, from: local, session: tls.connect(to: peer), limits: configuration.connection, on: lane, at: now
        ) {
            [weak self] _, event, now in self?.stream(id, did: event, at: now)
        }
    }

    public func reuse(_ flow: Flow, for host: Text, port: UInt16?) {
        guard let stream = streams[flow.connection], stream.isAccepted, stream.alias == nil,
            let connection = stream.connection as? TLSConnection
        else { return }
        guard connection.proves(host.withoutBrackets.description) else { return }
        var known = flow
        known.remote = SocketAddress(flow.remote.address, port: port ?? 5061)
        known.peer = host
        stream.alias = Peer(known)
        streamTo[Peer(known)] = stream.id
    }

    private func nextID() -> UInt64 {
        lastStream += 1
        return lastStream
    }

    private func keep(_ stream: MessageStream, isShared: Bool = true) {
        streams[stream.id] = stream
        if isShared { streamTo[Peer(stream.flow)] = stream.id }
        watch(stream)
    }

    private func stream(_ id: UInt64, did event: TCPConnection.Event, at now: Instant) {
        guard let stream = streams[id] else { return }
        switch event {
        case .connected:
            shookHands(stream)
            stream.isConnected = true
        case .received(let bytes): read(bytes, from: stream, at: now)
        case .peerHalfClosed: peerHalfClosed(stream, at: now)
        case .ended(let reason):
            if case .tls(let error) = reason { failed(stream, error) }
            if reason != .finished, reason != .idle {
                tally.failed += 1
                note(\.broken, stream)
            }
            forget(stream)
        }
        watch(stream)
    }

    private func shookHands(_ stream: MessageStream) {
        guard stream.isShakingHands else { return }
        let source = stream.source
        if stream.isAccepted { handshakesFrom[source] = handshakesFrom[source].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    /// Counts the end of a connection of ours, once. One that ends before it has stood was refused.
    func note(_ cause: WritableKeyPath<ConnectionEnds, Int>, _ stream: MessageStream) {
        guard !stream.isAccepted, !stream.isEndCounted else { return }
        stream.isEndCounted = true
        tally.ends[keyPath: stream.hasStood ? cause : \.refused] += 1
    }

    private func failed(_ stream: MessageStream, _ error: TLSError) {
        if stream.isShakingHands { tally.handshakesFailed += 1 }
        onTLSFailure?(error, stream.flow, !stream.isAccepted)
    }

    /// Answers still leave on it; a request would never get one. Who leaves in the middle of a message waits for no answer.
    private func peerHalfClosed(_ stream: MessageStream, at now: Instant) {
        note(\.closedByPeer, stream)
        takeNoRequests(stream)
        guard stream.messageDeadline == nil else {
            stream.connection.close()
            return forget(stream)
        }
        guard !stream.flow.transport.isSecure else { return sendCloseNotify(to: stream, at: now) }
        leave(stream, at: now)
        if streams[stream.id] != nil { endpoint?.peerHalfClosed(stream.flow, at: now) }
    }

    /// TLS is closed in both directions at once (RFC 5246 §7.2.1): answers need another connection now, not when this one has ended.
    private func sendCloseNotify(to stream: MessageStream, at now: Instant) {
        stream.connection.finish(at: now)
        guard streams[stream.id] != nil else { return }
        stream.isLost = true
        lost.append(stream.flow)
    }

    /// Its peer sends nothing more. Whether it still reads cannot be known: it is left when everything is answered (RFC 3261 §18.2.2).
    func leave(_ stream: MessageStream, at now: Instant) {
        let isOwed = endpoint?.owesAnswer(over: stream.flow) == true
        stream.nextQuestion = isOwed ? now + configuration.connection.lingerTimeout : nil
        if !isOwed { stream.connection.finish(at: now) }
    }

    private func read(_ bytes: [UInt8], from stream: MessageStream, at now: Instant) {
        let outputs = stream.receive(bytes, at: now, timeout: configuration.messageTimeout)
        if let client = stream.webSocket?.takeForwarded() { readdress(stream, to: client) }
        for output in outputs {
            // The output before may have made us close the stream.
            guard streams[stream.id] != nil else { return }
            switch output {
            case .message(let message):
                tap?.note(.received, message, over: stream.flow)
                endpoint?.receive(message, over: stream.flow, at: now)
            case .pong:
                guard stream.hasSpoken || endpoint?.answersPing(over: stream.flow, at: now) ?? true else { continue }
                stream.answerPing(at: now)
            case .answered: endpoint?.receive(StreamFramer.pong, over: stream.flow, at: now)
            case .reply(let bytes): stream.reply(bytes, at: now)
            case .ended: end(stream, at: now)
            case .failed(let error): refuse(error, from: stream, at: now)
            }
        }
    }

    /// A proxy told whom it speaks for: limits, journal and media go by that address from now on.
    private func readdress(_ stream: MessageStream, to client: IPAddress) {
        takeNoRequests(stream)
        stream.speaks(for: client)
        streamTo[Peer(stream.flow)] = stream.id
        stream.takesRequests = true
    }

    /// The peer of a WebSocket said its last word, and was answered: nothing goes over it any more.
    private func end(_ stream: MessageStream, at now: Instant) {
        note(\.closedByPeer, stream)
        takeNoRequests(stream)
        stream.connection.finish(at: now)
        guard streams[stream.id] != nil else { return }
        stream.isLost = true
        lost.append(stream.flow)
    }

    /// Answers what can be answered; the rest of the stream means nothing any more (RFC 3261 §18.3).
    private func refuse(_ error: Message.ParseError, from stream: MessageStream, at now: Instant) {
        if case .reject(var rejection) = error, endpoint?.answersMalformed(over: stream.flow, at: now) ?? true {
            rejection.via.stamp(source: stream.flow.remote)
            let response = rejection.response(toTag: UserAgent.statelessTag(rejection.via, rejection.headers, key: tagKey))
            tap?.note(.sent, response, over: stream.flow)
            stream.send(response, at: now)
        }
        giveUp(stream, at: now)
    }

    /// Ends a stream after an error: its further bytes are not read, and nothing new is sent over it.
    func giveUp(_ stream: MessageStream, at now: Instant) {
        guard streams[stream.id] != nil else { return }
        tally.malformed += 1
        note(\.broken, stream)
        takeNoRequests(stream)
        stream.giveUp(at: now)
    }

    /// New requests to its peer need another connection.
    private func takeNoRequests(_ stream: MessageStream) {
        stream.takesRequests = false
        for peer in [Peer(stream.flow), stream.alias].compactMap(\.self) where streamTo[peer] == stream.id { streamTo[peer] = nil }
    }

    private func forget(_ stream: MessageStream) {
        guard streams.removeValue(forKey: stream.id) != nil else { return }
        if let alarm = stream.alarm { timeout.cancel(alarm.token) }
        takeNoRequests(stream)
        shookHands(stream)
        if stream.isAccepted {
            let left = acceptedFrom[stream.source, default: 1] - 1
            acceptedFrom[stream.source] = left == 0 ? nil : left
        }
        if !stream.isLost { lost.append(stream.flow) }
    }

    /// Sets the stream's timer when its deadline has come nearer. One that has moved away is left: it rings for nothing, once.
    func watch(_ stream: MessageStream) {
        guard streams[stream.id] != nil, let due = stream.deadline, due < stream.alarm?.due ?? .distantFuture else { return }
        if let alarm = stream.alarm { timeout.cancel(alarm.token) }
        stream.alarm = (timeout.arm(stream.id, at: due), due)
    }
}
