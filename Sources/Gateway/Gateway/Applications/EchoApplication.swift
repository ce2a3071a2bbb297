import Media

/// Sends every packet back to its sender.
struct EchoApplication: LineApplication {
    let source = MediaSource.echo
}

extension LineEndpoint.Application.Kind {
    static let echo = Self(name: "echo", demonstration: 3) { _, _ in EchoApplication() }
}

extension LineEndpoint.Application {
    /// Sends every packet back to its sender.
    public static let echo = Self(.echo)
}
