import HTTP

/// Connections, requests and bytes of a server since its start, by outcome.
struct HTTPCounts: Sendable, Equatable {
    /// Let in.
    var connections: UInt64 = 0
    var requests: UInt64 = 0
    /// Answered because they were no requests, or too large.
    var refused: UInt64 = 0
    /// Ended because they asked nothing in time.
    var late: UInt64 = 0
    /// Ended to make room for others, or not let in.
    var crowdedOut: UInt64 = 0
    /// Ended because they did not read.
    var stalled: UInt64 = 0
    /// Streams and WebSockets among those.
    private(set) var slowStreams: UInt64 = 0, slowSockets: UInt64 = 0
    /// Requests that became WebSockets.
    var upgraded: UInt64 = 0
    /// WebSockets that ended because they answered no ping.
    var silent: UInt64 = 0
    /// Handed to the kernel, or waiting for the client; of TLS before it is encrypted.
    var sentBytes: UInt64 = 0
    var answers = Answers()

    mutating func noteStalled(_ connection: HTTPConnection) {
        stalled += 1
        if connection.state == .upgraded { slowSockets += 1 }
        if connection.state == .streaming, connection.file == nil { slowStreams += 1 }
    }

    /// Answers to requests, by method and class of status.
    struct Answers: Sendable, Equatable {
        static let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"]
        /// Those that a route may have; any other is the last.
        static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
        static let methodNames = methods.map(\.rawValue) + ["other"]

        private var table = [UInt64](repeating: 0, count: methodNames.count * classes.count)

        /// - Parameter method: nil: it was no request, and is counted elsewhere.
        mutating func note(_ method: HTTPRequest.Method?, _ status: HTTPResponse.Status) {
            guard let method, (100..<600).contains(status.code) else { return }
            let row = Self.methods.firstIndex(of: method) ?? Self.methods.count
            table[row * Self.classes.count + status.code / 100 - 1] += 1
        }

        /// Each method with each class, in the order of the lists.
        var all: [(method: String, statuses: String, count: UInt64)] {
            Self.methodNames.enumerated().flatMap { row, method in
                Self.classes.enumerated().map { (method, $1, table[row * Self.classes.count + $0]) }
            }
        }
    }
}
