import Foundation

/// Shows a trace on the terminal as it grows.
enum TraceTerminal {
    /// Returns when the person has seen enough, and after SIGINT, SIGTERM or SIGHUP.
    static func run(_ path: String, _ listing: TraceListing) throws {
        var source = try TraceSource(path), screen = TraceScreen(listing)
        screen.hasColour = Terminal.hasColour
        try source.poll { screen.note($0) }
        try ScreenTerminal.show(&screen) { screen in try source.poll { screen.note($0) } }
    }
}
