import Primitives
import UserAgent

/// The lines that devices register for, as the registrar asks for them.
final class Accounts: AccountDirectory {
    private let accounts: [Text: Account]

    init(_ lines: [LineConfiguration]) {
        var accounts: [Text: Account] = [:]
        for line in lines where line.endpoint == .devices {
            accounts[line.number] = line.isOpen ? .open : line.password.map { .password($0) }
        }
        self.accounts = accounts
    }

    func account(of user: Text) -> Account? { accounts[user] }
}
