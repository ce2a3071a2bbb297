// What the page says, in English and German.

const table = {
  calls: ["Calls", "Anrufe"], lines: ["Lines", "Leitungen"], trunks: ["Trunks", "Trunks"], events: ["Events", "Ereignisse"],
  server: ["Server", "Server"], recents: ["Recent calls of {0}", "Letzte Anrufe von {0}"],
  skip: ["Skip to the content", "Zum Inhalt springen"], views: ["Views", "Ansichten"],
  live: ["live", "live"], away: ["The gateway is away. Trying again.", "Das Gateway ist weg. Neuer Versuch läuft."],
  starting: ["connecting", "verbindet"],
  token: ["Token", "Token"], logIn: ["Log in", "Anmelden"], logOut: ["Log out", "Abmelden"],
  tokenHelp: ["A token of this gateway, as 'hookswitch token create NAME' prints it.",
    "Ein Token dieses Gateways, wie 'hookswitch token create NAME' es ausgibt."],
  wrongToken: ["This is no token of this gateway.", "Das ist kein Token dieses Gateways."],
  callsNow: ["Calls now", "Anrufe jetzt"], endedCalls: ["Ended last", "Zuletzt beendet"],
  noCalls: ["No call is up.", "Kein Anruf besteht."], noEnded: ["None yet.", "Noch keiner."],
  filter: ["Filter", "Filter"], state: ["State", "Zustand"], line: ["Line", "Leitung"], from: ["From", "Von"], to: ["To", "An"],
  duration: ["Duration", "Dauer"], sound: ["Sound", "Ton"], codec: ["Codec", "Codec"], reason: ["Reason", "Grund"],
  quality: ["Quality", "Qualität"], status: ["Status", "Status"], acts: ["Acts", "Aktionen"],
  ringing: ["ringing", "klingelt"], connecting: ["connecting", "verbindet"], connected: ["connected", "verbunden"],
  ended: ["ended", "beendet"], onHold: ["on hold", "gehalten"], muted: ["muted", "stumm"],
  heldByRemote: ["held by the far end", "von der Gegenstelle gehalten"], noMedia: ["no sound", "kein Ton"], flows: ["flows", "läuft"],
  hangUp: ["Hang up", "Auflegen"], hold: ["Hold", "Halten"], resume: ["Resume", "Fortsetzen"], mute: ["Mute", "Stumm"],
  unmute: ["Unmute", "Ton an"], transfer: ["Transfer", "Vermitteln"], transferTo: ["Transfer to", "Vermitteln an"],
  digits: ["Digits", "Ziffern"], send: ["Send", "Senden"], open: ["Open the call of {0}", "Anruf von {0} öffnen"],
  done: ["{0}: done", "{0}: erledigt"], goesOn: ["{0}: under way", "{0}: läuft"], failed: ["{0}: {1}", "{0}: {1}"],
  call: ["Call", "Anruf"], noCall: ["There is no such call.", "Diesen Anruf gibt es nicht."],
  ladder: ["Ladder", "Ablauf"], ladderAsText: ["As text", "Als Text"], ladderAsPicture: ["As a picture", "Als Bild"],
  ticketPage: ["Page for a ticket", "Seite für ein Ticket"], pcap: ["Messages as pcapng", "Nachrichten als pcapng"],
  journal: ["Journal", "Journal"], began: ["Began", "Beginn"], ends: ["Ended", "Ende"], sipCallID: ["Call-ID", "Call-ID"],
  recordings: ["Recordings", "Aufnahmen"], noRecordings: ["None.", "Keine."],
  messageIn: ["Message in the mailbox {0}", "Nachricht im Anrufbeantworter {0}"], newMessage: ["new", "neu"], heardMessage: ["heard", "abgehört"],
  markHeard: ["Mark as heard", "Als abgehört markieren"], markNew: ["Mark as new", "Als neu markieren"],
  overTime: ["Quality over time", "Qualität über die Zeit"], incoming: ["from the far end", "von der Gegenstelle"],
  outgoing: ["to the far end", "zur Gegenstelle"], loss: ["Loss", "Verlust"], jitter: ["Jitter", "Jitter"], mos: ["MOS", "MOS"],
  roundTrip: ["Round trip", "Umlaufzeit"], packets: ["Packets", "Pakete"], heard: ["Heard", "Gehört"], leg: ["Leg", "Seite"],
  direction: ["Direction", "Richtung"], notMeasured: ["not measured", "nicht gemessen"],
  number: ["Number", "Nummer"], name: ["Name", "Name"], kind: ["Kind", "Art"], devices: ["Devices", "Geräte"],
  dnd: ["Do Not Disturb", "Nicht stören"], noDevices: ["none", "keine"], expires: ["{0} s left", "noch {0} s"],
  startCall: ["Start a call", "Anruf beginnen"], start: ["Call", "Anrufen"], callBack: ["Call back", "Zurückrufen"],
  outcome: ["Outcome", "Ausgang"], remote: ["Far end", "Gegenstelle"],
  registration: ["Registration", "Registrierung"], servers: ["Servers", "Server"], down: ["down", "ausgefallen"],
  ofCalls: ["{0} of {1}", "{0} von {1}"], none: ["None.", "Keine."],
  version: ["Version", "Version"], run: ["Run", "Lauf"], started: ["Started", "Gestartet"], readers: ["Readers of events", "Leser"],
  gateways: ["Gateways", "Gateways"], answers: ["answers", "antwortet"],
  rates: ["Connected, refused and ended calls a second", "Verbundene, abgelehnte und beendete Anrufe je Sekunde"],
  perSecond: ["a second", "je Sekunde"], refused: ["refused", "abgelehnt"],
  drain: ["Drain", "Leerlaufen lassen"], reload: ["Read the configuration again", "Konfiguration neu lesen"],
  drainAsk: ["New calls are refused from then on, until the gateway is started again. Go on?",
    "Neue Anrufe werden dann abgelehnt, bis das Gateway neu gestartet wird. Fortfahren?"],
  pause: ["Pause", "Anhalten"], goOn: ["Go on", "Weiter"], time: ["Time", "Zeit"], type: ["Type", "Typ"], details: ["Details", "Einzelheiten"],
  phone: ["Phone", "Telefon"], console: ["Console", "Konsole"], password: ["Password", "Passwort"], domain: ["Domain", "Domain"],
  register: ["Register", "Registrieren"], unregister: ["Leave the line", "Abmelden"], registered: ["registered", "registriert"],
  registering: ["registering", "registriert sich"], stopped: ["not registered", "nicht registriert"],
  noWebSocket: ["This gateway has no 'sip.ws' or 'sip.wss' that the page could use.",
    "Dieses Gateway hat kein 'sip.ws' oder 'sip.wss' für diese Seite."],
  notRegistered: ["The line is not registered.", "Die Leitung ist nicht registriert."],
  keypad: ["Keypad", "Tastenfeld"], key: ["Key {0}", "Taste {0}"], sentDigits: ["Sent {0}", "{0} gesendet"],
  microphone: ["Microphone", "Mikrofon"], speaker: ["Loudspeaker", "Lautsprecher"], farEnd: ["Far end", "Gegenstelle"],
  processed: ["Remove echo and noise", "Echo und Rauschen entfernen"],
  usualDevice: ["that of the system", "das des Systems"], answer: ["Answer", "Annehmen"], decline: ["Decline", "Ablehnen"],
  callsYou: ["Call from {0}", "Anruf von {0}"], connectWith: ["Connect with {0}", "Verbinden mit {0}"],
  refusedThere: ["the far end refused", "die Gegenstelle lehnt ab"], measuredBy: ["Measured by", "Gemessen von"],
  browser: ["this browser", "dieser Browser"], gateway: ["the gateway", "das Gateway"],
  toHere: ["to here", "hierher"], fromHere: ["from here", "von hier"],
  "phone.incoming": ["calls you", "ruft an"], "phone.calling": ["calling", "wird gerufen"], "phone.ringing": ["it rings there", "es klingelt dort"],
  "phone.connecting": ["connecting", "verbindet"], "phone.connected": ["connected", "verbunden"], "phone.ended": ["ended", "beendet"],
  "phone.hungUp": ["hung up here", "hier aufgelegt"], "phone.remoteHungUp": ["hung up there", "dort aufgelegt"],
  "phone.cancelled": ["missed", "verpasst"], "phone.answeredElsewhere": ["answered elsewhere", "woanders angenommen"],
  "phone.noMicrophone": ["no microphone: the browser asks for leave", "kein Mikrofon: der Browser fragt nach Erlaubnis"],
  "phone.lost": ["the connection is lost", "die Verbindung ist verloren"], "phone.transferred": ["transferred", "vermittelt"],
  load: ["Load", "Last"], settings: ["Settings", "Einstellungen"], processor: ["Processor", "Prozessor"], memory: ["Memory", "Speicher"],
  setupTitle: ["From an INVITE to its 200, in ms", "Vom INVITE zum 200, in ms"],
  laneWaitTitle: ["Wait for the signalling lane, in ms", "Warten auf die Signalisierung, in ms"],
  mosTitle: ["MOS of what came, by leg", "MOS des Empfangenen, je Seite"],
  refusedBy: ["Refused since the start, by cause", "Abgelehnt seit dem Start, nach Ursache"], count: ["Count", "Anzahl"],
  legs: ["Legs", "Seiten"], bridges: ["Bridges", "Brücken"], connections: ["Connections", "Verbindungen"],
  freePorts: ["Free media ports", "Freie Medienports"], ofCores: ["of one of {0} cores", "von einem von {0} Kernen"],
  atMost: ["at most {0} so far", "bisher höchstens {0}"], violations: ["Violations", "Regelverstöße"], draining: ["Draining", "Läuft aus"],
  yes: ["yes", "ja"], no: ["no", "nein"], countAndMean: ["{0} values, mean {1}", "{0} Werte, Mittel {1}"],
  check: ["What the check says", "Das sagt die Prüfung"], inForce: ["In force", "In Kraft"], subject: ["Subject", "Gegenstand"],
  value: ["Value", "Wert"], setBy: ["Set by", "Gesetzt durch"], byDefault: ["default", "Vorgabe"], withDefaults: ["with defaults", "mit Vorgaben"],
  warning: ["warning", "Warnung"], fact: ["fact", "Angabe"],
  noRight: ["The login has no scope '{0}'.", "Die Anmeldung hat das Recht '{0}' nicht."],
};

const language = navigator.languages.some(l => /^en\b/.test(l)) && !/^de\b/.test(navigator.language) ? 0
  : navigator.languages.some(l => /^de\b/.test(l)) ? 1 : 0;
document.documentElement.lang = ["en", "de"][language];

/** The words of a key, with values in the place of {0}, {1}. */
export function t(key, ...values) {
  const words = table[key]?.[language] ?? key;
  return words.replace(/\{(\d)\}/g, (_, index) => values[Number(index)] ?? "");
}

const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 2 });
const clock = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "short", timeStyle: "medium" });

export function figure(value, unit = "") {
  return value === undefined || value === null ? t("notMeasured") : number.format(value) + unit;
}

export function date(text) {
  return text ? clock.format(new Date(text)) : "–";
}

/** Seconds as 0:07, 12:30 or 1:02:03. */
export function age(seconds) {
  const whole = Math.max(0, Math.floor(seconds)), two = n => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}
