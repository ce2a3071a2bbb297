import Foundation

// The answers of reads, as `/v1/openapi.json` has them.
extension HookswitchClient {
    /// A call as CallKit sees it, with what is known of its SIP dialog and its sound.
    public struct Call: Codable, Hashable, Sendable, Identifiable {
        /// As the line sees it.
        public enum Direction: String, Codable, Sendable { case incoming, outgoing }
        /// Its progress.
        public enum State: String, Codable, Sendable { case ringing, connecting, connected, ended }
        /// The side that ended it: an end action of ours, the far end, or neither (a failure, or a limit).
        public enum Ender: String, Codable, Sendable { case local, remote, gateway }
        /// The sound of both directions, when it had stopped.
        public struct Media: Codable, Hashable, Sendable {
            /// Packets.
            public var received: Int, sent: Int
            /// The sound from the far end, and ours as the far end reported it: `heard`, `silent`, `paused`, `nothing`; nil: not measured.
            public var incoming: String?, outgoing: String?

            /// Nothing was measured.
            public init(received: Int, sent: Int) { (self.received, self.sent) = (received, sent) }
        }

        public var id: UUID
        /// The number of its line.
        public var line: String
        public var direction: Direction, state: State
        /// The far end, as CallKit's handle says it.
        public var handle: String?
        /// The addresses of From and To.
        public var from: String?, to: String?
        public var isOutgoing: Bool, isOnHold: Bool, isMuted: Bool, hasConnected: Bool, hasEnded: Bool
        public var isHeldByRemote: Bool
        /// The other calls of its conversation.
        public var groupedWith: [UUID]
        /// The Call-ID of its dialog, and the final response that decided.
        public var sipCallID: String?, sipStatus: Int?
        public var codec: String?
        public var began: Date, connected: Date?, ended: Date?
        /// A CXCallEndedReason, or what CallKit did.
        public var endReason: String?
        public var endedBy: Ender?
        /// The number of a cause of Q.850; nil where none is known.
        public var q850: Int?
        public var media: Media?
        /// The gateway that has it, where several answer as one.
        public var node: String?
    }

    /// One of the gateways that answer as one.
    public struct Node: Codable, Hashable, Sendable {
        public var node: String
        /// It has answered.
        public var isUp: Bool
        /// Its own position.
        public var position: Position?
        /// The cause why its part is missing.
        public var error: String?
        /// Of the program, in the answer to ``HookswitchClient/server()`` alone; so are the calls that are up.
        public var version: String?, calls: Int?
    }

    /// Calls, oldest first, as they were when the event at `position` had happened.
    public struct Snapshot: Codable, Hashable, Sendable {
        /// nil: the gateway has told nothing yet.
        public var position: Position?
        public var calls: [Call]
        /// nil: the gateway answers for itself alone.
        public var nodes: [Node]?
    }

    /// Conversations, as they were when the event at `position` had happened.
    public struct Groups: Codable, Hashable, Sendable {
        /// Calls that hear each other; one that waits, or talks with an application, is alone in its group.
        public struct Group: Codable, Hashable, Sendable {
            /// The number of their line.
            public var line: String
            /// They are more than two.
            public var isConference: Bool
            /// In the order in which they came.
            public var calls: [UUID]
        }

        /// nil: the gateway has told nothing yet.
        public var position: Position?
        /// In the order in which they began.
        public var groups: [Group]
    }

    /// A line.
    public struct Line: Codable, Hashable, Sendable {
        /// A device that is registered.
        public struct Device: Codable, Hashable, Sendable {
            /// Its Contact, and its User-Agent.
            public var contact: String, agent: String?
            /// Seconds until its registration ends.
            public var expires: Int
        }

        public var number: String, name: String?
        /// The kind of what answers its calls, as `devices`.
        public var kind: String
        public var doNotDisturb: Bool
        public var devices: [Device]
        /// Calls that are up.
        public var calls: Int
        /// Callers that its user has blocked.
        public var blocked: [String]
    }

    /// The lines, in the order of the configuration.
    public struct Lines: Codable, Hashable, Sendable { public var lines: [Line] }

    /// A recent call of a line.
    public struct Recent: Codable, Hashable, Sendable, Identifiable {
        public var id: UUID
        public var direction: Call.Direction
        public var handle: String, name: String?
        public var began: Date, connected: Date?, ended: Date
        /// Its outcome for the line, and the cause of its end.
        public var outcome: String, reason: String
    }

    /// Recent calls of a line, the newest first.
    public struct Recents: Codable, Hashable, Sendable { public var recents: [Recent] }

    /// A connection of the gateway to a carrier.
    public struct Trunk: Codable, Hashable, Sendable {
        /// A server of it.
        public struct Server: Codable, Hashable, Sendable {
            /// Its name in requests, its address and port, and `udp`, `tcp` or `tls`.
            public var name: String, address: String, transport: String
            /// It did not answer, and is asked last.
            public var isDown: Bool
        }

        /// The number and the name of its line.
        public var line: String, name: String?
        /// `up`, `down` or `unresolved`.
        public var state: String
        /// `none` where none is wanted, `registered` or `unregistered`.
        public var registration: String
        /// The status of the last answer to its REGISTER.
        public var registrationStatus: Int?
        /// Its servers are asked whether they live.
        public var isWatched: Bool
        /// The gateway that was asked registers it and checks its servers; nil: an older one, which does not say.
        public var isHeld: Bool?
        /// The gateway that does, where several share a database.
        public var node: String?
        public var servers: [Server]
        /// Calls that are up, and conversations that may be at a time.
        public var calls: Int, maximumCalls: Int
    }

    /// The trunks, in the order of their lines.
    public struct Trunks: Codable, Hashable, Sendable { public var trunks: [Trunk] }

    /// A mailbox.
    public struct Mailbox: Codable, Hashable, Sendable {
        /// A message that a caller has left.
        public struct Message: Codable, Hashable, Sendable, Identifiable {
            /// The call that it was left in.
            public var id: UUID
            /// The number of the caller, empty for one who is not to be known; its name; and the number that was called.
            public var caller: String, name: String?, called: String
            /// The moment at which it began.
            public var received: Date
            /// Seconds.
            public var duration: Double
            /// Somebody has marked it as heard.
            public var heard: Bool
            /// The name of its file, and the file's media type: `audio/wav` or `audio/ogg`.
            public var file: String, type: String
        }

        /// The number and the name of its line.
        public var line: String, name: String?
        /// Messages that nobody has marked as heard, and the others.
        public var new: Int, old: Int
        /// The newest first; nil in the list of mailboxes.
        public var messages: [Message]?
    }

    /// The mailboxes, in the order of their lines.
    public struct Mailboxes: Codable, Hashable, Sendable { public var mailboxes: [Mailbox] }

    struct MessageChange: Codable, Sendable { var heard: Bool }

    /// A queue. Its counts are of calls since the start of the gateway.
    public struct Queue: Codable, Hashable, Sendable {
        /// A caller that waits, and the seconds since it came.
        public struct Caller: Codable, Hashable, Sendable { public var call: UUID, waited: Double }

        /// A member: the number of its line, and `free`, `ringing`, `busy` or `unavailable`.
        public struct Member: Codable, Hashable, Sendable { public var line: String, state: String }

        /// The number and the name of its line.
        public var line: String, name: String?
        /// `all`, `in-turn` or `longest-idle`.
        public var strategy: String
        /// Callers that may wait at a time, and that wait now.
        public var length: Int, waiting: Int
        /// The first first.
        public var callers: [Caller]
        public var members: [Member]
        /// Calls that came, that a member took, that ended while they waited, and that found no place or waited too long.
        public var entered: Int, answered: Int, abandoned: Int, overflowed: Int
        /// Seconds that the first caller has waited; nil: nobody waits.
        public var longestWait: Double?
        /// Seconds that those who were answered had waited, in the mean; nil: none was.
        public var meanWait: Double?
    }

    /// The queues, in the order of their lines.
    public struct Queues: Codable, Hashable, Sendable { public var queues: [Queue] }

    /// A ticket for one connection, which has the rights of who drew it.
    public struct Ticket: Codable, Hashable, Sendable {
        /// The secret. It is worth nothing once it was shown.
        public var ticket: String
        /// The moment from which it is worth nothing.
        public var expires: Date
    }

    /// The webhooks, in the order of the configuration.
    public struct Webhooks: Codable, Hashable, Sendable {
        public var webhooks: [Webhook]
    }

    /// A webhook.
    public struct Webhook: Codable, Hashable, Sendable {
        public var name: String
        /// Without credentials and query.
        public var url: String
        /// `delivering`, `retrying`, `gone` or `stuck`.
        public var state: String
        /// The last event that was taken in this run.
        public var delivered: Position?
        /// The time of the oldest event that is not taken.
        public var waitingSince: Date?
        /// Events in memory that are not taken.
        public var waiting: Int
        public var lastError: String?
        /// Events that were taken and given up, attempts that failed, and places of the journal that were gone.
        public var taken: Int, failed: Int, givenUp: Int, gaps: Int
    }

    /// The outcome of a test event.
    public struct WebhookTest: Codable, Hashable, Sendable {
        public var isTaken: Bool
        /// The receiver's status; nil: it did not answer.
        public var status: Int?
        public var error: String?
        public var milliseconds: Int
    }

    /// The gateway itself.
    public struct Server: Codable, Hashable, Sendable {
        public var version: String
        /// The run, as positions have it.
        public var run: String?
        public var position: Position?
        /// The start of the run.
        public var started: Date?
        /// Calls of CallKit that are up: a call that is bridged is two.
        public var calls: Int
        /// Readers of events.
        public var readers: Int
        public var isRunning: Bool
        /// nil: the gateway answers for itself alone.
        public var nodes: [Node]?
    }

    struct DoNotDisturb: Codable, Sendable { var on: Bool }
}
