import Testing

/// Three groups that run beside each other, with one gateway at a time each: as much as two cores carry in real time. `Talks` has calls with
/// sound, `Calls` signalling, `Strains` load, faults, ends and pages in a browser.
@Suite(.serialized) enum Calls {}
@Suite(.serialized) enum Talks {}
@Suite(.serialized) enum Strains {}
