// Drawings: a bar beside a speed-up, factors of a mean, the waterfall of a launch, lines over a swept number.
const drawing = (width, height) => shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });

// Log scale around 1, up to `most` times either way.
function bar(r, most) {
  const half = 45, length = Math.max(1, (half * Math.abs(Math.log(r.value))) / Math.log(most));
  const side = r.value >= 1 ? `left:${half}px` : `right:${half}px`;
  const colour = { faster: "--faster", slower: "--slower" }[r.verdict] ?? "--unsure";
  return element("span", { class: "bar" }, element("i", { style: `${side};width:${Math.min(length, half)}px;background:var(${colour})` }));
}

// Names and factors (a mechanism each), the largest first; small ones together.
function factorsDrawing(factors) {
  const all = Object.entries(factors).sort((a, b) => Math.abs(Math.log(b[1])) - Math.abs(Math.log(a[1])));
  const shown = all.filter(([, f], place) => place < 12 && Math.abs(f - 1) >= 0.005);
  const rest = all.filter((entry) => !shown.includes(entry)).reduce((product, [, f]) => product * f, 1);
  const rows = [...shown.map(([name, f]) => [data.mechanisms[name], f]), ["others", rest]];
  const together = all.reduce((product, [, f]) => product * f, 1);
  const width = 520, left = 130, right = 70, step = 24, middle = (left + width - right) / 2, half = (width - right - left) / 2;
  const most = Math.max(0.02, ...rows.map(([, f]) => Math.abs(Math.log(f))), Math.abs(Math.log(together)));
  const svg = drawing(width, step * (rows.length + 1) + 12);
  svg.append(shape("line", { x1: middle, x2: middle, y1: 0, y2: step * (rows.length + 1) + 8, class: "grid" }));
  [...rows, ["together", together]].forEach(([name, f], place) => {
    const y = place * step + (place === rows.length ? 8 : 0), length = (half * Math.abs(Math.log(f))) / most;
    const kind = place === rows.length ? "whole" : f >= 1 ? "faster" : "slower";
    svg.append(
      shape("text", { x: left - 10, y: y + 16, "text-anchor": "end" }, name),
      shape("rect", { x: f >= 1 ? middle : middle - length, y: y + 4, width: length, height: step - 8, rx: 2, class: kind }),
      shape("text", { x: width - right + 10, y: y + 16 }, ratioText(f)),
    );
  });
  return svg;
}

// From the old time to the new one, a step a mechanism.
function waterfallDrawing(oldTime, newTime, found, oldName, newName) {
  const all = Object.entries(found).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const shown = all.filter(([, ns], place) => place < 12 && Math.abs(ns) >= 0.003 * Math.max(oldTime, newTime));
  const rest = newTime - oldTime - shown.reduce((sum, [, ns]) => sum + ns, 0);
  const steps = shown.map(([name, ns]) => [data.mechanisms[name], ns]).sort((a, b) => a[1] - b[1]);
  if (Math.abs(rest) > 1e-4 * oldTime) steps.push(["others", rest]);
  let at = oldTime, least = Math.min(0, oldTime), most = Math.max(oldTime, newTime);
  for (const [, ns] of steps) { at += ns; least = Math.min(least, at); most = Math.max(most, at); }
  const width = 560, left = 140, right = 90, step = 26, scale = (width - left - right) / (most - least), x = (ns) => left + (ns - least) * scale;
  const svg = drawing(width, step * (steps.length + 2) + 6);
  const row = (place, name, from, to, kind, text) => {
    svg.append(
      shape("text", { x: left - 10, y: place * step + 17, "text-anchor": "end" }, name),
      shape("rect", { x: x(Math.min(from, to)), y: place * step + 4, width: Math.max(1, Math.abs(to - from) * scale), height: step - 8, rx: 2, class: kind }),
      shape("text", { x: width - right + 8, y: place * step + 17, class: "value" }, text),
      shape("line", { x1: x(to), x2: x(to), y1: place * step + 4, y2: (place + 1) * step + 4, class: "link" }),
    );
  };
  row(0, oldName, 0, oldTime, "whole", timeText(oldTime));
  at = oldTime;
  steps.forEach(([name, ns], place) => { row(place + 1, name, at, at + ns, ns < 0 ? "faster" : "slower", signedTime(ns)); at += ns; });
  row(steps.length + 1, newName, 0, newTime, "whole", timeText(newTime));
  svg.lastChild.remove();
  return svg;
}

const COLOURS = ["#2a7fb8", "#d9692b", "#3c9d6b", "#8a63b8", "#b8902a", "#c2507a", "#4ba3a3", "#7d7d7d", "#6a8f2d", "#a0522d", "#5b6ee1", "#d64545"];

// Four to ten round numbers in a range.
function ticks(least, most) {
  const rough = (most - least) / 8, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, place) => (first + place) * step);
}

// A line a column over the rows' values, which stand evenly apart; `cells` are speed-ups, null where there is none.
function linesDrawing(swept, cells) {
  const known = cells.flat().filter((r) => r !== null);
  const width = 720, height = 260, left = 60, right = swept.columns.length > 1 ? 190 : 20, top = 14, bottom = 34;
  let [least, most] = [Math.min(1, ...known), Math.max(1, ...known)];
  const pad = Math.max(0.02, 0.08 * (most - least));
  [least, most] = [Math.max(0, least - pad), most + pad];
  const x = (place) => left + ((width - left - right) * (place + 0.5)) / swept.rows.length;
  const y = (r) => height - bottom - ((height - top - bottom) * (r - least)) / (most - least);
  const svg = drawing(width, height);
  const widest = 7 * Math.max(...swept.rows.map((text) => text.length)) + 14;  // of a label
  const every = Math.ceil((widest * swept.rows.length) / (width - left - right));
  for (const r of ticks(least, most)) {
    svg.append(shape("line", { x1: left, x2: width - right, y1: y(r), y2: y(r), class: "grid" }));
    svg.append(shape("text", { x: left - 8, y: y(r) + 4, "text-anchor": "end", class: "soft" }, ratioText(r)));
  }
  swept.rows.forEach((text, place) => {
    if (place % every === 0) svg.append(shape("text", { x: x(place), y: height - 12, "text-anchor": "middle", class: "soft" }, text));
  });
  swept.columns.forEach((name, series) => {
    const colour = COLOURS[series % COLOURS.length];
    const points = cells.map((row, place) => [x(place), row[series]]).filter(([, r]) => r !== null);
    svg.append(shape("polyline", { points: points.map(([px, r]) => `${px},${y(r)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 2 }));
    for (const [px, r] of points) {
      const dot = shape("circle", { cx: px, cy: y(r), r: 4, fill: colour });
      dot.append(shape("title", {}, `${name}: ${ratioText(r)}`));
      svg.append(dot);
    }
    if (swept.columns.length === 1) return;
    svg.append(shape("rect", { x: width - right + 14, y: top + series * 19, width: 11, height: 11, rx: 2, fill: colour }));
    svg.append(shape("text", { x: width - right + 32, y: top + series * 19 + 10 }, (swept.beside ? `${swept.beside.split(".").pop()}=` : "") + name));
  });
  return svg;
}
