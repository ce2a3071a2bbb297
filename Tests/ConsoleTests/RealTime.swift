import Testing

/// Tests with real sockets, threads or clocks: one after the other, and in a run of their own (`scripts/test`), apart from tests that take
/// every core.
@Suite(.serialized) enum RealTime {}
