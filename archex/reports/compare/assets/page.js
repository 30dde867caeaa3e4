// What is chosen, and drawing all of it anew when a choice changes.
const SHOWN = 20, MOST_FLIPS = 15;
const byId = (id) => document.getElementById(id);
const chosen = { baseline: data.baseline, design: null, launch: null, sorted: { column: 2, down: true }, launchSorted: { column: 3, down: true }, filter: "", first: 0 };
let ranking = [];

const COLUMNS = [
  ["", "", false],
  ["design", "", true, (s) => data.designs[s.design]],
  ["speed-up", "n", true, (s) => s.mean?.value],
  ["at least .. at most", "n bound", true, (s) => s.mean?.low],
  ["faster", "n", true, (s) => s.faster],
  ["slower", "n", true, (s) => s.slower],
  ["within error", "n bound", true, (s) => s.unsure],
  ["best", "", true, (s) => s.best?.value],
  ["worst", "", true, (s) => s.worst?.value],
  ["launches", "n", true, (s) => s.launches],
];
const LAUNCH_COLUMNS = [
  ["launch", "", true, (c) => c.name],
  ["baseline", "n", true, (c) => c.old],
  ["time", "n", true, (c) => c.young],
  ["speed-up", "n", true, (c) => c.ratio?.value],
  ["mostly", "", true, (c) => c.mostly],
  ["limiter", "", true, (c) => c.limiter],
];

// Unknown values stay last either way.
function ordered(rows, key, down) {
  const known = (v) => v !== undefined && v !== null && !Number.isNaN(v);
  return rows.map((row) => [row, key(row)]).sort(([, a], [, b]) => {
    if (!known(a) || !known(b)) return known(b) - known(a);
    return (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b) * (down ? -1 : 1);
  }).map(([row]) => row);
}

function choose(sorted, columns, place) {
  const number = columns[place][1].startsWith("n") || /best|worst/.test(columns[place][0]);
  return sorted.column === place ? { column: place, down: !sorted.down } : { column: place, down: number };
}

// Words must be in the label; `>1.1` and `<0.9` bound the speed-up.
function passes(found) {
  const label = data.designs[found.design].toLowerCase();
  return chosen.filter.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const bound = /^([<>])(\d*\.?\d+)x?$/.exec(word);
    if (!bound) return label.includes(word);
    return found.mean !== null && (bound[1] === ">" ? found.mean.value > bound[2] : found.mean.value < bound[2]);
  });
}

function showDesigns() {
  byId("baseline").textContent = data.designs[chosen.baseline];
  const sort = (place) => { chosen.sorted = choose(chosen.sorted, COLUMNS, place); chosen.first = 0; showDesigns(); };
  byId("designs").classList.toggle("exact", ranking.every((s) => !s.mean || (s.mean.low === s.mean.high && !s.unsure)));
  headings(byId("designs"), COLUMNS, chosen.sorted, sort);
  const rows = ordered(ranking.filter(passes), COLUMNS[chosen.sorted.column][3], chosen.sorted.down);
  chosen.first = Math.min(chosen.first, Math.max(0, Math.ceil(rows.length / SHOWN) - 1) * SHOWN);
  const most = Math.max(1.1, ...ranking.map((s) => (s.mean ? Math.max(s.mean.value, 1 / s.mean.value) : 1)).filter(Number.isFinite).slice(0, 100));
  byId("designs").tBodies[0].replaceChildren(...rows.slice(chosen.first, chosen.first + SHOWN).map((s) => designRow(s, most)));
  const last = Math.min(rows.length, chosen.first + SHOWN);
  byId("range").textContent = rows.length ? `${(chosen.first + 1).toLocaleString("en-US")} to ${last.toLocaleString("en-US")} of ${rows.length.toLocaleString("en-US")}` : "no design passes the filter";
  byId("previous").disabled = chosen.first === 0;
  byId("next").disabled = last >= rows.length;
}

function designRow(s, most) {
  const isBaseline = s.design === chosen.baseline, label = data.designs[s.design];
  const set = (event) => { event.stopPropagation(); setBaseline(s.design); };
  const first = isBaseline ? element("span", { class: "badge" }, "baseline") : element("button", { class: "set", title: "make it the baseline", on: { click: set } }, "set");
  const end = (e) => (isBaseline || !e ? "-" : `${ratioText(e.value)} ${data.launches[e.launch]}`);
  const tally = (count) => (isBaseline || !s.mean ? "-" : String(count));
  const mean = !s.mean ? "-" : isBaseline ? "1x" : speedUp(s.mean);
  const speed = cell(mean);
  speed.append(s.mean && !isBaseline ? bar(s.mean, most) : element("span", { class: "bar empty" }));
  const open = () => { chosen.design = s.design; showDesigns(); showDesign(); };
  return element(
    "tr", isBaseline ? {} : { class: s.design === chosen.design ? "open chosen" : "open", tabindex: 0, on: pressed(open) },
    cell(first, ""), element("td", { class: "label", title: label }, label), speed, cell(isBaseline || !s.mean ? "-" : bounds(s.mean), "n bound"),
    cell(tally(s.faster)), cell(tally(s.slower)), cell(tally(s.unsure), "n bound"), ...[s.best, s.worst].map((e) => element("td", { class: "end", title: end(e) }, end(e))), cell(String(s.launches)),
  );
}

function setBaseline(design) {
  chosen.baseline = design;
  if (chosen.design === design) chosen.design = null;
  compare();
}

function changes() {
  return data.launches.map((name, launch) => {
    const one = ratio(chosen.baseline, chosen.design, launch);
    const [old, young] = [time(chosen.baseline, launch), time(chosen.design, launch)];
    const [before, after] = [chosen.baseline, chosen.design].map((d) => data.limiters[value("limiter", d, launch)] ?? "-");
    const largest = one && Object.entries(contributions(chosen.baseline, chosen.design, launch)).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))[0];
    const mostly = one && one.verdict !== "same" ? `${data.mechanisms[largest[0]]} ${signedTime(largest[1])}` : "-";
    return { name, launch, ratio: one, old, young, mostly, limiter: before === after ? before : `${before} \u2192 ${after}` };
  });
}

function showDesign() {
  byId("design").hidden = chosen.design === null;
  if (chosen.design === null) { byId("launch").hidden = true; return; }
  const found = standing(chosen.baseline, chosen.design);
  byId("versus").textContent = `${data.designs[chosen.design]} against ${data.designs[chosen.baseline]}`;
  const parts = found.mean && [[found.faster, "faster"], [found.slower, "slower"], [found.unsure, "within error"], [found.same, `within ${100 * data.margin} %`]];
  const interval = found.mean && found.mean.low !== found.mean.high ? ` (${bounds(found.mean)})` : "";
  byId("verdict").textContent = found.mean
    ? `${ratioText(found.mean.value)}${interval} over ${found.launches} ${found.launches === 1 ? "launch" : "launches"}: ${parts.filter(([count]) => count).map(([count, what]) => `${count} ${what}`).join(", ")}`
    : "no launch that both have a time of";
  byId("factors").replaceChildren(...(found.mean ? [factorsDrawing(overSuite(chosen.baseline, chosen.design))] : []));
  const sort = (place) => { chosen.launchSorted = choose(chosen.launchSorted, LAUNCH_COLUMNS, place); showDesign(); };
  headings(byId("launches"), LAUNCH_COLUMNS, chosen.launchSorted, sort);
  const rows = ordered(changes(), LAUNCH_COLUMNS[chosen.launchSorted.column][3], chosen.launchSorted.down);
  byId("launches").tBodies[0].replaceChildren(...rows.map(launchRow));
  showLaunch();
}

function launchRow(c) {
  const texts = [[chosen.baseline, c.old], [chosen.design, c.young]].map(([d, ns]) => cell(Number.isNaN(ns) ? said(d, c.launch) : timeText(ns)));
  const open = () => { chosen.launch = c.launch; showDesign(); };
  const options = c.ratio ? { class: c.launch === chosen.launch ? "open chosen" : "open", tabindex: 0, on: pressed(open) } : { class: "none" };
  return element("tr", options, cell(c.name, "label"), ...texts, cell(c.ratio ? speedUp(c.ratio) : "-"), cell(c.mostly, ""), cell(c.ratio ? c.limiter : "-", ""));
}

function showLaunch() {
  const { baseline, design, launch } = chosen;
  const one = launch === null ? null : ratio(baseline, design, launch);
  byId("launch").hidden = !one;
  if (!one) return;
  const [old, young] = [time(baseline, launch), time(design, launch)];
  byId("opened").textContent = `${data.launches[launch]}: ${timeText(old)} \u2192 ${timeText(young)}`;
  const unsure = one.verdict === "unsure" ? "; within error: the rows' error bounds could make up the difference" : "";
  byId("difference").textContent = `${ratioText(one.value)}, ${signedTime(young - old)}; the steps add up to the difference${unsure}`;
  byId("waterfall").replaceChildren(waterfallDrawing(old, young, contributions(baseline, design, launch), "baseline", "this design"));
  headings(byId("traffic"), [["counter", ""], ["baseline", "n"], ["this design", "n"], ["change", "n"]], {}, null);
  byId("traffic").tBodies[0].replaceChildren(...trafficRows(baseline, design, launch));
}

function trafficRows(baseline, design, launch) {
  const pair = (name) => [baseline, design].map((d) => value(name, d, launch));
  const rows = [];
  for (const [name, [what, unit]] of Object.entries(data.counts)) {
    const [old, young] = pair(name);
    if (!(old > 0 || young > 0)) continue;
    // A sector is not the same size on every device.
    const alike = unit !== "sectors" || data.devices[baseline] === data.devices[design];
    const change = !alike || !(old > 0) ? "-" : `${signedText(100 * (young / old - 1))} %`;
    rows.push(element("tr", {}, cell(what + (unit === "bytes" ? " (bytes)" : ""), ""), cell(countText(old)), cell(countText(young)), cell(change)));
  }
  for (const [name, what] of Object.entries(data.shares)) {
    const [old, young] = pair(name);
    if (Number.isNaN(old) || Number.isNaN(young)) continue;
    rows.push(element("tr", {}, cell(what, ""), cell(`${old.toFixed(1)} %`), cell(`${young.toFixed(1)} %`), cell(signedText(young - old))));
  }
  return rows;
}

function showFlips() {
  const all = ranking.flatMap((found) => flipsOf(chosen.baseline, found));
  const size = (flip) => Math.abs(Math.log(flip.here.value));
  all.sort((a, b) => size(b) - size(a));
  byId("flips").hidden = !all.length;
  headings(byId("flipped"), [["launch", ""], ["design", ""], ["here", "n"], ["by geometric mean", "n"]], {}, null);
  byId("flipped").tBodies[0].replaceChildren(...all.slice(0, MOST_FLIPS).map((flip) => {
    const open = () => { chosen.design = flip.design; chosen.launch = flip.launch; showDesigns(); showDesign(); };
    const label = data.designs[flip.design];
    return element("tr", { class: "open", tabindex: 0, on: pressed(open) }, cell(data.launches[flip.launch], "label"), element("td", { class: "label", title: label }, label), cell(speedUp(flip.here)), cell(speedUp(flip.mean)));
  }));
  byId("flipped-more").textContent = all.length > MOST_FLIPS ? `${(all.length - MOST_FLIPS).toLocaleString("en-US")} more are not listed.` : "";
}

function showSwept() {
  byId("swept").hidden = !data.swept.length;
  const means = new Map(ranking.map((s) => [s.design, s.mean]));
  byId("charts").replaceChildren(...data.swept.flatMap((swept) => {
    const logs = swept.rows.map(() => swept.columns.map(() => []));
    swept.cells.forEach((at, design) => { if (at && means.get(design)) logs[at[0]][at[1]].push(Math.log(means.get(design).value)); });
    const cells = logs.map((row) => row.map((found) => (found.length ? Math.exp(found.reduce((a, b) => a + b, 0) / found.length) : null)));
    return [element("div", { class: "chart" }, element("h3", {}, swept.parameter), linesDrawing(swept, cells))];
  }));
}

function compare() {
  ranking = data.designs.map((_, design) => standing(chosen.baseline, design));
  showDesigns();
  showDesign();
  showFlips();
  showSwept();
}

byId("filter").addEventListener("input", (event) => { chosen.filter = event.target.value; chosen.first = 0; showDesigns(); });
byId("previous").addEventListener("click", () => { chosen.first -= SHOWN; showDesigns(); });
byId("next").addEventListener("click", () => { chosen.first += SHOWN; showDesigns(); });
unpack().then(() => {
  const means = data.designs.map((_, design) => (design === data.baseline ? null : standing(data.baseline, design).mean));
  chosen.design = means.reduce((best, mean, design) => (mean && (best === null || mean.value > means[best].value) ? design : best), null);
  compare();
  document.body.dataset.ready = "yes";
});
