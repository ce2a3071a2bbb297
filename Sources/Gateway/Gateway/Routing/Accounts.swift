import Primitives
import UserAgent

/// The lines that devices register for, as the registrar asks for them.
final class Accounts: AccountDirectory {
    private var accounts: [Text: Account] = [:]

    init(_ lines: [LineConfiguration]) { adopt(lines) }

    /// In place of all that there were.
    func adopt(_ lines: [LineConfiguration]) {
        accounts = [:]
        for line in lines where line.endpoint == .devices {
            accounts[line.number] = line.isOpen ? .open : line.password.map { .password($0) }
        }
    }

    func account(of user: Text) -> Account? { accounts[user] }
}
