// How much the gateway does, and how well: set-up times, the wait for its lane, quality, processor and memory.
import { get } from "./api.js";
import { el, foreign, setText, svg, table } from "./dom.js";
import { figure, t } from "./words.js";

const shownSeconds = 120, megabyte = 1_048_576;

export function showLoad(place) {
  const facts = el("dl", { class: "facts" }), refused = el("tbody"), none = el("p", { class: "quiet" }, t("none"));
  const over = [["processor", "%"], ["memory", "MB"]].map(([name, unit]) => {
    const chart = svg("svg", { viewBox: "0 0 600 160", class: "chart", role: "img", "aria-label": t(name) });
    return { name, unit, chart, values: [] };
  });
  const bars = [["setup", 1_000, "ms"], ["laneWait", 1_000, "ms"], ["mos", 1, ""]].map(([name, scale, unit]) => {
    const chart = svg("svg", { viewBox: "0 0 600 170", class: "chart", role: "img" }), words = el("p", { class: "quiet" });
    return { name, scale, unit, chart, words };
  });
  place.append(el("h1", {}, t("load")), facts,
    el("div", { class: "charts" },
      ...over.map(({ name, chart }) => el("section", {}, el("h2", {}, t(name)), chart)),
      ...bars.map(({ name, chart, words }) => el("section", {}, el("h2", {}, t(`${name}Title`)), chart, words))),
    el("h2", {}, t("refusedBy")), table(t("refusedBy"), [t("reason"), t("count")], refused), none);

  let before = null;
  async function draw() {
    const health = await get("/v1/health").catch(() => null);
    if (!health) return;
    const now = performance.now();
    if (before) note(over[0], ((health.processor - before.processor) / ((now - before.at) / 1_000)) * 100);
    note(over[1], (health.memory ?? 0) / megabyte);
    before = { processor: health.processor, at: now };
    const entries = [
      [t("legs"), health.legs], [t("bridges"), health.bridges], [t("devices"), health.contacts], [t("connections"), health.connections],
      [t("freePorts"), health.freePorts], [t("processor"), over[0].values.length === 0 ? "–" : `${figure(over[0].values.at(-1))} % ${t("ofCores", health.cores)}`],
      [t("memory"), `${figure(over[1].values.at(-1))} MB (${t("atMost", figure(Math.max(health.peakMemory, health.memory ?? 0) / megabyte))})`],
      [t("violations"), health.violations], [t("draining"), t(health.draining ? "yes" : "no")],
    ];
    facts.replaceChildren(...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
    over.forEach(drawLine);
    for (const bar of bars) drawBars(bar, health[bar.name]);
    refused.replaceChildren(...health.refused.map(({ cause, count }) =>
      el("tr", {}, el("td", {}, foreign(cause)), el("td", { class: "number" }, String(count)))));
    none.hidden = health.refused.length > 0;
  }

  draw();
  const timer = setInterval(draw, 1_000);
  return { close: () => clearInterval(timer) };
}

function note(series, value) {
  series.values.push(value);
  if (series.values.length > shownSeconds) series.values.shift();
}

function drawLine({ unit, chart, values }) {
  const most = Math.max(1, ...values) * 1.1, step = 600 / (shownSeconds - 1), first = shownSeconds - values.length;
  const y = value => 150 - (value / most) * 130;
  chart.replaceChildren(
    svg("line", { class: "grid", x1: 0, x2: 600, y1: 150, y2: 150 }), svg("text", { x: 2, y: 9 }, `${figure(most)} ${unit}`),
    svg("polyline", { class: "connected", points: values.map((value, at) => `${((first + at) * step).toFixed(1)},${y(value).toFixed(1)}`).join(" ") }));
}

/** A bar for each bucket, with its bound below and its count above. */
function drawBars({ name, scale, unit, chart, words }, histogram) {
  const { buckets, count, mean } = histogram, most = Math.max(1, ...buckets.map(bucket => bucket.count)), width = 600 / buckets.length;
  const bound = ({ upTo }, index) => (upTo === undefined ? `> ${short((buckets[index - 1]?.upTo ?? 0) * scale)}` : `≤ ${short(upTo * scale)}`);
  chart.setAttribute("aria-label", `${t(`${name}Title`)}: ${buckets.map((bucket, index) => `${bound(bucket, index)} ${unit}: ${bucket.count}`).join(", ")}`);
  chart.replaceChildren(
    svg("line", { class: "grid", x1: 0, x2: 600, y1: 150, y2: 150 }),
    ...buckets.flatMap((bucket, index) => {
      const height = (bucket.count / most) * 130, middle = (index + 0.5) * width;
      return [
        svg("rect", { class: "bar", x: index * width + 1, width: width - 2, y: 150 - height, height }),
        bucket.count > 0 && svg("text", { x: middle, y: 146 - height, "text-anchor": "middle" }, String(bucket.count)),
        svg("text", { x: middle, y: 162, "text-anchor": "middle" }, bound(bucket, index)),
      ].filter(Boolean);
    }));
  setText(words, count === 0 ? t("notMeasured") : t("countAndMean", count, `${figure(mean * scale)} ${unit}`.trim()));
}

const short = value => String(Number(value.toPrecision(3)));
