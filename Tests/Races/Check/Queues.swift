import Dispatch
import Glibc
import Primitives
import Runtime

/// Patient queues that several threads give work to and wait for, while the keeper of memory looks at the allocator.
func raceQueues(_ run: Run) throws -> [Figure] {
    let works = Tally(), waits = Tally()
    let keeper = MallocTrimmer(every: .milliseconds(5))
    while !run.isOver {
        let queue = try BackgroundQueue(name: "race"), diary = Diary()
        onThreads(3) { number in
            for turn in 0..<100 {
                queue.async {
                    diary.entries.append(turn)
                    works.add()
                }
                if turn % 20 == number {
                    queue.wait()
                    waits.add()
                }
                if turn % 10 == 0 { scramble(kilobytes: 1 + turn) }
            }
        }
    }
    withExtendedLifetime(keeper) {}
    return [("works", works.count), ("waits", waits.count)]
}

/// Written by the work of one queue alone.
private final class Diary: @unchecked Sendable { var entries: [Int] = [] }

/// Gives the allocator something to do.
private func scramble(kilobytes: Int) {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: kilobytes * 1_024, alignment: 16)
    memset(memory, 7, kilobytes * 1_024)
    memory.deallocate()
}

/// Resolvers that several threads ask, of a server that never answers and of a hosts file, and that are let go with questions under way.
func raceResolver(_ run: Run) throws -> [Figure] {
    let answers = Tally(), found = Tally()
    let silent = try FileDescriptorOwner.udp(bound: SocketAddress(.loopback, port: 0))
    guard let server = silent.localAddress else { return [("servers", 0)] }
    while !run.isOver {
        var settings = DNSResolver.Settings()
        (settings.servers, settings.timeout, settings.tries, settings.searchDomains) = ([server], .milliseconds(20), 1, [])
        guard let resolver = DNSResolver(settings) else { return [("resolvers", 0)] }
        onThreads(3) { number in
            for turn in 0..<20 {
                let question: DNSQuestion = turn % 4 == 0 ? .a("localhost") : .srv(Text("_sip._udp.\(number)-\(turn).example"))
                resolver.ask(question) { answer in
                    answers.add()
                    if !answer.records.isEmpty { found.add() }
                }
            }
            usleep(5_000)
        }
    }
    return [("answers", answers.count), ("with records", found.count)]
}
