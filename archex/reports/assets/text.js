// Numbers as the terminal prints them, and elements.
const digits = (number, count) => String(Number(number.toPrecision(count)));

function timeText(ns) {
  if (Number.isNaN(ns)) return "-";
  for (const [factor, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]]) if (Math.abs(ns) >= factor) return `${digits(ns / factor, 4)} ${unit}`;
  return `${digits(ns, 4)} ns`;
}
const signedTime = (ns) => `${ns > 0 ? "+" : "-"}${timeText(Math.abs(ns))}`;
const ratioText = (r) => (r < 9.995 ? `${digits(r, 3)}x` : `${r.toFixed(1).replace(/\B(?=(\d{3})+\.)/g, ",")}x`);
const bounds = (r) => (r.low === r.high ? "-" : `${ratioText(r.low)} .. ${ratioText(r.high)}`);

const signedText = (number) => `${number > -0.05 ? "+" : ""}${(Math.abs(number) < 0.05 ? 0 : number).toFixed(1)}`;

function countText(count) {
  for (const [factor, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) if (count >= Math.max(factor, 1e7)) return `${digits(count / factor, 4)} ${unit}`;
  return Math.round(count).toLocaleString("en-US");
}

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, given] of Object.entries(options)) {
    if (name === "on") for (const [event, handler] of Object.entries(given)) made.addEventListener(event, handler);
    else if (given !== undefined && given !== null) made.setAttribute(name, given);
  }
  made.append(...children);
  return made;
}

function shape(tag, options = {}, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, given] of Object.entries(options)) made.setAttribute(name, given);
  if (text !== undefined) made.textContent = text;
  return made;
}

const cell = (content, kind = "n") => element("td", { class: kind }, content);
const speedUp = (r) => element("span", { class: r.verdict }, ratioText(r.value) + (r.verdict === "unsure" ? " ~" : ""));

// A table's heading; `sorted` is {column, down}, `sort` is told which column was chosen.
function headings(table, columns, sorted, sort) {
  const row = element("tr");
  columns.forEach(([name, kind, sortable], place) => {
    const options = { class: [kind, sortable ? "sortable" : ""].join(" ").trim() };
    if (sortable) Object.assign(options, { tabindex: 0, on: pressed(() => sort(place)) });
    if (sortable && sorted.column === place) options["aria-sort"] = sorted.down ? "descending" : "ascending";
    row.append(element("th", options, name));
  });
  table.tHead.replaceChildren(row);
}

// Handlers of a click and of the keys that stand for one.
const pressed = (act) => ({
  click: act,
  keydown: (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act(event);
  },
});
