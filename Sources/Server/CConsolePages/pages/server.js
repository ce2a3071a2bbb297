// The server: what runs, how much it does, and what its owner may ask of it.
import { gatewayNow, get } from "./api.js";
import { el, foreign, setText, svg, table } from "./dom.js";
import { age, date, t } from "./words.js";

const shownSeconds = 120;

export function showServer(place, page) {
  const facts = el("dl", { class: "facts" });
  const chart = svg("svg", { viewBox: "0 0 600 160", class: "chart", role: "img", "aria-label": t("rates") });
  const now = el("p", { class: "legend" });
  const nodes = el("tbody"), nodesTable = table(t("gateways"), [t("name"), t("state"), t("version"), t("calls")], nodes);
  nodesTable.hidden = true;
  place.append(el("h1", {}, t("server")), facts, nodesTable,
    el("div", { class: "acts" },
      page.button(t("reload"), "admin", () => page.act(t("reload"), "POST", "/v1/server/reload")),
      page.button(t("drain"), "admin", () => { if (confirm(t("drainAsk"))) page.act(t("drain"), "POST", "/v1/server/drain"); }, { class: "danger" })),
    el("h2", {}, t("rates")), chart, now);

  async function draw() {
    const server = await get("/v1/server").catch(() => null);
    if (!server) return;
    const entries = [
      [t("version"), server.version], [t("run"), server.run ?? "–"], [t("started"), date(server.started)],
      [t("duration"), server.started ? age((gatewayNow() - Date.parse(server.started)) / 1_000) : "–"],
      [t("calls"), String(server.calls)], [t("readers"), String(server.readers)],
    ];
    if (server.nodes) drawNodes(server.nodes);
    facts.replaceChildren(...entries.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
    drawChart();
  }

  function drawNodes(all) {
    nodesTable.hidden = false;
    nodes.replaceChildren(...all.map(({ node, isUp, error, version, calls }) => el("tr", { class: isUp ? null : "bad" },
      el("td", {}, foreign(node)), el("td", {}, isUp ? t("answers") : foreign(error)), el("td", {}, version ?? "–"),
      el("td", { class: "number" }, String(calls ?? "–")))));
  }

  function drawChart() {
    const last = Math.floor(gatewayNow() / 1_000) - 1, kinds = ["connected", "refused", "ended"], width = 600, height = 140;
    const series = kinds.map(kind => Array.from({ length: shownSeconds }, (_, index) =>
      page.live.seconds.get(last - shownSeconds + 1 + index)?.[kind] ?? 0));
    const most = Math.max(1, ...series.flat()), step = width / (shownSeconds - 1);
    chart.replaceChildren(
      svg("line", { class: "grid", x1: 0, x2: width, y1: height + 10, y2: height + 10 }), svg("text", { x: 2, y: 9 }, `${most} ${t("perSecond")}`),
      ...series.map((values, index) => svg("polyline", {
        class: kinds[index], points: values.map((value, at) => `${(at * step).toFixed(1)},${(height + 10 - (value / most) * height).toFixed(1)}`).join(" "),
      })));
    const means = series.map(values => values.slice(-10).reduce((sum, value) => sum + value, 0) / 10);
    now.replaceChildren(...kinds.flatMap((kind, index) => [el("span", { class: kind }, `${t(kind)} ${means[index].toFixed(1)} ${t("perSecond")}`), " "]));
  }

  draw();
  const timer = setInterval(draw, 1_000);
  return { close: () => clearInterval(timer) };
}
