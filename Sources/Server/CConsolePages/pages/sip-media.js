// The sound of one call: an RTCPeerConnection with one microphone and one loudspeaker.

const longestGathering = 2_000, enoughGathering = 200;

async function microphoneTrack(device, isProcessed) {
  const processing = { echoCancellation: isProcessed, noiseSuppression: isProcessed, autoGainControl: isProcessed };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { ...processing, ...(device ? { deviceId: { exact: device } } : {}) } });
  return stream.getAudioTracks()[0];
}

export class SipMedia {
  isMuted = false;
  isHeld = false;
  /** Called when no way to the far end is left. */
  failed = () => {};
  #connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  #microphone;
  #speaker;

  /**
   * Opens the microphone; throws what the browser throws where it may not.
   * `speaker` is an audio element, `microphone` a device or empty; `isProcessed`: without echo and noise, and as loud as people speak.
   */
  static async open(speaker, microphone, isProcessed) {
    return new SipMedia(await microphoneTrack(microphone, isProcessed), speaker);
  }

  constructor(microphone, speaker) {
    [this.#microphone, this.#speaker] = [microphone, speaker];
    this.#connection.addTrack(microphone, new MediaStream([microphone]));
    this.#connection.ontrack = ({ track }) => {
      speaker.srcObject = new MediaStream([track]);
      speaker.play().catch(() => null);
    };
    this.#connection.onconnectionstatechange = () => {
      if (this.#connection.connectionState === "failed") this.failed();
    };
  }

  /** Our offer. `restart`: over other addresses than before. */
  async offer(restart = false) {
    this.#direct();
    await this.#connection.setLocalDescription(await this.#connection.createOffer({ iceRestart: restart }));
    return this.#gathered();
  }

  async takeAnswer(sdp) {
    await this.#connection.setRemoteDescription({ type: "answer", sdp });
  }

  /** Our answer to an offer of theirs. */
  async answer(sdp) {
    await this.#connection.setRemoteDescription({ type: "offer", sdp });
    this.#direct();
    await this.#connection.setLocalDescription(await this.#connection.createAnswer());
    return this.#gathered();
  }

  /** Takes back an offer that was refused. */
  async rollBack() {
    if (this.#connection.signalingState === "have-local-offer") await this.#connection.setLocalDescription({ type: "rollback" });
  }

  /** What their last description said of its direction. */
  get isHeldByRemote() {
    const sdp = this.#connection.remoteDescription?.sdp ?? "";
    return /^a=(sendonly|inactive)\s*$/m.test(sdp);
  }

  mute(isMuted) {
    this.isMuted = isMuted;
    this.#microphone.enabled = !this.isMuted && !this.isHeld;
  }

  /** Takes effect with the next offer. */
  hold(isHeld) {
    this.isHeld = isHeld;
    this.mute(this.isMuted);
  }

  #direct() {
    for (const transceiver of this.#connection.getTransceivers()) transceiver.direction = this.isHeld ? "sendonly" : "sendrecv";
  }

  /** Our description with its candidates: all of them, or those that came soon. */
  #gathered() {
    return new Promise(resolve => {
      const connection = this.#connection, done = () => resolve(connection.localDescription.sdp);
      if (connection.iceGatheringState === "complete") return done();
      setTimeout(done, longestGathering);
      connection.onicecandidate = ({ candidate }) => (candidate ? setTimeout(done, enoughGathering) : done());
    });
  }

  /** Digits as telephone-events (RFC 4733); false where the far end takes none. */
  sendDigits(digits) {
    const sender = this.#connection.getSenders()[0]?.dtmf;
    if (!sender?.canInsertDTMF) return false;
    sender.insertDTMF(sender.toneBuffer + digits, 100, 70);
    return true;
  }

  async useMicrophone(device, isProcessed) {
    const track = await microphoneTrack(device, isProcessed);
    this.#microphone.stop();
    this.#microphone = track;
    await this.#connection.getSenders()[0].replaceTrack(this.#microphone);
    this.mute(this.isMuted);
  }

  async useSpeaker(device) {
    await this.#speaker.setSinkId?.(device);
  }

  /** What this browser measures: levels from 0 to 1, times in ms, losses in percent. */
  async measure() {
    const found = {}, kinds = new Set(["inbound-rtp", "remote-inbound-rtp", "outbound-rtp", "media-source"]);
    const report = await this.#connection.getStats();
    for (const entry of report.values()) if (kinds.has(entry.type) && (entry.kind ?? "audio") === "audio") found[entry.type] = entry;
    const incoming = found["inbound-rtp"], outgoing = found["outbound-rtp"], heard = found["remote-inbound-rtp"];
    const share = (lost, all) => (all > 0 ? (100 * Math.max(0, lost)) / all : 0);
    const milliseconds = seconds => (seconds === undefined ? undefined : 1_000 * seconds);
    return {
      codec: report.get(incoming?.codecId ?? outgoing?.codecId)?.mimeType?.replace(/^audio\//, ""),
      roundTrip: milliseconds(heard?.roundTripTime),
      incoming: incoming && {
        packets: incoming.packetsReceived, jitter: milliseconds(incoming.jitter), level: incoming.audioLevel ?? 0,
        lossPercent: share(incoming.packetsLost, incoming.packetsLost + incoming.packetsReceived),
      },
      outgoing: outgoing && {
        packets: outgoing.packetsSent, jitter: milliseconds(heard?.jitter), level: found["media-source"]?.audioLevel ?? 0,
        lossPercent: heard && share(heard.packetsLost, outgoing.packetsSent),
      },
    };
  }

  close() {
    this.#connection.close();
    this.#microphone.stop();
    this.#speaker.srcObject = null;
  }
}
