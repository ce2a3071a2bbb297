import Media
public import Primitives
import UserAgent

/// The figures of a gateway: what it holds now, and what it has done and refused since it started. They are all that a monitor asks for.
public struct GatewayFigures: Sendable {
    /// The version of the program; nil where nobody said it.
    public var version: Text?
    /// Present counts.
    public var now: Gateway.Counts
    /// Users and contacts.
    public var registrar: Registrar.Counts
    /// Datagrams and connections.
    public var transports: Transports.Counts
    /// Sources whose rate is kept in mind.
    public var watchedSources: Int
    /// No new call is taken.
    public var isDraining: Bool
    /// To DNS.
    public var questions: Int
    /// Refusals by cause; every cause is there, also those without any.
    public var refusals: [(cause: String, count: UInt64)]
    /// Users with too many wrong passwords in this minute, and where those come from; at most twenty.
    public var throttled: [(user: Text, source: IPAddress, count: Int)]
    /// Events of the journal, by kind; every kind there is.
    public var events: [(kind: JournalEvent.Kind, count: UInt64)]
    /// Calls that ended, by how.
    public var ends: [String: UInt64]
    /// To INVITEs from outside.
    public var answers = InviteAnswers()
    /// To REGISTERs, by status.
    public var registrations: [Int: UInt64] = [:]
    /// Callers of all queues.
    public var queues = QueueTotals()
    /// Trunks that this gateway registers and checks, of those that gateways with one store share; nil: there is no such store.
    public var heldTrunks: Int?
    /// Streams of programs.
    public var streams = StreamTotals()
    /// Totals of closed legs.
    public var media: MediaTotals
    /// Broken rules of the contract since the start.
    public var violations: Int
    /// nil: no journal is written.
    public var journal: JournalFile.Counts?
    /// nil: messages are not traced.
    public var trace: MessageTrace.Counts?
}
