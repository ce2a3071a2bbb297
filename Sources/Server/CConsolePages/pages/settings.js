// The settings in force, and what their check says. Secrets do not come here.
import { get } from "./api.js";
import { el, foreign, table } from "./dom.js";
import { t } from "./words.js";

export function showSettings(place, page) {
  const body = el("tbody"), findings = el("tbody"), filter = el("input", { type: "search", id: "settings-filter", oninput: () => draw() });
  const all = el("input", { type: "checkbox", id: "settings-all", onchange: () => draw() });
  const problem = el("p", { role: "alert", class: "bad" });
  place.append(el("h1", {}, t("settings")));
  if (!page.may("admin")) {
    place.append(el("p", { class: "bad", role: "alert" }, t("noRight", "admin")));
    return {};
  }
  place.append(problem, el("h2", {}, t("check")), table(t("check"), [t("state"), t("subject"), t("details")], findings),
    el("h2", {}, t("inForce")),
    el("p", { class: "row" }, el("label", { for: "settings-filter" }, t("filter"), " "), filter, all, el("label", { for: "settings-all" }, t("withDefaults"))),
    table(t("settings"), [t("name"), t("value"), t("setBy"), t("details")], body));

  let report = null;
  function draw() {
    if (!report) return;
    const wanted = filter.value.trim().toLowerCase();
    const shown = report.settings.filter(setting => (all.checked || setting.value !== undefined)
      && (wanted === "" || [setting.path, setting.value, setting.help].some(text => text?.toLowerCase().includes(wanted))));
    body.replaceChildren(...shown.map(setting => el("tr", { "data-setting": setting.path },
      el("td", {}, setting.path),
      el("td", { class: "words" }, setting.value === undefined ? el("span", { class: "quiet" }, foreign(setting.default)) : foreign(setting.value)),
      el("td", {}, setting.place === undefined ? el("span", { class: "quiet" }, t("byDefault")) : foreign(setting.place)),
      el("td", { class: "words" }, foreign(setting.help)))));
    findings.replaceChildren(...report.findings.map(finding => el("tr", { class: finding.grade === "warning" ? "bad" : null },
      el("td", {}, t(finding.grade)), el("td", {}, foreign(finding.subject)), el("td", { class: "words" }, foreign(finding.text)))));
  }

  async function read() {
    try {
      report = await get("/v1/settings");
      problem.textContent = "";
      draw();
    } catch (error) {
      problem.textContent = error.message;
    }
  }

  read();
  let seen = page.live.events.at(-1)?.id;
  const stop = page.live.listen(() => {
    const fresh = page.live.events.slice(page.live.events.findLastIndex(({ id }) => id === seen) + 1);
    seen = page.live.events.at(-1)?.id;
    if (fresh.some(({ type }) => type === "server.reloaded")) read();
  });
  return { close: stop };
}
