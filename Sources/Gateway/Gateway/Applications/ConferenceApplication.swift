import Media

/// All who call the line hear each other.
struct ConferenceApplication: LineApplication {
    let source: MediaSource

    /// - Parameter room: the same for those who hear each other.
    init(room: UInt64) { source = .conference(room) }
}

extension LineEndpoint.Application.Kind {
    static let conference = Self(name: "conference") { _, call in ConferenceApplication(room: UInt64(call.line)) }
}

extension LineEndpoint.Application {
    /// All who call it hear each other.
    public static let conference = Self(.conference)
}
