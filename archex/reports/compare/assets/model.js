// The numbers of the page and what follows from them: standings and mechanisms, as reports/compare computes them.
const data = JSON.parse(document.getElementById("data").textContent);
const D = data.designs.length, L = data.launches.length;
const column = Object.fromEntries(data.columns.map((name, place) => [name, place]));
const failing = new Map(data.failing.map((design, place) => [design, data.statuses[place]]));
let numbers;

async function unpack() {
  const bytes = Uint8Array.from(atob(data.numbers), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  numbers = new Float32Array(await new Response(stream).arrayBuffer());
  data.numbers = null;
}

const value = (name, design, launch) => numbers[(column[name] * D + design) * L + launch];
const time = (design, launch) => value("time_ns", design, launch);
const said = (design, launch) => failing.get(design)?.[launch] ?? "absent";

// A speed-up and the interval that the error bounds leave: {value, low, high, verdict}; null without both times.
function ratio(baseline, design, launch) {
  const speedUp = time(baseline, launch) / time(design, launch);
  if (Number.isNaN(speedUp)) return null;
  if (baseline === design) return judged(1, 1, 1);
  const [old, young] = [baseline, design].map((d) => Math.min(value("error_bound", d, launch) || 0, data.largestBound));
  return judged(speedUp, (speedUp * (1 - old)) / (1 + young), (speedUp * (1 + old)) / (1 - young));
}

function judged(value, low, high) {
  const beyond = Math.abs(value - 1) > data.margin;
  return { value, low, high, verdict: !beyond ? "same" : low > 1 ? "faster" : high < 1 ? "slower" : "unsure" };
}

function standing(baseline, design) {
  const found = { design, mean: null, launches: 0, faster: 0, slower: 0, unsure: 0, same: 0, best: null, worst: null };
  let sum = 0, low = 0, high = 0;
  for (let launch = 0; launch < L; launch++) {
    const one = ratio(baseline, design, launch);
    if (!one) continue;
    found.launches++;
    found[one.verdict]++;
    sum += Math.log(one.value); low += Math.log(one.low); high += Math.log(one.high);
    if (!found.best || one.value > found.best.value) found.best = { launch, value: one.value };
    if (!found.worst || one.value < found.worst.value) found.worst = { launch, value: one.value };
  }
  if (found.launches) found.mean = judged(...[sum, low, high].map((s) => Math.exp(s / found.launches)));
  return found;
}

// Launches where a design and the baseline stand the other way round than by their mean.
function flipsOf(baseline, found) {
  const other = { faster: "slower", slower: "faster" }[found.mean?.verdict];
  if (!other) return [];
  return [...Array(L).keys()].map((launch) => ({ launch, design: found.design, mean: found.mean, here: ratio(baseline, found.design, launch) }))
    .filter((flip) => flip.here?.verdict === other);
}

function logarithmicMean(a, b) {
  const change = (a - b) / b;
  return change === 0 ? b : (a - b) / (Math.abs(change) < 0.5 ? Math.log1p(change) : Math.log(a) - Math.log(b));
}

// Nanoseconds by mechanism, summing to the difference: the formula of reports/compare/mechanisms.py.
function contributions(baseline, design, launch) {
  const found = Object.fromEntries(Object.keys(data.mechanisms).map((name) => [name, 0]));
  const counted = [baseline, design].every((d) => value("lane_instructions", d, launch) > 0) ? "lane_instructions" : "wave_instructions";
  const [old, young] = [baseline, design].map((d) => life(d, launch, counted));
  if (!old || !young) {
    found.unexplained = time(design, launch) - time(baseline, launch);
    return found;
  }
  const clock = -Math.log(young.clock / old.clock);
  const factors = { instructions: Math.log(young.instructions / old.instructions), clock };
  if (Number.isFinite(old.lanes) && Number.isFinite(young.lanes)) factors["lanes at work"] = -Math.log(young.lanes / old.lanes);
  const share = (before, after, by, own) => {
    if (before <= 0 || after <= 0) { found[own] += after - before; return; }
    const weight = logarithmicMean(before, after);
    let given = 0;
    for (const [name, logarithm] of Object.entries(by)) { found[name] += weight * logarithm; given += weight * logarithm; }
    found[own] += after - before - given;
  };
  for (const state of data.states) share(old.term(state), young.term(state), factors, state === "issue" ? "instructions" : state);
  share((1e9 * old.launch) / old.clock, (1e9 * young.launch) / young.clock, { clock }, "launch and drain");
  found.gap += young.gap - old.gap;
  return found;
}

function life(design, launch, counted) {
  const [cycles, clock, instructions] = ["cycles", "clock_hz", counted].map((name) => value(name, design, launch));
  if (!(cycles > 0 && clock > 0 && instructions > 0)) return null;
  const launched = Math.min(value("launch_drain_cycles", design, launch) || 0, cycles);
  const stall = (state) => (state === "issue" ? 1 : value(`stall_${state}`, design, launch) || 0);
  const spent = instructions * data.states.reduce((sum, state) => sum + stall(state), 0);
  const lanes = cycles > launched ? spent / (cycles - launched) : Infinity;
  const whole = time(design, launch), gap = whole - (1e9 * cycles) / clock;
  const term = (state) => (1e9 * instructions * stall(state)) / (lanes * clock);
  return { clock, instructions, lanes, launch: launched, gap: Math.abs(gap) > 1e-6 * whole ? gap : 0, term };
}

// Speed-up by mechanism over the suite; their product is the geometric mean.
function overSuite(baseline, design) {
  const sums = {};
  let count = 0;
  for (let launch = 0; launch < L; launch++) {
    const [old, young] = [time(baseline, launch), time(design, launch)];
    if (Number.isNaN(old) || Number.isNaN(young)) continue;
    count++;
    const weight = logarithmicMean(old, young);
    for (const [name, ns] of Object.entries(contributions(baseline, design, launch))) sums[name] = (sums[name] ?? 0) - ns / weight;
  }
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Math.exp(sum / count)]));
}
