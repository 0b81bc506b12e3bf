"use strict";
/* Draws the charts and moves the two sliders. All statistics were computed before the page was
   written; from the embedded counts this script only forms precision, recall and F1. Numbers are
   put into words by wording.js, which comes before it. */
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const DASHES = ["solid", "7px,2px", "2px,2px", "10px,3px,2px,3px"];
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x"];
  const own = data.models[0].prevalences.own;
  const grid = data.models[0].prevalences.prevalence;
  const home = grid[own]; // the prevalence of the data
  const promised = grid[data.models[0].prevalences.start]; // the one that promises are made for
  const state = {
    visible: data.models.map(() => true), bands: true, contours: false, logRecall: false,
    // The threshold: row `row` of the table, or the number `typed` that is in none of its rows.
    model: data.best, row: 0, typed: null, problem: "", prevalence: promised,
  };

  const { count, percent, withLimits } = wording;
  const numeric = (value) => Number(String(value).replace("inf", "Infinity"));
  const thresholdText = (value) => wording.threshold(numeric(value));
  /* Names are somebody's text, and the chart library reads a kind of HTML. */
  function plain(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/%\{/g, "% {");
  }

  function short(text, most) {
    const half = Math.floor((most || 24) / 2);
    return text.length > 2 * half ? text.slice(0, half) + "\u2026" + text.slice(1 - half) : text;
  }

  /* Two names; where there is little room and they need more, the middle of each is left out. */
  function pairName(first, second, narrow, most) {
    const longest = narrow ? (first.length + second.length > 36 ? 18 : 36) : most;
    return [first, second].map((name) => plain(name.length > longest ? short(name, longest) : name)).join(" \u2212 ");
  }

  /* At another prevalence every negative counts `factor` times. */
  function factorAt(prevalence) {
    return data.n_pos / data.n_neg * (1 - prevalence) / prevalence;
  }
  function currentFactor() { return state.prevalence === home ? 1 : factorAt(state.prevalence); }

  function theme() {
    return {
      ink: css("--ink"), soft: css("--soft"), line: css("--line"), shade: css("--shade"), paper: css("--paper"),
      models: data.models.map((_, i) => css("--m" + (i % 10))),
    };
  }
  function faint(colour, share) {
    const number = parseInt(colour.slice(1), 16);
    return "rgba(" + (number >> 16) + "," + ((number >> 8) & 255) + "," + (number & 255) + "," + share + ")";
  }
  function axis(colours, title, range, more) {
    return Object.assign({
      title: { text: title, standoff: 8, font: { size: 13 } }, range: range, zeroline: false, showline: true,
      linecolor: colours.soft, gridcolor: colours.line, tickfont: { size: 12 }, fixedrange: false, exponentformat: "none",
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
  function printing() { return document.documentElement.dataset.print !== undefined; }
  /* Draw, on the screen as wide as its place is, on paper as wide as the paper's style says: a
     chart that followed the screen would be cut or shrunk there. */
  function draw(id, traces, chart, config) {
    const element = byId(id);
    if (printing()) Object.assign(chart, { autosize: false, width: element.clientWidth, height: element.clientHeight });
    else if (element.layout && element.layout.autosize === false) Plotly.purge(element);
    Plotly.react(element, traces, chart, config || Object.assign({}, CONFIG, { displayModeBar: false }));
  }
  /* A few markers along a curve, so that nobody needs the colours to tell models apart. */
  function marksOf(i, x, y, colour, logarithmic) {
    const length = [0], scale = logarithmic ? (v) => Math.log10(Math.max(v, 1e-9)) / 5 : (v) => v;
    for (let k = 1; k < x.length; k++) length.push(length[k - 1] + Math.hypot(scale(x[k]) - scale(x[k - 1]), scale(y[k] || 0) - scale(y[k - 1] || 0)));
    const total = length[length.length - 1], places = [], number = 6;
    for (let k = 0, at = 0; k < number; k++) {
      const target = total * (k + (i + 0.5) / data.models.length) / number;
      while (at < x.length - 1 && length[at] < target) at++;
      places.push(at);
    }
    return {
      x: places.map((k) => x[k]), y: places.map((k) => y[k]), mode: "markers", hoverinfo: "skip", showlegend: false, name: "mark", meta: "marks", cliponaxis: false,
      marker: { symbol: SYMBOLS[i % 5], size: 8, color: colour, line: { color: css("--paper"), width: 1 } },
    };
  }
  /* A band is a faint fill with a thin edge: two of them that overlap can still be seen apart. */
  function bandTraces(x, low, high, colour) {
    const edge = { mode: "lines", line: { width: 0.8, color: faint(colour, 0.45) }, hoverinfo: "skip", showlegend: false, name: "band" };
    return [
      Object.assign({ x: x, y: low }, edge),
      Object.assign({ x: x, y: high, fill: "tonexty", fillcolor: faint(colour, 0.13) }, edge),
    ];
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
  /* With many models, bands of all of them would bury the curves. */
  function hasBand(i) { return data.models.length <= 3 || i === data.best || i === state.model; }
  function bandOf(model) {
    if (state.prevalence === home) return model.band;
    const band = model.moving_band;
    if (!band) return null;
    const pi = state.prevalence;
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
    const colours = theme(), pi = state.prevalence, factor = currentFactor();
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
      const band = state.bands && hasBand(i) ? bandOf(model) : null;
      if (band) traces.push(...bandTraces(band.x, band.low, band.high, colours.models[i]));
    });
    data.models.forEach((model, i) => {
      if (!state.visible[i]) return;
      const curve = curveOf(model, factor), table = model.thresholds;
      traces.push({ x: curve.x, y: curve.y, mode: "lines", line: { color: colours.models[i], width: 2, dash: DASHES[i % 4] }, hoverinfo: "skip", name: plain(model.title), meta: "curve" });
      traces.push(marksOf(i, curve.x, curve.y, colours.models[i]));
      traces.push({
        x: table.tp.map((tp) => tp / data.n_pos), y: table.tp.map((tp, k) => precisionOf(tp, table.fp[k], factor)),
        mode: "lines", line: { width: 0, color: colours.models[i] }, name: plain(model.title), meta: "points",
        customdata: table.tp.map((tp, k) => [
          thresholdText(table.threshold[k]), count(tp), count(table.fp[k]),
          wording.number(tp / data.n_pos), wording.number(precisionOf(tp, table.fp[k], factor)),
        ]),
        hovertemplate: "<b>%{fullData.name}</b><br>scores of %{customdata[0]} and above<br>recall %{customdata[3]}, precision %{customdata[4]}<br>%{customdata[1]} true, %{customdata[2]} false positives" + (data.weighted ? " (weights)" : "") + "<extra></extra>",
      });
    });
    if (state.visible[state.model]) {
      const at = chosen(), ends = at.exact ? [[at.tp[0], at.fp[0]]] : [[at.tp[0], at.fp[0]], [at.tp[1], at.fp[1]]];
      traces.push({
        x: ends.map((end) => end[0] / data.n_pos), y: ends.map((end) => precisionOf(end[0], end[1], factor)),
        mode: "lines+markers", hoverinfo: "skip", name: "threshold", meta: "chosen", cliponaxis: false, line: { color: colours.ink, width: 3 },
        marker: { size: 13, color: colours.models[state.model], line: { color: colours.ink, width: 2 } },
      });
    }
    const low = Math.max(1 / data.n_pos, 1e-6);
    const x = state.logRecall
      ? axis(colours, "recall (log scale)", [Math.log10(low) - 0.02, 0.01], { type: "log" })
      : axis(colours, "recall: share of the positives found", [-0.005, 1.005]);
    const chart = layout(colours, x, axis(colours, "precision: share of the selected that is positive", [0, 1.02]));
    chart.annotations = [
      { text: "no scorer can reach this", x: state.logRecall ? -0.02 : 0.99, y: 0.004, xanchor: "right", yanchor: "bottom", showarrow: false, font: { size: 11, color: colours.soft }, visible: pi > 0.08 },
      { text: "random", x: state.logRecall ? Math.log10(low) : 0.01, y: pi, xanchor: "left", yanchor: "bottom", showarrow: false, font: { size: 11, color: colours.soft } },
    ];
    draw("pr-chart", traces, chart, CONFIG);
  }

  const SMALL = {
    roc: { x: "false-positive rate", y: "recall", random: [[0, 1], [0, 1]] },
    hit: { x: "share selected", y: "share selected and positive" },
    gain: { x: "recall gain", y: "precision gain", random: [[0, 1], [0, 0]] },
    lift: { x: "share selected (log scale)", y: "lift (log scale)", random: [[1e-9, 1], [1, 1]] },
  };
  /* 0.1, 0.2, 0.5, 1, 2, 5, ...: the chart library would leave out the zeros. */
  function oneTwoFive() {
    return [-1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((first) => Number((first * Math.pow(10, power)).toPrecision(1))));
  }
  function drawSmall(kind) {
    if (!byId(kind + "-chart")) return;
    const colours = theme(), text = SMALL[kind], pi = data.shown_prevalence, traces = [];
    const random = kind === "hit" ? [[0, 1], [0, pi]] : text.random;
    traces.push({ x: random[0], y: random[1], mode: "lines", line: { color: colours.soft, width: 1, dash: "4px,4px" }, hoverinfo: "skip" });
    if (kind === "hit") traces.push({ x: [0, pi, 1], y: [0, pi, pi], mode: "lines", line: { color: colours.soft, width: 1, dash: "1px,3px" }, hoverinfo: "skip" });
    if (kind === "lift") traces.push({ x: [1e-9, pi, 1], y: [1 / pi, 1 / pi, 1], mode: "lines", line: { color: colours.soft, width: 1, dash: "1px,3px" }, hoverinfo: "skip" });
    let lowest = 0, most = 1, least = 1;
    data.models.forEach((model, i) => {
      if (!state.visible[i]) return;
      const whole = model.curves[kind];
      // There is no zero on a logarithmic axis: the curve begins with its first positive.
      const kept = whole.x.map((_, k) => k).filter((k) => kind !== "lift" || whole.y[k] > 0);
      const curve = { x: kept.map((k) => whole.x[k]), y: kept.map((k) => whole.y[k]) };
      if (kind === "lift") {
        most = Math.max(most, ...curve.y);
        least = Math.min(least, ...curve.y);
      }
      if (kind === "gain") lowest = Math.min(lowest, Math.min.apply(null, curve.y));
      traces.push({ x: curve.x, y: curve.y, mode: "lines", line: { color: colours.models[i], width: 1.8, dash: DASHES[i % 4] }, name: plain(model.title), customdata: curve.x.map((x, k) => [wording.number(x), wording.number(curve.y[k])]), hovertemplate: "%{fullData.name}: %{customdata[0]}, %{customdata[1]}<extra></extra>" });
      traces.push(marksOf(i, curve.x, curve.y, colours.models[i], kind === "lift"));
    });
    const start = Math.log10(Math.max(1 / data.rows, 1e-6));
    const every = start < -4 && byId(kind + "-chart").clientWidth < 360 ? 2 : 1; // powers of ten with a label
    const top = kind === "hit" ? pi * 1.03 : 1.01;
    const bottom = kind === "gain" ? Math.max(lowest, -1) - 0.01 : 0;
    const chart = kind === "lift"
      ? layout(colours, axis(colours, text.x, [start, 0.02], { type: "log", dtick: every, tickangle: 0 }),
        axis(colours, text.y, [Math.log10(Math.max(least, 0.1)) - 0.05, Math.log10(most) + 0.1], Object.assign({ type: "log", separatethousands: true, automargin: true }, most / least > 100 ? { dtick: 1 } : { tickvals: oneTwoFive(), ticktext: oneTwoFive().map(String) })))
      : layout(colours, axis(colours, text.x, [-0.005, 1.005]), axis(colours, text.y, [bottom, top], { automargin: true }));
    chart.margin = { l: 48, r: 6, t: 12, b: 42 }; // browsers with taller letters would leave out the highest tick
    if (printing()) chart.yaxis.title.font.size = 11; // the longest title is as long as the paper's chart is high
    draw(kind + "-chart", traces, chart);
  }

  function drawForest() {
    if (!data.pairs.length) return;
    const colours = theme(), pairs = data.pairs.slice().reverse(), place = byId("forest-chart");
    // Where there is no room for names beside the bars, each stands above its own.
    const narrow = place.clientWidth < 600;
    place.style.height = 90 + (narrow ? 46 : 34) * pairs.length + "px";
    const ends = [0].concat(pairs.map((p) => p.low), pairs.map((p) => p.high));
    const room = 0.06 * (Math.max(...ends) - Math.min(...ends)) || 0.01;
    const names = pairs.map((p) => pairName(p.first, p.second, narrow, 24));
    const chart = layout(colours,
      axis(colours, "difference of AUCPR", [Math.min(...ends) - room, Math.max(...ends) + room], { zeroline: true, zerolinecolor: colours.ink, zerolinewidth: 1.5, nticks: narrow ? 5 : 0 }),
      axis(colours, "", [-0.6, pairs.length - 0.4], { tickvals: pairs.map((_, i) => i), ticktext: names, showticklabels: !narrow, showgrid: false, automargin: true, showline: false }));
    chart.margin = { l: 10, r: 16, t: 10, b: 46 };
    chart.annotations = narrow ? names.map((name, i) => ({
      text: name, xref: "paper", x: 0, xanchor: "left", xshift: -4, y: i, yshift: 16, showarrow: false, font: { size: 12 }, bgcolor: colours.paper, borderpad: 1,
    })) : [];
    draw("forest-chart", [{
      x: pairs.map((p) => p.estimate), y: pairs.map((_, i) => i), mode: "markers", marker: { size: 10, color: colours.ink },
      error_x: { type: "data", symmetric: false, array: pairs.map((p) => p.high - p.estimate), arrayminus: pairs.map((p) => p.estimate - p.low), color: colours.ink, thickness: 2, width: 6 },
      customdata: pairs.map((p) => p.text), hovertemplate: "%{customdata}<extra></extra>",
    }], chart);
  }

  function drawDifferences() {
    if (!data.differences.length) return;
    const colours = theme(), traces = [], narrow = byId("difference-chart").clientWidth < 600;
    data.differences.forEach((band) => {
      traces.push(...bandTraces(band.x, band.low, band.high, colours.models[band.other]));
    });
    data.differences.forEach((band) => {
      const name = pairName(data.models[band.best].title, data.models[band.other].title, narrow, Infinity);
      traces.push({ x: band.x, y: band.y, mode: "lines", line: { color: colours.models[band.other], width: 2, dash: DASHES[band.other % 4] }, name: name, customdata: band.x.map((x, k) => [wording.fixed(x, 2), (band.y[k] > 0 ? "+" : "") + wording.number(band.y[k])]), hovertemplate: "%{fullData.name}<br>recall %{customdata[0]}: %{customdata[1]}<extra></extra>" });
      traces.push(marksOf(band.other, band.x, band.y, colours.models[band.other]));
    });
    const chart = layout(colours, axis(colours, "recall", [0, 1]),
      axis(colours, "difference of precision", null, { zeroline: true, zerolinecolor: colours.ink, zerolinewidth: 1.5, automargin: true }));
    chart.showlegend = true;
    chart.legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 }, traceorder: "normal" };
    const letters = traces.filter((one) => one.showlegend !== false).map((one) => one.name.length);
    const oneLine = letters.reduce((sum, each) => sum + 60 + 7 * each, 60) < byId("difference-chart").clientWidth;
    chart.margin.t = 12 + 24 * (oneLine ? 1 : letters.length);
    draw("difference-chart", traces, chart);
  }

  /* With many models the table below tells which is which: a legend would take the chart's place. */
  function drawDecisions() {
    if (!data.decisions) return;
    const colours = theme(), traces = [];
    const grey = (name, y, dash) => ({ x: data.decisions.x, y: y, mode: "lines", line: { color: colours.soft, width: 1.2, dash: dash }, hoverinfo: "skip", name: name });
    traces.push(grey("select everything", data.decisions.everything, "4px,4px"));
    traces.push(grey("select nothing", data.decisions.x.map(() => 0), "1px,3px"));
    data.decisions.models.forEach((one) => {
      if (!one.band || !hasBand(one.model)) return;
      traces.push(...bandTraces(one.band.x, one.band.low, one.band.high, colours.models[one.model]));
    });
    let top = 0, bottom = 0;
    data.decisions.models.forEach((one) => {
      const band = hasBand(one.model) && one.band;
      top = Math.max(top, ...one.y, ...(band ? band.high : []));
      bottom = Math.min(bottom, ...one.y, ...(band ? band.low : []));
      traces.push({ x: one.x, y: one.y, mode: "lines", line: { color: colours.models[one.model], width: 2, dash: DASHES[one.model % 4] }, name: plain(data.models[one.model].title), showlegend: data.models.length <= 3, customdata: one.x.map((x, k) => [percent(x), wording.number(one.y[k], 4)]), hovertemplate: "%{fullData.name}<br>at %{customdata[0]}: %{customdata[1]}<extra></extra>" });
      traces.push(marksOf(one.model, one.x, one.y.map((v) => v / (top || 1)), colours.models[one.model]));
      traces[traces.length - 1].y = traces[traces.length - 1].y.map((v) => v * (top || 1));
    });
    const chart = layout(colours, axis(colours, "threshold probability" + (byId("decision-chart").clientWidth > 600 ? ": act on scores at or above it" : ""), [0, 1]),
      axis(colours, "net benefit per row", [Math.max(Math.min(1.08 * bottom, -0.25 * top), -top), 1.08 * top], { zeroline: true, zerolinecolor: colours.soft, automargin: true }));
    chart.showlegend = true;
    chart.legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 }, traceorder: "normal" };
    chart.margin.t = 40;
    draw("decision-chart", traces, chart);
  }

  /* AUCPR above, as it is and at one prevalence; below it the prevalence itself. */
  function drawTimes() {
    if (!data.times) return;
    const colours = theme(), times = data.times, colour = colours.models[times.model];
    const places = times.starts.map((_, k) => k);
    const bars = (name, limits, shift, look, words, more) => {
      const seen = places.filter((k) => limits[k]);
      return Object.assign({
        x: seen.map((k) => k + shift), y: seen.map((k) => limits[k][0]), mode: "markers", name: name, marker: look,
        error_y: { type: "data", symmetric: false, array: seen.map((k) => limits[k][2] - limits[k][0]), arrayminus: seen.map((k) => limits[k][0] - limits[k][1]), color: look.color, thickness: 1.6, width: 3 },
        customdata: seen.map((k) => [plain(times.starts[k]), words(...limits[k])]), hovertemplate: "%{customdata[0]}<br>%{fullData.name}: %{customdata[1]}<extra></extra>",
      }, more || {});
    };
    const hollow = { size: 9, color: colours.soft, symbol: "circle-open", line: { width: 2 } };
    const traces = [
      bars("AUCPR as it is", times.own, -0.13, hollow, withLimits),
      bars("AUCPR at a prevalence of " + times.at, times.compared, 0.13, { size: 9, color: colour }, withLimits),
      bars("prevalence", times.prevalence, 0, { size: 7, color: colours.ink, symbol: "diamond" }, (y, low, high) => percent(y) + " (" + percent(low) + " to " + percent(high) + ")", { yaxis: "y2", showlegend: false }),
    ];
    const wide = byId("time-chart").clientWidth > 600, step = Math.ceil(times.starts.length / (wide ? 16 : 6));
    const ticks = places.filter((k) => k % step === 0);
    const chart = layout(colours,
      axis(colours, "", [-0.6, places.length - 0.4], { tickvals: ticks, ticktext: ticks.map((k) => plain(times.starts[k])), tickangle: wide && times.starts.length < 9 ? 0 : -40, automargin: true, showgrid: false, anchor: "y2" }),
      axis(colours, "AUCPR", null, { domain: [0.42, 1], rangemode: "tozero", automargin: true }));
    chart.yaxis2 = axis(colours, "prevalence", null, { domain: [0, 0.3], rangemode: "tozero", automargin: true, tickformat: ".2~%", nticks: 4 });
    chart.showlegend = true;
    chart.legend = { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } };
    chart.margin.t = wide ? 36 : 56;
    draw("time-chart", traces, chart);
  }

  /* The explorer. At a threshold of the table counts are exact; between two of them they are known
     to lie between two counts, because negatives' scores are not kept. */
  function placeOf(table, threshold) {
    let place = 0; // how many thresholds are not lower
    while (place < table.threshold.length && numeric(table.threshold[place]) >= threshold) place++;
    return place;
  }
  function chosen() {
    const table = data.models[state.model].thresholds;
    if (state.typed === null) {
      const row = state.row, tp = table.tp[row], fp = table.fp[row];
      return { exact: true, limits: table, index: row, tp: [tp, tp], fp: [fp, fp] };
    }
    const between = table.between, index = placeOf(table, state.typed);
    const tp = [between.tp_low[index], between.tp_high[index]], fp = [between.fp_low[index], between.fp_high[index]];
    return { exact: tp[0] === tp[1] && fp[0] === fp[1], limits: between, index: index, tp: tp, fp: fp };
  }
  function limitsOf(at) {
    const limits = at.limits, i = at.index;
    if (state.prevalence === home) return [limits.precision_low[i], limits.precision_high[i]];
    // Limits of recall and false-positive rate, each at half the error, give those of precision.
    const pi = state.prevalence;
    const precision = (recall, rate) => recall > 0 ? pi * recall / (pi * recall + (1 - pi) * rate) : 0;
    return [
      precision(limits.wide_recall_low[i], limits.wide_rate_high[i]),
      precision(limits.wide_recall_high[i], limits.wide_rate_low[i]),
    ];
  }
  function explore() {
    const at = chosen(), moved = state.prevalence !== home, pi = state.prevalence, factor = currentFactor();
    const total = data.n_pos + data.n_neg, tp = at.tp, fp = at.fp;
    const positive = moved ? total * pi / data.n_pos : 1, negative = moved ? total * (1 - pi) / data.n_neg : 1;
    const show = (id, low, high, shown) => { byId(id).textContent = wording.range(low, high, shown); };
    show("tp", positive * tp[0], positive * tp[1], count);
    show("fp", negative * fp[0], negative * fp[1], count);
    show("fn", positive * (data.n_pos - tp[1]), positive * (data.n_pos - tp[0]), count);
    show("tn", negative * (data.n_neg - fp[1]), negative * (data.n_neg - fp[0]), count);
    const limits = limitsOf(at), low = at.limits.recall_low[at.index], high = at.limits.recall_high[at.index];
    const worst = precisionOf(tp[0], fp[1], factor), best = precisionOf(tp[1], fp[0], factor);
    // With few positives there are counts, and no limits.
    const share = (low, high, limits, part, whole) => !data.few ? wording.rangeWithLimits(low, high, limits[0], limits[1])
      : at.exact && !moved && !data.weighted ? count(part) + " of " + count(whole)
      : wording.range(low, high, (value) => wording.fixed(value, 2));
    byId("precision").textContent = worst === null ? "\u2013"
      : best === null ? "0 if any row is selected"
      : share(worst, best, limits, tp[0], tp[0] + fp[0]);
    byId("recall").textContent = share(tp[0] / data.n_pos, tp[1] / data.n_pos, [low, high], tp[0], data.n_pos);
    const f1 = (found, wrong) => 2 * found / (found + factor * wrong + data.n_pos);
    const decimals = data.few ? 2 : wording.decimalsFor(Math.max(limits[1] - limits[0], high - low) / 2);
    show("f1", f1(tp[0], fp[1]), f1(tp[1], fp[0]), (value) => wording.fixed(value, decimals));
    const selected = (end) => (positive * tp[end] + negative * fp[end]) / total;
    show("selected", selected(0), selected(1), percent);
    const away = state.prevalence !== promised;
    byId("certificate").disabled = away || data.models[state.model].certificates.length === 0;
    byId("certificate-place").hidden = !away;
    explain(at, moved);
    const table = data.models[state.model].thresholds;
    const threshold = state.typed === null ? numeric(table.threshold[state.row]) : state.typed;
    // With all its digits: whoever copies it selects the same rows.
    byId("threshold").value = Math.abs(threshold) === Infinity ? thresholdText(threshold) : String(threshold);
    byId("threshold-slider").value = state.typed === null ? state.row : Math.max(at.index - 1, 0);
    byId("threshold-slider").setAttribute("aria-valuetext", thresholdText(threshold));
  }
  function explain(at, moved) {
    const said = [state.problem];
    if (moved) said.push("Expected in as many rows at a prevalence of " + percent(state.prevalence) + ".");
    else if (at.exact) said.push(data.weighted ? "Sums of the weights in the data." : "Counted in the data.");
    const table = data.models[state.model].thresholds, place = byId("threshold-near");
    place.replaceChildren();
    if (!at.exact) {
      said.push((data.weighted ? "Sums of weights" : "Counts") + " are kept at scores of positives. At " + thresholdText(state.typed) + " they lie within these limits. Exact at:");
      [at.index - 1, at.index].filter((row) => row >= 0 && row < table.threshold.length).forEach((row) => {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = thresholdText(table.threshold[row]);
        button.addEventListener("click", () => moveTo({ row: row }));
        place.append(button);
      });
    }
    if (state.typed === null && state.row === bestRow(table)) said.push("F1 is highest here.");
    byId("confusion-note").textContent = said.filter(Boolean).join(" ").replace(/ (?=%)/g, "\u00a0");
  }
  /* Move the threshold: a promise was about the old one. */
  function moveTo(where) {
    state.typed = null;
    state.problem = "";
    Object.assign(state, where);
    byId("certificate").value = "";
    byId("certificate-text").textContent = data.models[state.model].certificates.length
      ? "A threshold with this promise, although it is chosen on the same data."
      : "No precision clearly above the prevalence can be promised for this model.";
    moveMarker();
  }
  function type(text) {
    const value = Number(text.trim().replace("\u2212", "-").replace("\u221e", "Infinity"));
    if (text.trim() === "" || Number.isNaN(value)) {
      moveTo({ typed: state.typed, problem: "\u201c" + text + "\u201d is not a number." });
      return;
    }
    const table = data.models[state.model].thresholds, place = placeOf(table, value);
    if (place > 0 && numeric(table.threshold[place - 1]) === value) moveTo({ row: place - 1 });
    else moveTo({ typed: value });
  }
  function fillExplorer() {
    const model = data.models[state.model], select = byId("certificate");
    byId("threshold-slider").max = model.thresholds.threshold.length - 1;
    select.replaceChildren(new Option("\u2013", ""));
    model.certificates.forEach((point, i) => select.add(new Option(percent(point.required), String(i))));
    moveTo({ row: bestRow(model.thresholds) });
  }
  /* The threshold that the page opens with, at the prevalence that is shown. */
  function bestRow(table) {
    const factor = currentFactor();
    let best = 0, highest = -1;
    table.tp.forEach((tp, i) => {
      const f1 = 2 * tp / (tp + factor * table.fp[i] + data.n_pos);
      if (f1 > highest) { highest = f1; best = i; }
    });
    return best;
  }
  function moveMarker() { drawPR(); explore(); }

  function movePrevalence(prevalence, problem) {
    state.prevalence = prevalence;
    moveTo({ typed: state.typed });
    elsewhere(problem || "");
  }
  /* A prevalence that was computed, where this one differs by rounding only. */
  function snapped(value) {
    const near = grid.find((computed) => Math.abs(value - computed) < 1e-9 * computed);
    return near === undefined ? value : near;
  }
  /* A share, as 0.02 or 2 %; others are not taken. */
  function typePrevalence(text) {
    const share = /%\s*$/.test(text), value = Number(text.replace(/%\s*$/, "").trim()) / (share ? 100 : 1);
    const lowest = grid[0], highest = grid[grid.length - 1];
    if (text.trim() === "" || Number.isNaN(value) || value <= 0 || value >= 1) {
      movePrevalence(state.prevalence, "\u201c" + text + "\u201d is not a share: type 0.02 or 2 %.");
    } else if (value < lowest || value > highest) {
      movePrevalence(state.prevalence, "Computed from " + percent(lowest) + " to " + percent(highest) + " only.");
    } else movePrevalence(snapped(value));
  }
  const logit = (share) => Math.log(share / (1 - share));
  /* The table at the prevalence: as computed, or between two computed values, in log odds. */
  function tableAt(table, name) {
    const values = table[name], exact = grid.indexOf(state.prevalence);
    if (exact >= 0) return values[exact];
    let after = 1;
    while (grid[after] < state.prevalence) after++;
    const share = (logit(state.prevalence) - logit(grid[after - 1])) / (logit(grid[after]) - logit(grid[after - 1]));
    const ends = [values[after - 1], values[after]];
    if (ends[0] <= 0 || ends[1] >= 1) return ends[0] + share * (ends[1] - ends[0]);
    return 1 / (1 + Math.exp(-(logit(ends[0]) + share * (logit(ends[1]) - logit(ends[0])))));
  }
  function elsewhere(problem) {
    const pi = state.prevalence, slider = byId("prevalence-slider");
    byId("prevalence").value = percent(pi);
    byId("prevalence-note").textContent = problem
      || (pi === home ? "The prevalence of the data." : grid.includes(pi) ? "" : (data.few ? "Areas" : "Areas and limits") + " are read off between computed prevalences.");
    slider.value = logit(pi);
    slider.setAttribute("aria-valuetext", percent(pi));
    byId("prevalence-reset").disabled = pi === home;
    byId("prevalence-panel").classList.toggle("at-home", pi === home);
    const body = byId("elsewhere").tBodies[0];
    body.replaceChildren();
    data.models.forEach((model, i) => {
      const table = model.prevalences, row = body.insertRow();
      const name = row.insertCell(), mark = document.querySelectorAll(".models .swatch")[i].cloneNode(true);
      name.className = "pair";
      name.append(mark, model.title);
      const value = row.insertCell();
      value.className = "number";
      value.textContent = data.few ? wording.fixed(tableAt(table, "estimate"), 2)
        : withLimits(tableAt(table, "estimate"), tableAt(table, "low"), tableAt(table, "high"));
      const floor = row.insertCell();
      floor.className = "number";
      floor.textContent = wording.number(tableAt(table, "floor"));
    });
  }

  function drawBelow() {
    Object.keys(SMALL).forEach(drawSmall);
    drawForest();
    drawDifferences();
    drawDecisions();
    drawTimes();
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
    fillExplorer();
  });
  on("threshold-slider", "input", (event) => moveTo({ row: Number(event.target.value) }));
  on("threshold", "change", (event) => type(event.target.value));
  on("certificate", "change", (event) => {
    const index = event.target.value, point = data.models[state.model].certificates[Number(index)];
    if (index === "") { moveTo({ row: state.row }); return; }
    moveTo({ row: placeOf(data.models[state.model].thresholds, numeric(point.threshold)) - 1 });
    event.target.value = index;
    byId("certificate-text").textContent = point.message;
  });
  const slider = byId("prevalence-slider");
  slider.min = logit(grid[0]);
  slider.max = logit(grid[grid.length - 1]);
  on("prevalence-slider", "input", (event) => movePrevalence(snapped(1 / (1 + Math.exp(-Number(event.target.value))))));
  on("prevalence", "change", (event) => typePrevalence(event.target.value));
  on("prevalence-reset", "click", () => movePrevalence(home));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => { document.documentElement.dataset.print = "true"; drawAll(); });
  window.addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });

  if (byId("explore-model")) byId("explore-model").value = String(state.model);
  elsewhere("");
  fillExplorer();
  setTimeout(() => { // what is further down may come a moment later
    drawBelow();
    document.documentElement.dataset.ready = "true";
  }, 0);
})();
