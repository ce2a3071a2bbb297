import Testing

/// Packages that are built, as long as the others take, with what they leave of the processors.
@Suite(.serialized) enum Packages {}

/// Three groups that run beside each other, with one gateway at a time each: as much as two cores carry in real time. `Talks` has calls with
/// sound, `Calls` signalling, `Strains` load, faults, ends and pages in a browser.
@Suite(.serialized) enum Calls {}
@Suite(.serialized) enum Talks {}
@Suite(.serialized) enum Strains {}
