// Attacks a running `hookswitch serve` over every surface that the network has. Run by `scripts/fuzz --server`, in a network namespace
// of its own: addresses that are made up lead nowhere there, and its ports are free.
//
// Exit code 0: nothing broke; 1: something did; 2: what was typed is wrong; 3: it could not run.
import Foundation

func run(_ arguments: [String]) throws {
    let options = try Options(arguments)
    let server = try ServerProcess(options)
    defer { server.kill() }
    print(try Campaign(options, server).run().text)
}

func fail(_ error: any Error, code: Int32) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(error)\n".utf8))
    exit(code)
}

do { try run(Array(CommandLine.arguments.dropFirst())) } catch let error as Usage { fail(error, code: 2) } catch let error as Broken {
    fail(error, code: 1)
} catch {
    fail(error, code: 3)
}
