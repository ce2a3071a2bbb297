import CallJournal
import CallKit
import Foundation
import Gateway
import HTTP
import Primitives

/// A registration as `/v1/lines/{number}/registrations` shows it.
struct RegistrationBody: Encodable {
    var id: String
    var contact: String, agent: String?, expires: Int

    init(_ device: LineSummary.Device) {
        (id, contact) = (Self.id(of: device.contact), device.contact.description)
        (agent, expires) = (device.agent?.description, device.expires)
    }

    /// The Contact's hash, which can stand in a path: FNV-1a, 64 bits.
    static func id(of contact: Text) -> String {
        let hash = contact.bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

// Registrations of a line, changes of a line, and calls back.
struct RegistrationRoutes {
    struct Registrations: Encodable { var registrations: [RegistrationBody] }
    /// The settings of a line that may be changed while it runs, beside the configuration.
    struct LineForm: Codable { var doNotDisturb: Bool }

    unowned let api: ControlAPI

    func add(to routes: inout HTTPRoutes) {
        routes.on(.get, "/v1/lines/{number}/registrations") { ask, responder in
            api.readLine(ask, responder) { line in
                JSONBody.reply(.ok, Registrations(registrations: line.devices.map(RegistrationBody.init)))
            }
        }
        routes.on(.delete, "/v1/lines/{number}/registrations/{registration}") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try unregister(ask, responder) }
        }
        routes.on(.patch, "/v1/lines/{number}") { ask, responder in
            api.change(ask, responder) { gateway, number, then throws(Problem) in
                let form = try JSONBody.decode(LineForm.self, ask.request.body, as: "LineChange")
                gateway.setDoNotDisturb(form.doNotDisturb, ofLine: number, then: then)
            }
        }
        routes.on(.post, "/v1/lines/{number}/recents/{id}/call-back") { ask, responder in
            api.answer(ask, responder) { () throws(Problem) in try callBack(ask, responder) }
        }
    }

    /// The line is read anew: a registration that is gone meanwhile is not there.
    private func unregister(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let number = Text(try api.number(ask)), id = ask.parameters["registration"] ?? "", gateway = try api.running(),
            later = api.park(responder)
        let missing = Problem.notFound("line \(number) has no registration \(id)")
        gateway.lineSummaries { lines in
            let devices = lines.first { $0.number == number }?.devices ?? []
            guard let device = devices.first(where: { RegistrationBody.id(of: $0.contact) == id }) else {
                return later { responder, now in responder.reply(missing.reply, at: now) }
            }
            gateway.unregister(device.contact, ofLine: number) { isDone in
                later { responder, now in responder.reply(isDone ? HTTPReply(.noContent) : missing.reply, at: now) }
            }
        }
        api.lines.invalidate()
        return nil
    }

    /// A call to whom a recent call was with, as a transaction of one action.
    private func callBack(_ ask: HTTPAsk, _ responder: HTTPResponder) throws(Problem) -> HTTPReply? {
        let number = try api.number(ask), line = Text(number), id = try api.uuid("id", in: ask), later = api.parkToGoOn(responder)
        let content = ask.request.body.isEmpty ? Array("{}".utf8) : ask.request.body
        let options = try JSONBody.decode(ShortFormOptions.self, content, as: "CallBackForm")
        try api.running().recents(ofLines: [line]) { recents in
            let handle = recents[line]?.first { $0.id == id }?.handle
            later { api, responder, now in
                guard let handle, !handle.isEmpty else {
                    let missing = Problem.notFound("line \(number) has no recent call \(id) that can be called back")
                    return responder.reply(missing.reply, at: now)
                }
                let action = TransactionBody.Action(type: "CXStartCallAction", handle: .init(value: handle))
                let body = TransactionBody(
                    id: options.transaction, line: number, actions: [action], wait: options.wait, within: options.within)
                api.answer(ask, responder) { () throws(Problem) in try api.transact(body, ask, responder) }
            }
        }
        return nil
    }
}
