// What the page carries: the map, the points, and what is known of them.

function byId(id) {
  return document.getElementById(id);
}

// An element with a text and attributes. Text is never read as markup.
function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function showNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "missing" : String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

const ARRAYS = { float64: Float64Array, float32: Float32Array, uint8: Uint8Array, uint32: Uint32Array };

// Numbers packed as Python packed them: deflated, then base64.
async function unpack({ type, packed }) {
  const bytes = Uint8Array.from(atob(packed), (mark) => mark.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new ARRAYS[type](await new Response(stream).arrayBuffer());
}

// One column of a table that holds rows side by side.
function takeColumn(table, width, column) {
  return Float64Array.from({ length: table.length / width }, (_, i) => table[i * width + column]);
}

async function loadData(payload) {
  const map = new ExplicitMap(payload.map), n = payload.n_points;
  const coordinates = n ? await unpack(payload.coordinates) : new Float64Array(0);
  const values = n && payload.values ? await unpack(payload.values) : null;
  const labels = [];
  for (const { name, texts, codes, numbers } of payload.labels) {
    labels.push(texts ? { name, texts, codes: await unpack(codes) } : { name, values: await unpack(numbers) });
  }
  if (payload.image && !map.hasNames) { // pixels by their places
    const [, width, channels = 1] = payload.image.shape;
    map.columns = map.columns.map((_, j) => {
      const pixel = Math.floor(j / channels), colour = channels === 3 ? ` ${"RGB"[j % 3]}` : "";
      return `r${Math.floor(pixel / width) + 1} c${(pixel % width) + 1}${colour}`;
    });
  }
  const columns = map.coordinates.map((name, c) => ({ name, values: takeColumn(coordinates, map.nOutputs, c) }));
  if (payload.scores) labels.push({ name: "extrapolation", values: await unpack(payload.scores) });
  return { map, n, columns, values, labels, image: payload.image, order: payload.order, nSamples: payload.n_samples, rows: n ? await unpack(payload.rows) : [] };
}

// What a label column says of a point.
function tellLabel(label, i) {
  return label.texts ? label.texts[label.codes[i]] : label.values[i];
}

function takeSample(data, i) {
  const width = data.map.nInputs;
  return data.values ? Float64Array.from(data.values.subarray(i * width, (i + 1) * width)) : null;
}

function saveFile(name, text) {
  const link = make("a", "", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
