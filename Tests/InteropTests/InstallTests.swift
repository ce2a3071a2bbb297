import Foundation
import Testing

extension Strains {
    /// `scripts/install`: what it says is what is there, and what it removes.
    @Suite(.serialized, .timeLimit(.minutes(5))) struct InstallTests {
        private static let script = Place.tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "scripts/install")
            .path
        private static let files = [
            "bin/hookswitch", "share/bash-completion/completions/hookswitch", "share/fish/vendor_completions.d/hookswitch.fish",
            "share/man/man1/hookswitch.1", "share/zsh/site-functions/_hookswitch",
        ]

        private func run(_ arguments: [String], in folder: String? = nil) async throws -> (code: Int32, lines: [String]) {
            try await Program.run(Self.script, arguments, in: folder)
        }

        /// Files below a folder, without the folders.
        private func files(below folder: String) throws -> [String] {
            let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            return names.filter { name in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
            }.sorted()
        }

        @Test func `what is installed works, is told of, and goes again`() async throws {
            let folder = try Folder(), prefix = folder.file("prefix")
            _ = try folder.folder("prefix/bin")
            try folder.write("another's", to: "prefix/bin/other")
            let installed = try await run(["--prefix", "prefix", "--binary", Place.hookswitch], in: folder.path)
            #expect(installed.code == 0 && installed.lines.sorted() == Self.files.map { "installed \(prefix)/\($0)" }, "\(installed.lines)")
            #expect(try files(below: prefix) == (Self.files + ["bin/other"]).sorted())
            let version = try await Program.run("\(prefix)/bin/hookswitch", ["--version"])
            #expect(version.code == 0 && version.lines.count == 1)
            let page = try String(contentsOfFile: "\(prefix)/share/man/man1/hookswitch.1", encoding: .utf8)
            #expect(page.hasPrefix(".TH HOOKSWITCH 1 ") && page.contains("\n.SS hookswitch ladder"))

            let removed = try await run(["--prefix", prefix, "--uninstall"])
            #expect(removed.code == 0 && removed.lines.sorted() == Self.files.map { "removed \(prefix)/\($0)" }, "\(removed.lines)")
            #expect(try files(below: prefix) == ["bin/other"])
            let again = try await run(["--prefix", prefix, "--uninstall"])
            #expect(again.code == 0 && again.lines == ["nothing of hookswitch is installed below \(prefix)"])
        }

        @Test func `the completions are those of each shell, and those of bash complete`() async throws {
            let folder = try Folder(), prefix = folder.file("prefix")
            #expect(try await run(["--prefix", prefix, "--binary", Place.hookswitch]).code == 0)
            let beginnings = [Self.files[1]: "#!/bin/bash", Self.files[2]: "function ", Self.files[4]: "#compdef hookswitch"]
            for (file, beginning) in beginnings {
                #expect(try String(contentsOfFile: "\(prefix)/\(file)", encoding: .utf8).hasPrefix(beginning), "\(file)")
            }
            let words = ["hookswitch", "serve", "--set", "media.o"]
            let typed = """
                source \(prefix)/\(Self.files[1])
                COMP_WORDS=(\(words.joined(separator: " "))) COMP_CWORD=3 COMP_LINE="\(words.joined(separator: " "))" COMP_POINT=32
                _hookswitch hookswitch media.o --set
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let completed = try await Program.run("/bin/bash", ["-c", typed])
            #expect(completed.lines.contains("media.opus.fec="), "\(completed.lines)")
        }

        @Test(arguments: [
            (["--prefix"], "install: --prefix takes a folder"),
            (["--binary", "/etc/passwd"], "install: --binary takes a program, and /etc/passwd is none"),
            (["--prefx", "x"], "install: there is no option '--prefx'"),
        ])
        func `what cannot be done is one line and exit code 2`(arguments: [String], says: String) async throws {
            let result = try await run(arguments)
            #expect(result.code == 2 && result.lines == ["\(says) (see scripts/install --help)"], "\(result.lines)")
        }

        @Test func `a command that prints no page leaves nothing behind`() async throws {
            let folder = try Folder(), prefix = folder.file("prefix")
            let result = try await run(["--prefix", prefix, "--binary", "/usr/bin/false"])
            #expect(result.code == 3 && result.lines == ["install: /usr/bin/false does not print hookswitch.1"], "\(result.lines)")
            #expect(!FileManager.default.fileExists(atPath: prefix))
        }

        @Test func `where nothing can be written is one line and exit code 3`() async throws {
            let result = try await run(["--prefix", "/proc/none", "--binary", Place.hookswitch])
            #expect(
                result.code == 3 && result.lines.count == 1 && result.lines[0].contains("/proc/none/bin cannot be written"),
                "\(result.lines)")
        }
    }
}
