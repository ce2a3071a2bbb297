import Testing

/// Tests with real sockets, threads or clocks: one after the other.
@Suite(.serialized) enum RealTime {}
