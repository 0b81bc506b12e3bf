"use strict";
/* Draws the charts and moves the two sliders. All statistics were computed before the page was
   written; from the embedded counts this script only forms precision, recall and F1. */
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const DASHES = ["solid", "7px,2px", "2px,2px", "10px,3px,2px,3px"];
  const own = data.models[0].prevalences.own;
  const grid = data.models[0].prevalences.prevalence;
  const state = {
    visible: data.models.map(() => true), bands: true, contours: false, logRecall: false,
    model: 0, row: 0, prevalence: own,
  };

  /* Numbers as the library words them: digits that the uncertainty supports. */
  function decimalsFor(uncertainty) {
    if (!(uncertainty > 0) || !isFinite(uncertainty)) return 4;
    let exponent = Math.floor(Math.log10(uncertainty)), digits = 2;
    const leading = Math.round(uncertainty / Math.pow(10, exponent - 2));
    if (leading > 354 && leading < 950) digits = 1;
    if (leading >= 950) exponent += 1;
    return Math.min(Math.max(digits - 1 - exponent, 0), 12);
  }
  function withLimits(value, low, high) {
    const decimals = decimalsFor((high - low) / 2);
    return value.toFixed(decimals) + " (" + low.toFixed(decimals) + "\u2013" + high.toFixed(decimals) + ")";
  }
  function small(value) {
    if (value === 0 || value >= 0.0005) return value.toFixed(3);
    return value < 1e-6 ? value.toPrecision(2) : value.toFixed(1 - Math.floor(Math.log10(value)));
  }
  function percent(share) {
    if (!(share > 0)) return "0 %";
    const scaled = 100 * share;
    return parseFloat(scaled.toFixed(Math.max(2 - Math.floor(Math.log10(scaled)), 0))) + " %";
  }
  function count(value) {
    const shown = Math.abs(value) >= 1000 || Number.isInteger(value) ? Math.round(value) : parseFloat(value.toPrecision(3));
    return shown.toLocaleString("en-US");
  }
  function thresholdText(value) {
    if (typeof value === "string") return value.replace("inf", "\u221e");
    if (Number.isInteger(value)) return String(value);
    let short = parseFloat(value.toPrecision(6));
    if (short > value) { // never rounded up: the rows it selects stay selected
      const step = Math.pow(10, Math.floor(Math.log10(Math.abs(value))) - 5);
      short = parseFloat((Math.floor(value / step) * step).toPrecision(6));
    }
    return String(short);
  }
  /* Names are somebody's text, and the chart library reads a kind of HTML. */
  function plain(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/%\{/g, "% {");
  }

  /* At another prevalence every negative counts `factor` times. */
  function factorAt(prevalence) {
    return data.n_pos / data.n_neg * (1 - prevalence) / prevalence;
  }
  function currentPrevalence() { return grid[state.prevalence]; }
  function currentFactor() { return state.prevalence === own ? 1 : factorAt(currentPrevalence()); }

  function theme() {
    return {
      ink: css("--ink"), soft: css("--soft"), line: css("--line"), shade: css("--shade"), paper: css("--paper"),
      models: data.models.map((_, i) => css("--m" + (i % 7))),
    };
  }
  function faint(colour, share) {
    const number = parseInt(colour.slice(1), 16);
    return "rgba(" + (number >> 16) + "," + ((number >> 8) & 255) + "," + (number & 255) + "," + share + ")";
  }
  function axis(colours, title, range, more) {
    return Object.assign({
      title: { text: title, standoff: 8, font: { size: 13 } }, range: range, zeroline: false, showline: true,
      linecolor: colours.soft, gridcolor: colours.line, tickfont: { size: 12 }, fixedrange: false,
    }, more || {});
  }
  function layout(colours, x, y) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
      font: { family: "system-ui, sans-serif", color: colours.ink, size: 13 },
      margin: { l: 52, r: 10, t: 12, b: 46 }, xaxis: x, yaxis: y,
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.soft, activecolor: colours.ink },
      hoverlabel: { bgcolor: colours.paper, bordercolor: colours.line, font: { color: colours.ink, size: 13 }, align: "left" },
    };
  }
  /* Buttons are named one by one: releases of the library bring new ones, such as one that sends
     the chart to a server. */
  const CONFIG = {
    responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
    modeBarButtons: [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]],
    toImageButtonOptions: { scale: 2 },
  };

  function precisionOf(tp, fp, factor) {
    const selected = tp + factor * fp;
    return selected > 0 ? tp / selected : null;
  }
  function curveOf(model, factor) {
    const x = [], y = [];
    for (let i = 0; i < model.tp.length; i++) {
      x.push(model.tp[i] / data.n_pos);
      y.push(precisionOf(model.tp[i], model.fp[i], factor));
    }
    if (y.length > 1 && y[0] === null) y[0] = y[1]; // nothing selected: the limit
    return { x: x, y: y };
  }
  function bandOf(model) {
    if (state.prevalence === own) return model.band;
    const band = model.moving_band;
    if (!band) return null;
    const pi = currentPrevalence();
    const at = (rate) => band.x.map((r, i) => pi * r / (pi * r + (1 - pi) * rate[i]));
    return { x: band.x, low: at(band.high), high: at(band.low) };
  }
  function lowestCurve(pi) {
    const x = [], y = [];
    for (let i = 0; i <= 200; i++) {
      const r = Math.pow(i / 200, 2);
      x.push(r);
      y.push(pi * r / (1 - pi + pi * r));
    }
    return { x: x, y: y };
  }

  function drawPR() {
    const colours = theme(), pi = currentPrevalence(), factor = currentFactor();
    const traces = [];
    const worst = lowestCurve(pi);
    traces.push({ x: worst.x, y: worst.y, mode: "lines", fill: "tozeroy", fillcolor: colours.shade, line: { color: colours.soft, width: 1 }, hoverinfo: "skip", name: "unachievable" });
    traces.push({ x: [1e-6, 1], y: [pi, pi], mode: "lines", line: { color: colours.soft, width: 1.2, dash: "4px,4px" }, hoverinfo: "skip", name: "random" });
    if (state.contours) data.contours.forEach((line) => traces.push({
      x: line.x, y: line.y, mode: "lines+text", line: { color: colours.soft, width: 0.8, dash: "1px,3px" }, hoverinfo: "skip", name: "F1",
      text: line.x.map((_, i) => i === line.x.length - 1 ? "F1 " + line.value : ""), textposition: "top left", textfont: { size: 11, color: colours.soft },
    }));
    data.models.forEach((model, i) => {
      if (!state.visible[i]) return;
      const band = state.bands ? bandOf(model) : null;
      if (band) {
        traces.push({ x: band.x, y: band.low, mode: "lines", line: { width: 0 }, hoverinfo: "skip", name: "band" });
        traces.push({ x: band.x, y: band.high, mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: faint(colours.models[i], 0.2), hoverinfo: "skip", name: "band" });
      }
    });
    data.models.forEach((model, i) => {
      if (!state.visible[i]) return;
      const curve = curveOf(model, factor), table = model.thresholds;
      traces.push({ x: curve.x, y: curve.y, mode: "lines", line: { color: colours.models[i], width: 2, dash: DASHES[i % 4] }, hoverinfo: "skip", name: plain(model.title), meta: "curve" });
      traces.push({
        x: table.tp.map((tp) => tp / data.n_pos), y: table.tp.map((tp, k) => precisionOf(tp, table.fp[k], factor)),
        mode: "lines", line: { width: 0, color: colours.models[i] }, name: plain(model.title), meta: "points",
        customdata: table.tp.map((tp, k) => [thresholdText(table.threshold[k]), count(tp), count(table.fp[k])]),
        hovertemplate: "<b>%{fullData.name}</b><br>scores of %{customdata[0]} and above<br>recall %{x:.3f}, precision %{y:.3f}<br>%{customdata[1]} true, %{customdata[2]} false positives<extra></extra>",
      });
    });
    const table = data.models[state.model].thresholds, tp = table.tp[state.row], fp = table.fp[state.row];
    if (state.visible[state.model]) traces.push({
      x: [tp / data.n_pos], y: [precisionOf(tp, fp, factor)], mode: "markers", hoverinfo: "skip", name: "threshold", meta: "chosen",
      marker: { size: 13, color: colours.models[state.model], line: { color: colours.ink, width: 2 } },
    });
    const low = Math.max(1 / data.n_pos, 1e-6);
    const x = state.logRecall
      ? axis(colours, "recall (log scale)", [Math.log10(low) - 0.02, 0.01], { type: "log" })
      : axis(colours, "recall: share of the positives found", [-0.005, 1.005]);
    const chart = layout(colours, x, axis(colours, "precision: share of the selected that is positive", [0, 1.02]));
    chart.annotations = [
      { text: "no scorer can reach this", x: state.logRecall ? -0.02 : 0.99, y: 0.004, xanchor: "right", yanchor: "bottom", showarrow: false, font: { size: 11, color: colours.soft }, visible: pi > 0.08 },
      { text: "random", x: state.logRecall ? Math.log10(low) : 0.005, y: pi, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 11, color: colours.soft } },
    ];
    Plotly.react("pr-chart", traces, chart, CONFIG);
  }

  const SMALL = {
    roc: { x: "false-positive rate", y: "recall", random: [[0, 1], [0, 1]] },
    hit: { x: "share selected", y: "share selected and positive" },
    gain: { x: "recall gain", y: "precision gain", random: [[0, 1], [0, 0]] },
  };
  function drawSmall(kind) {
    const colours = theme(), text = SMALL[kind], pi = data.prevalence, traces = [];
    const random = kind === "hit" ? [[0, 1], [0, pi]] : text.random;
    traces.push({ x: random[0], y: random[1], mode: "lines", line: { color: colours.soft, width: 1, dash: "4px,4px" }, hoverinfo: "skip" });
    if (kind === "hit") traces.push({ x: [0, pi, 1], y: [0, pi, pi], mode: "lines", line: { color: colours.soft, width: 1, dash: "1px,3px" }, hoverinfo: "skip" });
    let lowest = 0;
    data.models.forEach((model, i) => {
      if (!state.visible[i]) return;
      const curve = model.curves[kind];
      if (kind === "gain") lowest = Math.min(lowest, Math.min.apply(null, curve.y));
      traces.push({ x: curve.x, y: curve.y, mode: "lines", line: { color: colours.models[i], width: 1.8, dash: DASHES[i % 4] }, name: plain(model.title), hovertemplate: "%{fullData.name}: %{x:.3f}, %{y:.3f}<extra></extra>" });
    });
    const top = kind === "hit" ? pi * 1.03 : 1.01;
    const bottom = kind === "gain" ? Math.max(lowest, -1) - 0.01 : 0;
    const chart = layout(colours, axis(colours, text.x, [-0.005, 1.005]), axis(colours, text.y, [bottom, top], { automargin: true }));
    chart.margin = { l: 48, r: 6, t: 6, b: 42 };
    Plotly.react(kind + "-chart", traces, chart, Object.assign({}, CONFIG, { displayModeBar: false }));
  }

  function drawForest() {
    if (!data.pairs.length) return;
    const colours = theme(), pairs = data.pairs.slice().reverse();
    const height = 90 + 34 * pairs.length;
    byId("forest-chart").style.height = height + "px";
    const ends = [0].concat(pairs.map((p) => p.low), pairs.map((p) => p.high));
    const room = 0.06 * (Math.max(...ends) - Math.min(...ends)) || 0.01;
    const short = (text) => text.length > 24 ? text.slice(0, 12) + "\u2026" + text.slice(-11) : text;
    const chart = layout(colours,
      axis(colours, "difference of AUCPR (right of zero: the first is better)", [Math.min(...ends) - room, Math.max(...ends) + room], { zeroline: true, zerolinecolor: colours.ink, zerolinewidth: 1.5 }),
      axis(colours, "", [-0.6, pairs.length - 0.4], { tickvals: pairs.map((_, i) => i), ticktext: pairs.map((p) => plain(short(p.first)) + " \u2212 " + plain(short(p.second))), showgrid: false, automargin: true, showline: false }));
    chart.margin = { l: 10, r: 16, t: 10, b: 46 };
    Plotly.react("forest-chart", [{
      x: pairs.map((p) => p.estimate), y: pairs.map((_, i) => i), mode: "markers", marker: { size: 10, color: colours.ink },
      error_x: { type: "data", symmetric: false, array: pairs.map((p) => p.high - p.estimate), arrayminus: pairs.map((p) => p.estimate - p.low), color: colours.ink, thickness: 2, width: 6 },
      customdata: pairs.map((p) => withLimits(p.estimate, p.low, p.high)), hovertemplate: "%{customdata}<extra></extra>",
    }], chart, Object.assign({}, CONFIG, { displayModeBar: false }));
  }

  function drawDifferences() {
    if (!data.differences.length) return;
    const colours = theme(), traces = [];
    data.differences.forEach((band) => {
      const colour = colours.models[band.other];
      traces.push({ x: band.x, y: band.low, mode: "lines", line: { width: 0 }, hoverinfo: "skip" });
      traces.push({ x: band.x, y: band.high, mode: "lines", line: { width: 0 }, fill: "tonexty", fillcolor: faint(colour, 0.2), hoverinfo: "skip" });
    });
    data.differences.forEach((band) => {
      const name = plain(data.models[band.best].title) + " \u2212 " + plain(data.models[band.other].title);
      traces.push({ x: band.x, y: band.y, mode: "lines", line: { color: colours.models[band.other], width: 2, dash: DASHES[band.other % 4] }, name: name, hovertemplate: "%{fullData.name}<br>recall %{x:.2f}: %{y:+.3f}<extra></extra>" });
    });
    const chart = layout(colours, axis(colours, "recall", [0, 1]),
      axis(colours, "precision of the best minus the other's", null, { zeroline: true, zerolinecolor: colours.ink, zerolinewidth: 1.5, automargin: true }));
    Plotly.react("difference-chart", traces, chart, Object.assign({}, CONFIG, { displayModeBar: false }));
  }

  /* The explorer. */
  function limitsOf(table, row) {
    if (state.prevalence === own) return [table.precision_low[row], table.precision_high[row]];
    // Limits of recall and false-positive rate, each at half the error, give those of precision.
    const pi = currentPrevalence();
    const at = (recall, rate) => recall > 0 ? pi * recall / (pi * recall + (1 - pi) * rate) : 0;
    return [at(table.wide_recall_low[row], table.wide_rate_high[row]), at(table.wide_recall_high[row], table.wide_rate_low[row])];
  }
  function explore() {
    const model = data.models[state.model], table = model.thresholds, row = state.row;
    const tp = table.tp[row], fp = table.fp[row], moved = state.prevalence !== own;
    const recall = tp / data.n_pos, rate = fp / data.n_neg, pi = currentPrevalence();
    const total = data.n_pos + data.n_neg;
    const cells = moved
      ? { tp: recall * total * pi, fp: rate * total * (1 - pi), fn: (1 - recall) * total * pi, tn: (1 - rate) * total * (1 - pi) }
      : { tp: tp, fp: fp, fn: data.n_pos - tp, tn: data.n_neg - fp };
    Object.keys(cells).forEach((cell) => { byId(cell).textContent = count(cells[cell]); });
    byId("confusion-note").textContent = moved ? "Expected in as many rows at a prevalence of " + percent(pi) + "." : "Counted in the data.";
    const precision = precisionOf(tp, fp, currentFactor()), limits = limitsOf(table, row);
    byId("precision").textContent = withLimits(precision, limits[0], limits[1]);
    byId("recall").textContent = withLimits(recall, table.recall_low[row], table.recall_high[row]);
    const f1 = 2 * precision * recall / (precision + recall);
    const width = Math.max(limits[1] - limits[0], table.recall_high[row] - table.recall_low[row]);
    byId("f1").textContent = (precision + recall > 0 ? f1 : 0).toFixed(decimalsFor(width / 2));
    byId("selected").textContent = percent((cells.tp + cells.fp) / total);
    byId("certificate").disabled = moved || model.certificates.length === 0;
    byId("certificate-place").hidden = !moved;
    byId("threshold").value = thresholdText(table.threshold[row]);
    byId("threshold-slider").value = row;
    byId("threshold-slider").setAttribute("aria-valuetext", thresholdText(table.threshold[row]));
  }
  function fillExplorer() {
    const model = data.models[state.model], table = model.thresholds;
    byId("threshold-slider").max = table.threshold.length - 1;
    const select = byId("certificate");
    select.replaceChildren(new Option("\u2013", ""));
    model.certificates.forEach((point, i) => select.add(new Option(percent(point.required), String(i))));
    byId("certificate-text").textContent = model.certificates.length
      ? "A threshold with this promise, although it is chosen on the same data."
      : "No precision clearly above the prevalence can be promised on so few positives.";
  }
  function bestRow(table) {
    let best = 0, highest = -1;
    table.tp.forEach((tp, i) => {
      const f1 = 2 * tp / (tp + table.fp[i] + data.n_pos);
      if (f1 > highest) { highest = f1; best = i; }
    });
    return best;
  }
  function nearestRow(table, threshold) {
    // The last tabulated threshold that is not lower: selects no row below what was asked for.
    let row = 0;
    for (let i = 0; i < table.threshold.length; i++) if (table.threshold[i] >= threshold) row = i;
    return row;
  }
  function moveMarker() { drawPR(); explore(); }

  function elsewhere() {
    const pi = currentPrevalence();
    byId("prevalence").textContent = percent(pi) + (state.prevalence === own ? " (the data)" : "");
    byId("prevalence-slider").value = state.prevalence;
    byId("prevalence-slider").setAttribute("aria-valuetext", percent(pi));
    byId("prevalence-reset").disabled = state.prevalence === own;
    const body = byId("elsewhere").tBodies[0];
    body.replaceChildren();
    data.models.forEach((model, i) => {
      const table = model.prevalences, at = state.prevalence, row = body.insertRow();
      const name = row.insertCell(), mark = document.createElement("span");
      mark.className = "swatch model-" + (i % 7);
      name.className = "pair";
      name.append(mark, model.title);
      const value = row.insertCell();
      value.className = "number";
      value.textContent = withLimits(table.estimate[at], table.low[at], table.high[at]);
      const floor = row.insertCell();
      floor.className = "number";
      floor.textContent = small(table.floor[at]);
    });
  }

  function drawBelow() {
    Object.keys(SMALL).forEach(drawSmall);
    drawForest();
    drawDifferences();
  }
  function drawAll() {
    drawPR();
    drawBelow();
  }

  /* Wiring. */
  const on = (id, event, action) => { const element = byId(id); if (element) element.addEventListener(event, action); };
  document.querySelectorAll(".show-model").forEach((box) => box.addEventListener("change", () => {
    state.visible[Number(box.dataset.model)] = box.checked;
    drawPR();
    Object.keys(SMALL).forEach(drawSmall);
  }));
  on("show-bands", "change", (event) => { state.bands = event.target.checked; drawPR(); });
  on("show-contours", "change", (event) => { state.contours = event.target.checked; drawPR(); });
  on("log-recall", "change", (event) => { state.logRecall = event.target.checked; drawPR(); });
  on("explore-model", "change", (event) => {
    state.model = Number(event.target.value);
    state.row = bestRow(data.models[state.model].thresholds);
    fillExplorer();
    moveMarker();
  });
  on("threshold-slider", "input", (event) => { state.row = Number(event.target.value); byId("certificate").value = ""; moveMarker(); });
  on("threshold", "change", (event) => {
    const value = parseFloat(event.target.value);
    if (!Number.isNaN(value)) state.row = nearestRow(data.models[state.model].thresholds, value);
    moveMarker();
  });
  on("certificate", "change", (event) => {
    const point = data.models[state.model].certificates[Number(event.target.value)];
    if (event.target.value === "" || !point) return;
    byId("certificate-text").textContent = point.message;
    state.row = nearestRow(data.models[state.model].thresholds, point.threshold);
    moveMarker();
  });
  byId("prevalence-slider").max = grid.length - 1;
  on("prevalence-slider", "input", (event) => { state.prevalence = Number(event.target.value); moveMarker(); elsewhere(); });
  on("prevalence-reset", "click", () => { state.prevalence = own; moveMarker(); elsewhere(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => { document.documentElement.dataset.print = "true"; drawAll(); });
  window.addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });

  state.row = bestRow(data.models[0].thresholds);
  fillExplorer();
  elsewhere();
  explore();
  drawPR();
  setTimeout(() => { // what is further down may come a moment later
    drawBelow();
    document.documentElement.dataset.ready = "true";
  }, 0);
})();
