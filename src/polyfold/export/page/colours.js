// Colours: along a scale, one for each kind, and about zero.

// Viridis, from dark to light, even in lightness and for any colour vision.
const SCALE = ["440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"]
  .map(readColour);

// Okabe and Ito's, which colour-blind people can tell apart, and a few more.
const KINDS = ["0072b2", "e69f00", "009e73", "cc79a7", "56b4e9", "d55e00", "c9b400", "8c6bb1", "999999", "8c510a"]
  .map(readColour);

const MISSING_COLOUR = [140, 140, 140];

function readColour(hex) {
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function blend(colours, share) {
  const place = Math.min(Math.max(share, 0), 1) * (colours.length - 1), low = Math.min(Math.floor(place), colours.length - 2);
  return colours[low].map((value, k) => Math.round(value + (place - low) * (colours[low + 1][k] - value)));
}

// Orange below zero, white at it, blue above; share from -1 to 1.
function blendAboutZero(share) {
  return blend([[179, 78, 12], [246, 246, 246], [24, 95, 160]], (share + 1) / 2);
}

// The ends of a scale: all but the outermost hundredth on each side, so that an outlier does not take all of it.
function findLimits(values) {
  const finite = Array.from(values).filter(Number.isFinite).sort((a, b) => a - b);
  if (!finite.length) return [0, 1];
  const at = (share) => finite[Math.round(share * (finite.length - 1))];
  const [low, high] = [at(0.01), at(0.99)];
  return low < high ? [low, high] : [finite[0], finite[finite.length - 1]];
}

// {colours: Uint8Array of 4 a point, legend}, of a column of numbers or of kinds.
function colourPoints(column, n) {
  const colours = new Uint8Array(4 * n).fill(255);
  const set = (i, colour) => colours.set(colour, 4 * i);
  if (!column) {
    for (let i = 0; i < n; i++) set(i, KINDS[0]);
    return { colours, legend: null };
  }
  if (column.texts) {
    // The commonest get a colour of their own, the others share one.
    const counts = new Float64Array(column.texts.length);
    for (const code of column.codes) counts[code]++;
    const order = Array.from(counts.keys()).sort((a, b) => counts[b] - counts[a]);
    const shown = column.texts.length <= KINDS.length ? order.sort((a, b) => a - b) : order.slice(0, KINDS.length - 1);
    const colourOf = new Map(shown.map((code, k) => [code, KINDS[k]]));
    for (let i = 0; i < n; i++) set(i, colourOf.get(column.codes[i]) || MISSING_COLOUR);
    const kinds = shown.map((code, k) => ({ text: column.texts[code], colour: KINDS[k] }));
    if (shown.length < column.texts.length) kinds.push({ text: "others", colour: MISSING_COLOUR });
    return { colours, legend: { kinds } };
  }
  const [low, high] = findLimits(column.values);
  const legend = { low, high, isBelow: false, isAbove: false, isMissing: false };
  for (let i = 0; i < n; i++) {
    const value = column.values[i];
    set(i, Number.isFinite(value) ? blend(SCALE, (value - low) / (high - low || 1)) : MISSING_COLOUR);
    legend.isBelow ||= value < low;
    legend.isAbove ||= value > high;
    legend.isMissing ||= !Number.isFinite(value);
  }
  return { colours, legend };
}
