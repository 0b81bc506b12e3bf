"use strict";
/* Numbers as precall/evaluation/wording.py words them: the same rules, tested against it. */
const wording = (function () {
  const DASH = "\u2013", MINUS = "\u2212", ROUNDING = 1e-12;
  const exponentOf = (value) => Math.floor(Math.log10(Math.abs(value)));

  /* Python rounds what lies exactly in the middle to the even digit, toFixed rounds it up. */
  function rounded(value, decimals) {
    const scaled = Math.abs(value) * Math.pow(10, decimals);
    const middle = Number.isInteger(value * Math.pow(2, decimals + 1)) && scaled % 1 === 0.5;
    if (!middle) return value.toFixed(decimals);
    const even = 2 * Math.round(scaled / 2);
    return (value < 0 ? "-" : "") + (even / Math.pow(10, decimals)).toFixed(decimals);
  }
  function scientific(value, digits) { // two digits of exponent at least, as in Python
    return value.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2");
  }
  const signed = (text) => text.replace(/-/g, MINUS);

  /* The digits that an uncertainty supports (Particle Data Group). */
  function decimalsFor(uncertainty) {
    if (!(uncertainty > 0) || !isFinite(uncertainty)) return 4;
    const exponent = exponentOf(uncertainty);
    const leading = Math.round(uncertainty / Math.pow(10, exponent - 2));
    const digits = leading <= 354 ? 2 : 1; // one digit of 95 and two of 100 need the same decimals
    return Math.min(Math.max(digits - 1 - exponent, 0), 12);
  }
  /* Only 0 is printed as 0, and only `whole` (1, or 100 in percent) as whole. */
  function fixed(value, decimals, whole, digits) {
    whole = whole || 1;
    const more = (digits || 2) - 1;
    if (Math.abs(value - whole) <= ROUNDING * whole) value = whole;
    if (value === 0) value = 0; // not -0
    let text = rounded(value, decimals);
    while (Number(text) === whole && value !== whole) text = rounded(value, ++decimals);
    if (Number(text) === 0 && value !== 0) {
      text = Math.abs(value) < 1e-6 ? scientific(value, more) : rounded(value, more - exponentOf(value));
    }
    return signed(text);
  }
  const number = (value) => fixed(value, 3);
  /* Two numbers of which the true one lies between, or one if they are the same. */
  function range(low, high, shown) {
    const first = shown(low), last = shown(high);
    return first === last ? first : first + " to " + last;
  }
  function withLimits(value, low, high) { return rangeWithLimits(value, value, low, high); }
  function rangeWithLimits(smallest, largest, low, high) {
    const certain = low === high && (high === 0 || high === 1);
    const decimals = certain ? 2 : decimalsFor((high - low) / 2);
    const nothing = low < 0 ? ROUNDING * (high - low) : 0;
    const shown = (value) => fixed(Math.abs(value) <= nothing ? 0 : value, decimals, 1, 1);
    const between = low < 0 || high < 0 ? " to " : DASH;
    return range(smallest, largest, shown) + " (" + shown(low) + between + shown(high) + ")";
  }
  const withoutZeros = (text) => text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  function percent(share) {
    const scaled = 100 * share;
    if (!(scaled > 0)) return "0 %";
    return withoutZeros(fixed(scaled, Math.max(2 - exponentOf(scaled), 0), 100)) + " %";
  }
  /* The format "g" of Python. */
  function general(value, digits) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    if (exponent < -4 || exponent >= digits) {
      return withoutZeros(mantissa) + scientific(value, digits - 1).replace(/^[^e]*/, "");
    }
    return withoutZeros(value.toFixed(digits - 1 - exponent));
  }
  function count(value) {
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    return Math.abs(value) >= 999.5 ? Number(rounded(value, 0)).toLocaleString("en-US") : general(value, 3);
  }
  function threshold(value) {
    if (Math.abs(value) === Infinity) return signed(value > 0 ? "\u221e" : "-\u221e");
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return signed(String(value));
    let short = general(value, 6);
    if (Number(short) > value) { // never rounded up: the rows it selects stay selected
      const step = Math.pow(10, exponentOf(value) - 5);
      short = general(Math.floor(value / step) * step, 6);
    }
    return signed(short);
  }
  return { decimalsFor, fixed, number, range, withLimits, rangeWithLimits, percent, count, threshold };
})();
