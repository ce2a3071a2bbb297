// Trunks: whether each can be reached, and how full it is.
import { get } from "./api.js";
import { el, foreign, replaceRows, table } from "./dom.js";
import { refreshed } from "./lines.js";
import { t } from "./words.js";

export function showTrunks(place, page) {
  const body = el("tbody"), none = el("p", { class: "quiet", hidden: true }, t("none"));
  place.append(el("h1", {}, t("trunks")),
    table(t("trunks"), [t("number"), t("name"), t("state"), t("registration"), t("calls"), t("servers")], body), none);

  async function draw() {
    const { trunks } = await get("/v1/trunks").catch(() => ({ trunks: [] }));
    none.hidden = trunks.length > 0;
    replaceRows(body, trunks.map(trunk => el("tr", { class: trunk.state === "up" ? null : "bad" },
      el("td", {}, foreign(trunk.line)), el("td", {}, foreign(trunk.name ?? "–")), el("td", {}, trunk.state),
      el("td", {}, [trunk.registration, trunk.registrationStatus, trunk.isHeld ? null : `(${trunk.node ?? "–"})`].filter(Boolean).join(" ")),
      el("td", { class: "number" }, t("ofCalls", trunk.calls, trunk.maximumCalls)),
      el("td", {}, el("ul", {}, trunk.servers.map(server =>
        el("li", {}, foreign(`${server.name} ${server.transport} ${server.address}`), server.isDown ? ` (${t("down")})` : "")))))));
  }

  return refreshed(page, draw, ["trunk.state", "server.reloaded", "call.ended", "call.connected"]);
}
