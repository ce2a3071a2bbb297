/// The findings of the doctor.
struct DoctorReport: Codable, Equatable {
    enum Grade: String, Codable { case good, note, bad }

    struct Finding: Codable, Equatable {
        var grade: Grade
        /// The subject that was looked at.
        var subject: String
        var text: String
        /// The remedy.
        var remedy: String?
    }

    var findings: [Finding]

    var isSick: Bool { findings.contains { $0.grade == .bad } }

    var text: String {
        let marks: [Grade: String] = [.good: "good", .note: "note", .bad: "BAD "]
        let width = findings.map(\.subject.count).max() ?? 0
        let lines = findings.flatMap { finding -> [String] in
            let subject = finding.subject + String(repeating: " ", count: width - finding.subject.count)
            let indent = String(repeating: " ", count: width + 8)
            return ["\(marks[finding.grade] ?? "")  \(subject)  \(finding.text)"] + (finding.remedy.map { ["\(indent)→ \($0)"] } ?? [])
        }
        return
            (lines + [
                "",
                isSick
                    ? "something is broken"
                    : "nothing is broken; whether others can reach it, 'hookswitch probe ADDRESS' tells from outside",
            ]).joined(separator: "\n")
    }
}
