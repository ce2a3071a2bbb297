import Primitives

/// Makes, sends and judges the inputs of one surface.
protocol Attack: AnyObject {
    /// Sees that what is attacked is there: before each portion of inputs, none of which is numbered.
    func prepare() throws
    /// Makes the input of that random source, notes it in the log, and sends it.
    func send(_ random: inout SeededRandom) throws
    /// Takes what came back, and judges it.
    func listen() throws
    /// Lets go what is still open.
    func finish()
}

extension Attack {
    func prepare() throws {}
    func listen() throws {}
    func finish() {}
}

/// Everything that all attacks share.
struct AttackContext {
    let addresses: GatewayAddresses
    let corpus: Corpus
    let calls: CallKeeper
    let log: InputLog
    let seed: UInt64

    func attack(on surface: Surface) throws -> any Attack {
        switch surface {
        case .udp: try DatagramAttack(self)
        case .tcp: StreamAttack(self)
        case .tls: try SecureStreamAttack(self)
        case .dialog: DialogAttack(self)
        case .answers: try AnswerAttack(self)
        case .rtp: try MediaAttack(self, .rtp)
        case .rtcp: try MediaAttack(self, .rtcp)
        case .stun: try CheckAttack(self)
        case .dtls: HandshakeAttack(self)
        case .http: MonitorAttack(self)
        case .ws: WebSocketAttack(self, .sip)
        case .events: WebSocketAttack(self, .events)
        }
    }
}
