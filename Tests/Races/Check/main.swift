// Exercises what threads share, on several threads, for ThreadSanitizer to watch. Run by scripts/races.
//
//   race-check SECONDS SEED [PART]...
//
// Each part runs for SECONDS, media for four times that. Prints what each did. Exit code 0; 1 when a part did not do all of its work; 2 for
// wrong arguments; 66 when the sanitizer reported something.
import CMutexOrder
import Foundation
import Primitives
import Runtime

let parts: [Part] = [
    Part(name: "lanes", run: raceLanes), Part(name: "poller", run: racePoller), Part(name: "sockets", run: raceSockets),
    Part(name: "queues", run: raceQueues), Part(name: "resolver", run: raceResolver), Part(name: "journal", run: raceJournal),
    Part(name: "calls", run: raceCalls), Part(name: "media", share: 4, run: raceMedia),
]

func refuse(_ problem: String) -> Never {
    complain(problem)
    exit(2)
}

func complain(_ problem: String) { FileHandle.standardError.write(Data("race-check: \(problem)\n".utf8)) }

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2, let seconds = Int(arguments[1]), (1...3_600).contains(seconds), let seed = UInt64(arguments[2]) else {
    refuse("usage: race-check SECONDS SEED [PART]... with 1 to 3600 seconds; parts are \(parts.map(\.name).joined(separator: ", "))")
}
let chosen = Set(arguments.dropFirst(2))
if let unknown = chosen.first(where: { name in !parts.contains { $0.name == name } }) {
    refuse("there is no part '\(unknown)'; there are \(parts.map(\.name).joined(separator: ", "))")
}
if !cmutex_order_is_watched() { refuse("built without ThreadSanitizer, it would find nothing: run scripts/races") }

var isComplete = true
for part in parts where chosen.isEmpty || chosen.contains(part.name) {
    let figures = try part.run(Run(end: MonotonicClock.now + .seconds(seconds * part.share), seed: seed))
    print("\(part.name): \(figures.map { "\($0.count) \($0.what)" }.joined(separator: ", "))")
    fflush(nil)
    for figure in figures where figure.count == 0 {
        complain("\(part.name) had no \(figure.what): nothing of that was checked")
        isComplete = false
    }
}
exit(isComplete ? 0 : 1)
