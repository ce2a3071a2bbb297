import Testing

/// Three groups that run beside each other, with one gateway at a time each: as much as two cores carry in real time.
@Suite(.serialized) enum Calls {}
@Suite(.serialized) enum Talks {}
@Suite(.serialized) enum Strains {}
