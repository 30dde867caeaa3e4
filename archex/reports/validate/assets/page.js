// Every launch as a point and as a line; what is chosen, and drawing anew when a choice changes.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const chosen = { launch: null, family: null, filter: "" };
const sorted = { launches: { column: 4, down: true }, families: { column: 2, down: true }, counters: { column: 5, down: false }, counted: { column: 3, down: true } };
const familyOf = new Map(data.families.flatMap((family, place) => family.launches.map((name) => [name, place])));
const colour = (place) => `hsl(${(place * 137.508) % 360} 62% 52%)`;
const off = (launch) => (100 * (launch.model - launch.measured)) / launch.measured;
const amount = (value) => (data.unit === "cycles" ? countText(value) : digits(value, 4));
const percentText = (value) => `${value.toFixed(1)} %`;
const dot = (place) => element("i", { class: "dot", style: `background:${colour(place)}` });

// Unknown values stay last either way.
function ordered(rows, key, down) {
  const known = (v) => v !== undefined && v !== null && !Number.isNaN(v);
  return rows.map((row) => [row, key(row)]).sort(([, a], [, b]) => {
    if (!known(a) || !known(b)) return known(b) - known(a);
    return (typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b) * (down ? -1 : 1);
  }).map(([row]) => row);
}

// Columns are [name, class, key to sort by]; `line` makes a row's cells.
function fill(id, columns, rows, line, open) {
  const table = byId(id), state = sorted[id];
  const sort = (place) => {
    sorted[id] = state.column === place ? { column: place, down: !state.down } : { column: place, down: columns[place][1] === "n" };
    draw();
  };
  headings(table, columns.map(([name, kind]) => [name, kind, true]), state, sort);
  table.tBodies[0].replaceChildren(...ordered(rows, columns[state.column][2], state.down).map((row) => {
    const made = element("tr", open ? { class: "open", tabindex: 0, on: pressed(() => open(row)) } : {});
    made.append(...line(row));
    return made;
  }));
}

const LAUNCHES = [
  ["launch", "", (l) => l.name], ["family", "", (l) => l.family], [`measured ${data.unit}`, "n", (l) => l.measured],
  [`model ${data.unit}`, "n", (l) => l.model], ["error", "n", (l) => Math.abs(off(l))], ["what it points at", "", (l) => l.says],
];
const FAMILIES = [
  ["family", "", (f) => f.name], ["launches", "n", (f) => f.launches.length], ["mean error", "n", (f) => f.mean],
  ["mean with sign", "n", (f) => f.signed], ["worst", "n", (f) => f.worst],
];
const COUNTERS = [
  ["counter", "", (c) => c[0]], ["launches", "n", (c) => c[1]], ["median off", "n", (c) => c[2]], ["90 % within", "n", (c) => c[3]],
  ["in", "", (c) => c[4]], ["close", "n", (c) => c[5]],
];
const COUNTED = [["counter", "", (c) => c[0]], ["model", "n", (c) => c[2]], ["measured", "n", (c) => c[3]], ["off", "n", (c) => c[4] ?? Infinity]];

for (const family of data.families) {
  const errors = data.launches.filter((l) => family.launches.includes(l.name)).map(off);
  family.signed = errors.reduce((a, b) => a + b, 0) / errors.length;
  family.worst = Math.max(...errors.map(Math.abs));
}

// Words must be in the launch's name or family; `>10` and `<5` bound the error.
function passes(launch) {
  const text = `${launch.name} ${launch.family}`.toLowerCase();
  if (chosen.family !== null && familyOf.get(launch.name) !== chosen.family) return false;
  return chosen.filter.toLowerCase().split(/\s+/).filter(Boolean).every((word) => {
    const bound = /^([<>])(\d*\.?\d+)%?$/.exec(word);
    if (!bound) return text.includes(word);
    return bound[1] === ">" ? Math.abs(off(launch)) > bound[2] : Math.abs(off(launch)) < bound[2];
  });
}

function scatter(kept) {
  const size = 560, left = 58, bottom = 44, inner = size - left - 10;
  const every = data.launches.flatMap((l) => [l.measured, l.model]);
  const low = Math.log10(Math.min(...every) / 1.5), high = Math.log10(Math.max(...every) * 1.5);
  const along = (value) => ((Math.log10(value) - low) / (high - low)) * inner;
  const x = (value) => left + along(value), y = (value) => size - bottom - along(value);
  const svg = shape("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "measured against model, one point a launch" });
  for (let power = Math.ceil(low); power <= high; power += 1) {
    const at = 10 ** power, text = power < 4 ? String(at) : `1e${power}`;
    svg.append(shape("line", { class: "grid", x1: x(at), x2: x(at), y1: y(10 ** high), y2: y(10 ** low) }));
    svg.append(shape("line", { class: "grid", x1: x(10 ** low), x2: x(10 ** high), y1: y(at), y2: y(at) }));
    svg.append(shape("text", { class: "soft", x: x(at), y: size - bottom + 17, "text-anchor": "middle" }, text));
    svg.append(shape("text", { class: "soft", x: left - 7, y: y(at) + 4, "text-anchor": "end" }, text));
  }
  const line = (kind, factor) => {
    const from = Math.max(low, low - Math.log10(factor)), to = Math.min(high, high - Math.log10(factor));
    svg.append(shape("line", { class: kind, x1: x(10 ** from), x2: x(10 ** to), y1: y(10 ** from * factor), y2: y(10 ** to * factor) }));
  };
  line("exact-line", 1);
  line("band-line", 1 + data.band / 100);
  line("band-line", 1 / (1 + data.band / 100));
  svg.append(shape("text", { class: "soft", x: left + inner / 2, y: size - 6, "text-anchor": "middle" }, `measured (${data.unit})`));
  svg.append(shape("text", { class: "soft", x: 13, y: inner / 2, "text-anchor": "middle", transform: `rotate(-90 13 ${inner / 2})` }, `model (${data.unit})`));
  for (const launch of data.launches) {
    const said = `${launch.name}: measured ${amount(launch.measured)}, model ${amount(launch.model)}, ${signedText(off(launch))} %`;
    const kind = [kept.has(launch) ? "" : "faint", launch.name === chosen.launch ? "chosen" : ""].join(" ").trim();
    const point = shape("circle", { cx: x(launch.measured), cy: y(launch.model), r: 4.5, class: kind, fill: colour(familyOf.get(launch.name)), tabindex: 0 });
    point.append(shape("title", {}, said));
    for (const event of ["mouseenter", "focus"]) point.addEventListener(event, () => { byId("hovered").textContent = said; });
    for (const [event, act] of Object.entries(pressed(() => open(launch)))) point.addEventListener(event, act);
    svg.append(point);
  }
  byId("scatter").replaceChildren(svg);
}

function open(launch) {
  chosen.launch = launch.name;
  draw();
  byId("opened-part").scrollIntoView({ block: "nearest" });
}

function opened() {
  const launch = data.launches.find((l) => l.name === chosen.launch);
  byId("opened-part").hidden = !launch;
  if (!launch) return;
  byId("opened").textContent = `${launch.name}: ${amount(launch.measured)} measured, ${amount(launch.model)} modelled, ${signedText(off(launch))} %`;
  byId("says").textContent = launch.says;
  const number = (value) => (Math.abs(value) >= 1000 ? countText(value) : digits(value, 3));
  fill("counted", COUNTED, launch.counters, ([name, unit, model, measured, far, how, close]) => [
    cell(`${name}${unit ? ` (${unit})` : ""}`, ""), cell(number(model)), cell(number(measured)),
    cell(far === null ? "from none" : `${digits(far, 3)} ${how}`, close ? "n" : "n far"),
  ]);
}

function draw() {
  const kept = new Set(data.launches.filter(passes));
  byId("shown").textContent = kept.size === data.launches.length ? "" : `${kept.size} of ${data.launches.length} are shown.`;
  scatter(kept);
  opened();
  fill("launches", LAUNCHES, [...kept], (l) => [
    element("td", {}, dot(familyOf.get(l.name)), l.name), cell(l.family, ""), cell(amount(l.measured)), cell(amount(l.model)),
    cell(`${signedText(off(l))} %`, Math.abs(off(l)) > data.band ? "n far" : "n"), cell(l.says, "says"),
  ], open);
  fill("families", FAMILIES, data.families, (f) => {
    const place = data.families.indexOf(f);
    return [element("td", {}, dot(place), f.name), cell(f.launches.length), cell(percentText(f.mean)), cell(`${signedText(f.signed)} %`), cell(percentText(f.worst))];
  }, (f) => {
    const place = data.families.indexOf(f);
    chosen.family = chosen.family === place ? null : place;
    draw();
  });
  [...byId("families").tBodies[0].rows].forEach((row) => row.classList.toggle("chosen", data.families[chosen.family]?.name === row.cells[0].textContent));
  fill("counters", COUNTERS, data.counters, (c) => [
    cell(c[0], ""), cell(c[1]), cell(c[2] === null ? "-" : digits(c[2], 3)), cell(c[3] === null ? "-" : digits(c[3], 3)), cell(c[4], ""), cell(`${c[5].toFixed(0)} %`),
  ]);
}

function judged() {
  byId("bounds-part").hidden = !data.bounds.length;
  headings(byId("bounds"), [["", "", false], ["bound", "n", false], ["found", "n", false], ["", "", false]], {}, () => {});
  byId("bounds").tBodies[0].replaceChildren(...data.bounds.map(([name, unit, bound, found, passed]) => element(
    "tr", {}, cell(name, ""), cell(`${digits(bound, 4)}${unit && ` ${unit}`}`),
    cell(found === null ? "-" : `${digits(found, 4)}${unit && ` ${unit}`}`), cell(found === null ? "" : passed ? "passed" : "kept", passed ? "far" : ""),
  )));
}

byId("band").textContent = `${digits(data.band, 3)} %`;
byId("counters-part").hidden = !data.counters.length;
byId("filter").addEventListener("input", (event) => { chosen.filter = event.target.value; draw(); });
judged();
draw();
document.body.dataset.ready = "yes";
