"""A telephone of pjsip's (pjsua2), steered by the lines that it reads from a pipe.

    pjsua-phone.py --server HOST:PORT --port PORT --user U --password P --codec PCMU --play WAV --record WAV --commands PIPE [--answers]

Reads: dial NUMBER, answer STATUS, hang up, hold, resume, update, keys 12#, info 12#, transfer NUMBER, quit.
Says what happens, a line each: REGISTERED, RINGING, CALLED, CONNECTED, SOUND, HELD, HEARD n (n seconds are recorded), KEY k, ENDED status reason.
"""

import argparse
import os
import sys

import pjsua2 as pj


def say(*words):
    print(*words, flush=True)


class Log(pj.LogWriter):
    """Kept quiet but for errors: the test reads what the telephone says."""

    def write(self, entry):
        if entry.level <= int(os.environ.get("PJSUA_LOG", "1")):
            say("LOG", entry.msg.rstrip())


class Call(pj.Call):
    def __init__(self, phone, number=pj.PJSUA_INVALID_ID):
        super().__init__(phone, number)
        self.phone = phone
        self.was_heard = False

    def onCallState(self, _):
        info = self.getInfo()
        if info.state == pj.PJSIP_INV_STATE_EARLY and info.role == pj.PJSIP_ROLE_UAC:
            say("RINGING", info.lastStatusCode)
        elif info.state == pj.PJSIP_INV_STATE_CONFIRMED:
            say("CONNECTED")
        elif info.state == pj.PJSIP_INV_STATE_DISCONNECTED:
            say("ENDED", info.lastStatusCode, info.lastReason)
            self.phone.ended.append(self)

    def onCallMediaState(self, _):
        info = self.getInfo()   # what it holds goes with it
        if any(media.type == pj.PJMEDIA_TYPE_AUDIO and media.status == pj.PJSUA_CALL_MEDIA_ACTIVE for media in info.media):
            sound = self.getAudioMedia(-1)
            self.phone.player.startTransmit(sound)
            sound.startTransmit(self.phone.recorder)
            say("SOUND")
        else:
            say("HELD")

    def onDtmfDigit(self, parameter):
        say("KEY", parameter.digit)


class Phone(pj.Account):
    def __init__(self, options):
        super().__init__()
        self.options, self.calls, self.ended = options, [], []

    def onRegState(self, _):
        info = self.getInfo()
        say("REGISTERED" if info.regIsActive else f"UNREGISTERED {info.regStatus} {info.regStatusText}")

    def onIncomingCall(self, parameter):
        call = Call(self, parameter.callId)
        self.calls.append(call)
        self.answer(call, 180)
        say("CALLED")
        if self.options.answers:
            self.answer(call, 200)

    @staticmethod
    def answer(call, status):
        parameter = pj.CallOpParam()
        parameter.statusCode = status
        call.answer(parameter)

    def obey(self, line):
        command, _, word = line.partition(" ")
        plain = pj.CallOpParam(True)
        if command == "dial":
            call = Call(self)
            self.calls.append(call)
            call.makeCall(f"sip:{word}@{self.options.server}{self.options.suffix}", plain)
            return
        call = self.calls[-1]
        if command == "answer":
            self.answer(call, int(word))
        elif command == "hang":
            call.hangup(pj.CallOpParam())
        elif command == "hold":
            call.setHold(plain)
        elif command == "resume":
            plain.opt.flag = pj.PJSUA_CALL_UNHOLD
            call.reinvite(plain)
        elif command == "update":
            call.update(plain)
        elif command in ("keys", "info"):
            parameter = pj.CallSendDtmfParam()
            parameter.method = pj.PJSUA_DTMF_METHOD_RFC2833 if command == "keys" else pj.PJSUA_DTMF_METHOD_SIP_INFO
            parameter.digits = word
            call.sendDtmf(parameter)
        elif command == "transfer":
            call.xfer(f"sip:{word}@{self.options.server}{self.options.suffix}", pj.CallOpParam())


def configuration(options):
    account = pj.AccountConfig()
    account.idUri = f"sip:{options.user}@{options.server}"
    account.regConfig.registrarUri = f"sip:{options.server}{options.suffix}"
    account.regConfig.timeoutSec = 600
    account.sipConfig.authCreds.append(pj.AuthCredInfo("digest", "*", options.user, 0, options.password))
    account.sipConfig.proxies.append(f"sip:{options.server};lr{options.suffix}")
    media = account.mediaConfig
    media.transportConfig.boundAddress = media.transportConfig.publicAddress = "127.0.0.1"
    media.transportConfig.port, media.transportConfig.portRange = options.media_port, 20
    media.rtcpMuxEnabled = options.mux
    account.natConfig.iceEnabled = options.ice
    if options.encryption != "none":
        media.srtpUse, media.srtpSecureSignaling = pj.PJMEDIA_SRTP_MANDATORY, 0
        media.srtpOpt.keyings.append(pj.PJMEDIA_SRTP_KEYING_SDES if options.encryption == "sdes" else pj.PJMEDIA_SRTP_KEYING_DTLS_SRTP)
    return account


def endpoint(options):
    endpoint, configuration, log = pj.Endpoint(), pj.EpConfig(), Log()
    endpoint.log = log
    endpoint.libCreate()
    configuration.uaConfig.threadCnt, configuration.uaConfig.mainThreadOnly = 0, True
    configuration.logConfig.writer, configuration.logConfig.decor, configuration.logConfig.consoleLevel = log, 0, 5
    configuration.medConfig.clockRate, configuration.medConfig.noVad, configuration.medConfig.ecTailLen = options.rate, True, 0
    endpoint.libInit(configuration)
    log.__disown__()
    transport = pj.TransportConfig()
    transport.port, transport.boundAddress = options.port, "127.0.0.1"
    if options.ca:
        transport.tlsConfig.CaListFile, transport.tlsConfig.verifyServer = options.ca, True
    endpoint.transportCreate(getattr(pj, "PJSIP_TRANSPORT_" + options.transport.upper()), transport)
    for codec in endpoint.codecEnum2():
        endpoint.codecSetPriority(codec.codecId, 255 if codec.codecId.startswith(options.codec) else 0)
    endpoint.libStart()
    endpoint.audDevManager().setNullDev()
    return endpoint


def run(options):
    library = endpoint(options)
    phone = Phone(options)
    phone.player, phone.recorder = pj.AudioMediaPlayer(), pj.AudioMediaRecorder()
    phone.player.createPlayer(options.play, pj.PJMEDIA_FILE_NO_LOOP)
    phone.recorder.createRecorder(options.record)
    phone.create(configuration(options))
    commands, rest, told = os.open(options.commands, os.O_RDWR | os.O_NONBLOCK), "", 0
    while "quit" not in rest:
        library.libHandleEvents(10)
        phone.calls = [call for call in phone.calls if call not in phone.ended]
        phone.ended.clear()
        seconds = os.path.getsize(options.record) // (2 * options.rate)
        if seconds > told:
            told = seconds
            say("HEARD", told)
        try:
            rest += os.read(commands, 4096).decode()
        except BlockingIOError:
            continue
        while "\n" in rest:
            line, _, rest = rest.partition("\n")
            if line == "quit":
                rest = line
                break
            try:
                phone.obey(line)
            except (pj.Error, IndexError) as error:
                say("FAILED", line, error)
    library.hangupAllCalls()
    phone.recorder = None
    say("STOPPED")
    # Its library ends threads in an order that Python's own end does not like.
    os._exit(0)


parser = argparse.ArgumentParser()
for name in ("server", "user", "password", "codec", "play", "record", "commands", "ca"):
    parser.add_argument("--" + name)
parser.add_argument("--transport", default="udp", choices=["udp", "tcp", "tls"])
parser.add_argument("--encryption", default="none", choices=["none", "sdes", "dtls"])
parser.add_argument("--port", type=int)
parser.add_argument("--media-port", type=int)
parser.add_argument("--rate", type=int, default=16000)
for name in ("answers", "mux", "ice"):
    parser.add_argument("--" + name, action="store_true")
options = parser.parse_args()
options.suffix = "" if options.transport == "udp" else f";transport={options.transport}"
sys.exit(run(options))
