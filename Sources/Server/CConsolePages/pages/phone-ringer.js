// The tones of the telephone itself: it rings, it knocks while one talks, and it lets one hear that the other rings.

const tones = {
  ring: { frequencies: [660, 880], on: 1, every: 4 },
  knock: { frequencies: [440], on: 0.2, every: 5 },
  ringback: { frequencies: [425], on: 1, every: 5 },
};

export class Ringer {
  #context = null;
  #playing = null;
  #timer = 0;

  /** Within a press of a button: browsers let a page sound from then on alone. */
  unlock() {
    this.#context ??= new AudioContext();
    this.#context.resume().catch(() => null);
  }

  /** One of the tones, until another; null: silence. */
  play(name) {
    if (name === this.#playing) return;
    clearInterval(this.#timer);
    this.#playing = name;
    if (name === null || this.#context === null) return;
    this.#sound(tones[name]);
    this.#timer = setInterval(() => this.#sound(tones[name]), 1_000 * tones[name].every);
  }

  #sound({ frequencies, on }) {
    const gain = this.#context.createGain(), now = this.#context.currentTime;
    gain.gain.value = 0.05;
    gain.connect(this.#context.destination);
    for (const frequency of frequencies) {
      const oscillator = this.#context.createOscillator();
      oscillator.frequency.value = frequency;
      oscillator.connect(gain);
      oscillator.start(now);
      oscillator.stop(now + on);
    }
  }
}
