import CPostgres
import Primitives

/// A connection to PostgreSQL over libpq, on the lane that made it: nothing waits for the server, and the lane's poller watches the socket.
///
/// Statements are run in batches. A batch is sent at once (pipeline mode) and is one transaction: all of it is done, or nothing. libpq looks
/// a host's name up without our poller, so the lane is one of the connection's own.
///
/// It keeps no timer: its owner closes it when the server takes too long.
public final class PostgresConnection: LaneSocket {
    /// One statement, with values for `$1`, `$2` and so on; nil is NULL.
    public struct Statement: Sendable, Equatable {
        /// One command of SQL.
        public var sql: String
        /// Texts, which PostgreSQL takes as the types that the statement wants. NUL ends one.
        public var values: [String?]

        public init(_ sql: String, _ values: [String?] = []) { (self.sql, self.values) = (sql, values) }
    }

    /// The rows of one statement: texts, nil for NULL.
    public typealias Rows = [[String?]]

    private enum State {
        case connecting
        case open
        case closed
    }

    private struct Batch {
        var results: [Rows] = []
        /// Statements whose results are still to come.
        var left: Int
        var rows: Rows = []
        var error: PostgresError?
        let completion: (Result<[Rows], PostgresError>) -> Void
    }

    /// Told once when the connection stands.
    public var onReady: (() -> Void)?
    /// Told once when it is gone, or could not be made; a batch that was under way has failed before. Not told for a `close` of ours.
    public var onLoss: ((PostgresError) -> Void)?
    /// Told of each notification of a channel that is listened to.
    public var onNotification: ((_ payload: String) -> Void)?

    private let library: cpostgres_library
    private let connection: OpaquePointer
    private let sockets: LaneSockets
    private var descriptor: Int32 = -1
    private var token: SocketToken?
    private var state = State.connecting
    private var batch: Batch?
    private var isFlushing = false

    /// Whether libpq can be loaded. From any thread; loads it.
    public static var isLibraryThere: Bool { cpostgres_load() != nil }

    /// Begins a connection. To be called in a turn of the lane.
    ///
    /// - Parameter parameters: keywords of libpq with their values; `dbname` may be a URL, which comes before those that stand before it.
    /// - Throws: where the library is not there, or parameters are none.
    public init(_ parameters: KeyValuePairs<String, String>, on lane: any LaneDoor) throws(PostgresError) {
        guard let library = cpostgres_load()?.pointee else { throw .noLibrary }
        guard let made = Self.start(parameters, library) else { throw PostgresError("no memory for a connection", isLoss: true) }
        (self.library, connection, sockets) = (library, made, lane.sockets)
        guard library.status(made) != cpostgres_connection_bad.number else {
            let error = PostgresError(ofStart: String(cString: library.errorMessage(made)))
            state = .closed
            library.finish(made)
            throw error
        }
        _ = library.setErrorVerbosity(made, cpostgres_errors_verbose.number)
        _ = library.setNoticeProcessor(made, { _, _ in }, nil)
        watch(.writable)
    }

    deinit { close() }

    private static func start(_ parameters: KeyValuePairs<String, String>, _ library: cpostgres_library) -> OpaquePointer? {
        withTexts(parameters.map { Optional($0.key) } + [nil]) { keywords in
            withTexts(parameters.map { Optional($0.value) } + [nil]) { values in library.connectStartParams(keywords, values, 1) }
        }
    }

    /// Runs the statements as one transaction, when the connection stands and no other batch is under way.
    /// - Parameter completion: called once, in a turn of the lane, with the rows of each; not called after a `close`.
    public func run(_ statements: [Statement], completion: @escaping (Result<[Rows], PostgresError>) -> Void) {
        guard case .open = state, batch == nil else {
            return completion(.failure(PostgresError("another batch is under way", isLoss: false)))
        }
        batch = Batch(left: statements.count, completion: completion)
        for statement in statements {
            let isSent = Self.withTexts(statement.values) { values in
                library.sendQueryParams(connection, statement.sql, Int32(statement.values.count), nil, values, nil, nil, 0)
            }
            guard isSent == 1 else { return lose() }
        }
        guard library.pipelineSync(connection) == 1 else { return lose() }
        flush()
    }

    /// Ends the connection, without a word to anybody. What was sent may be done still.
    public func close() {
        guard state != .closed else { return }
        state = .closed
        batch = nil
        forget()
        library.finish(connection)
    }

    // MARK: The socket

    /// libpq may have another socket after each step of a connection that is being made.
    private func watch(_ events: Poller.Events) {
        forget()
        descriptor = library.socket(connection)
        guard descriptor >= 0, let token = try? sockets.watch(descriptor, for: events, self) else { return lose() }
        self.token = token
    }

    private func forget() {
        if let token { sockets.forget(descriptor, token) }
        token = nil
    }

    func ready(_ events: Poller.Events, at now: Instant) {
        switch state {
        case .connecting: goOn()
        case .open: receive()
        case .closed: break
        }
    }

    private func goOn() {
        switch library.connectPoll(connection) {
        case cpostgres_polling_reading.number: watch(.readable)
        case cpostgres_polling_writing.number: watch(.writable)
        case cpostgres_polling_ok.number: open()
        default: lose()
        }
    }

    private func open() {
        guard library.setnonblocking(connection, 1) == 0, library.enterPipelineMode(connection) == 1 else { return lose() }
        state = .open
        watch(.readable)
        onReady?()
    }

    /// Sends on when the kernel takes bytes again.
    private func flush() {
        let rest = library.flush(connection)
        guard rest >= 0 else { return lose() }
        guard isFlushing != (rest == 1), let token else { return }
        isFlushing = rest == 1
        try? sockets.change(descriptor, token, to: isFlushing ? [.readable, .writable] : .readable)
    }

    private func receive() {
        guard library.consumeInput(connection) == 1 else { return lose() }
        if isFlushing { flush() }
        // A result is not to be asked for before everything is sent: libpq would wait for that.
        while state == .open, !isFlushing, batch != nil, library.isBusy(connection) == 0 { takeResult() }
        while state == .open, let notice = library.notifies(connection) {
            let payload = String(cString: notice.pointee.extra)
            library.freemem(notice)
            onNotification?(payload)
        }
        guard state == .open, library.status(connection) == cpostgres_connection_bad.number else { return }
        lose()
    }

    private func lose() {
        guard state != .closed else { return }
        let error = batch?.error ?? PostgresError(ofConnection: String(cString: library.errorMessage(connection)))
        let completion = batch?.completion, loss = PostgresError(code: error.code, error.description, isLoss: true)
        close()
        completion?(.failure(loss))
        onLoss?(loss)
    }

    // MARK: Results

    private func takeResult() {
        guard let result = library.getResult(connection) else {
            // The end of one statement.
            guard var current = batch, current.left > 0 else { return lose() }
            current.left -= 1
            current.results.append(current.rows)
            current.rows = []
            batch = current
            return
        }
        defer { library.clear(result) }
        switch library.resultStatus(result) {
        case cpostgres_command_ok.number, cpostgres_pipeline_aborted.number: break
        case cpostgres_tuples_ok.number: batch?.rows = rows(of: result)
        case cpostgres_pipeline_sync.number: finish()
        default: if batch?.error == nil { batch?.error = error(of: result) }
        }
    }

    private func finish() {
        guard let done = batch else { return }
        batch = nil
        done.completion(done.error.map { .failure($0) } ?? .success(done.results))
    }

    private func rows(of result: OpaquePointer) -> Rows {
        let columns = library.nfields(result)
        return (0..<library.ntuples(result)).map { row in
            (0..<columns).map { column in
                guard library.getisnull(result, row, column) == 0 else { return nil }
                let bytes = UnsafeRawBufferPointer(
                    start: library.getvalue(result, row, column), count: Int(library.getlength(result, row, column)))
                return String(decoding: bytes, as: UTF8.self)
            }
        }
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        func field(_ field: some FixedWidthInteger) -> String? {
            library.resultErrorField(result, Int32(field)).map { String(cString: $0) }
        }
        let words = field(cpostgres_field_message.number) ?? "the server reports an error"
        return PostgresError(
            code: field(cpostgres_field_sqlstate.number), words.split(whereSeparator: \.isNewline).joined(separator: " "), isLoss: false)
    }

    /// Lends C strings.
    private static func withTexts<Value>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let bytes = texts.map { text in text.map { Array($0.utf8CString) } }, room = bytes.reduce(0) { $0 + ($1?.count ?? 0) }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: room + 1) { store in
            var pointers: [UnsafePointer<CChar>?] = [], start = 0
            for text in bytes {
                guard let text else { pointers.append(nil); continue }
                _ = store[start...].initialize(fromContentsOf: text)
                pointers.append(UnsafePointer(store.baseAddress! + start))
                start += text.count
            }
            pointers.append(nil)
            return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
        }
    }
}

extension RawRepresentable where RawValue == UInt32 {
    /// As libpq's functions have it.
    fileprivate var number: Int32 { Int32(bitPattern: rawValue) }
}

extension FixedWidthInteger {
    fileprivate var number: Int32 { Int32(self) }
}
