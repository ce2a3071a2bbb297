import Media
import Primitives
import Streaming

/// Lets a program speak and hear, over a WebSocket.
struct StreamApplication: LineApplication {
    let settings: StreamSettings
    /// The place between the leg's media and the stream.
    let port: StreamPort

    init(_ settings: StreamSettings) {
        (self.settings, port) = (settings, StreamPort(sampleRate: settings.format.encoding.sampleRate))
    }

    var source: MediaSource { .stream(port) }

    mutating func answered(at now: Instant) -> [ApplicationStep] { [.stream] }
}

extension LineEndpoint.Application.Kind {
    static let stream = Self(name: "stream", streams: true) { settings, _ in
        if let program = settings.stream { StreamApplication(program) } else { EchoApplication() }
    }
}

extension LineEndpoint.Application {
    /// Lets a program speak and hear, over a WebSocket.
    public static func stream(_ settings: StreamSettings) -> Self {
        var application = Self(.stream)
        application.stream = settings
        return application
    }
}
