import Media
import Primitives
public import Runtime
public import Streaming

/// The order for one stream.
public struct StreamOrder: Sendable {
    /// The program, and how it is talked with.
    public var settings: StreamSettings
    /// The call, as the program is told.
    public var call: StreamCall
    /// The sound that the program listens to, where it does not speak; nil: it hears the far end, and speaks.
    public var tap: StreamTap?
    /// The place where the leg's media and the stream meet.
    public var port: StreamPort
    /// When the call was answered.
    public var answered: Instant
}

/// An event of a stream, for signalling.
public enum StreamEvent: Sendable, Equatable {
    /// The program wants keys to be sent to the far end.
    case digits(String)
    /// The program wants the call to go on with this number.
    case transfer(String)
    /// It is over: by the program's wish, or because it failed. The last event; none comes after a `close`.
    case ended(StreamEnd, StreamSession.Counts)
}

/// Why a stream is over. The raw value is its name in the journal.
public enum StreamEnd: String, Sendable, CaseIterable {
    /// The call ended first, or went on without it.
    case callEnded = "call-ended"
    case transferred
    /// The program closed the WebSocket, or asked for the end of the call.
    case closed
    case hangUp = "hang-up"
    /// Somebody ended it by the control interface.
    case detached
    /// No connection came to stand.
    case unreachable
    /// The answer to the handshake was none that opens a WebSocket.
    case refused
    /// No TLS, or a certificate that is not believed.
    case tls
    /// It took too long.
    case timeout
    /// The connection broke.
    case gone
    /// The program does not read.
    case stalled
    /// The program broke the rules of WebSocket, or talked nonsense too often.
    case nonsense

    /// Not as the program wanted it.
    var isFailure: Bool {
        switch self {
        case .callEnded, .transferred, .closed, .hangUp, .detached: false
        case .unreachable, .refused, .tls, .timeout, .gone, .stalled, .nonsense: true
        }
    }
}

/// Everything that signalling may do to streams. Called from the signalling lane alone.
public protocol StreamPlane: AnyObject, Sendable {
    /// Connects to the program, or waits for it; what becomes of it is told later.
    func open(_ order: StreamOrder, as id: UInt64)
    /// The program of a stream that waits for it is there. The connection closes where none waits any more.
    func connect(_ id: UInt64, over connection: ReleasedConnection)
    /// Tells the program of a key of the far end's.
    func press(_ digit: Character, on id: UInt64)
    /// Tells the program that the call is held, or no more.
    func hold(_ isHeld: Bool, _ id: UInt64)
    /// Ends it: no sound reaches the program after this returns. Nil: it was over.
    func close(_ id: UInt64, _ end: StreamEnd) -> StreamSession.Counts?
}
