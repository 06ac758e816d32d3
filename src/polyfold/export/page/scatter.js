// Points in the plane, drawn by the graphics processor; the view, and what is near a place or within a path.

const VERTICES = `#version 300 es
in vec2 place; in vec4 colour; in float chosen;
uniform vec2 middle, scale; uniform float size, dimmed;
out vec4 shade;
void main() {
  gl_Position = vec4((place - middle) * scale, 0.0, 1.0);
  gl_PointSize = size * (chosen > 0.5 ? 1.35 : 1.0);
  shade = vec4(colour.rgb, chosen > 0.5 ? 1.0 : dimmed);
}`;

const FRAGMENTS = `#version 300 es
precision mediump float;
in vec4 shade; uniform float ring; out vec4 drawn;
void main() {
  float radius = length(gl_PointCoord - 0.5) * 2.0;
  if (radius > 1.0 || radius < ring) discard;
  float alpha = shade.a * smoothstep(1.0, 0.75, radius);
  drawn = vec4(shade.rgb * alpha, alpha);
}`;

class Scatter {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
    this.layers = { points: { n: 0 }, placed: { n: 0 } };
    this.middle = [0, 0];
    this.span = [2, 2]; // what the view shows, in coordinates
    this.home = { middle: [0, 0], span: [2, 2] };
    if (this.gl) this.prepare();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.prepare(); this.draw(); });
  }

  prepare() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTICES], [gl.FRAGMENT_SHADER, FRAGMENTS]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    this.program = program;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    for (const layer of Object.values(this.layers)) {
      layer.buffers = null;
      if (layer.n) this.upload(layer);
    }
  }

  // Coordinates become numbers near 1, as the graphics processor has few digits.
  setLayer(name, across, up, colours, chosen) {
    const layer = this.layers[name];
    Object.assign(layer, { n: across.length, across, up, colours, chosen });
    this.upload(layer);
  }

  upload(layer) {
    const gl = this.gl;
    if (!gl) return;
    layer.buffers ||= [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    const [x, y] = this.home.middle, [width, height] = this.home.span;
    const places = new Float32Array(2 * layer.n);
    for (let i = 0; i < layer.n; i++) {
      places[2 * i] = (layer.across[i] - x) / width;
      places[2 * i + 1] = (layer.up[i] - y) / height;
    }
    [places, layer.colours, layer.chosen].forEach((content, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffers[k]);
      gl.bufferData(gl.ARRAY_BUFFER, content, gl.DYNAMIC_DRAW);
    });
  }

  // Have the view hold all of some limits, where both are coordinates with equal scales unless one is far longer.
  fit(limits, isPlane) {
    const [[left, right], [bottom, top]] = limits;
    const width = right - left || 1, height = top - bottom || 1;
    this.home = { middle: [(left + right) / 2, (bottom + top) / 2], span: [width, height] };
    this.isEqual = isPlane && width < 8 * height && height < 8 * width;
    this.reset();
  }

  reset() {
    this.middle = [...this.home.middle];
    this.span = this.home.span.map((length) => length * 1.12);
    this.isHome = true;
    const { clientWidth, clientHeight } = this.canvas;
    if (!this.isEqual || !clientWidth || !clientHeight) return;
    const wanted = clientWidth / clientHeight, [width, height] = this.span;
    if (width / height < wanted) this.span[0] = height * wanted;
    else this.span[1] = width / wanted;
  }

  // A view of all stays one; another keeps its middle and its scale.
  resize() {
    const ratio = window.devicePixelRatio || 1, { clientWidth, clientHeight } = this.canvas;
    const before = this.size, after = [clientWidth, clientHeight];
    this.size = after;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    if (this.isHome) this.reset();
    else if (before && Math.min(...before, ...after) > 0) this.span = this.span.map((length, k) => (length * after[k]) / before[k]);
  }

  get limits() {
    const [x, y] = this.middle, [width, height] = this.span;
    return { left: x - width / 2, right: x + width / 2, bottom: y - height / 2, top: y + height / 2 };
  }

  // From coordinates to pixels of the page within the canvas, and back.
  toPixels(x, y) {
    const { clientWidth, clientHeight } = this.canvas;
    return [
      ((x - this.middle[0]) / this.span[0] + 0.5) * clientWidth,
      (0.5 - (y - this.middle[1]) / this.span[1]) * clientHeight,
    ];
  }

  toCoordinates(px, py) {
    const { clientWidth, clientHeight } = this.canvas;
    return [
      (px / clientWidth - 0.5) * this.span[0] + this.middle[0],
      (0.5 - py / clientHeight) * this.span[1] + this.middle[1],
    ];
  }

  zoom(factor, px, py) {
    this.isHome = false;
    const { clientWidth, clientHeight } = this.canvas;
    const [x, y] = this.toCoordinates(px ?? clientWidth / 2, py ?? clientHeight / 2);
    const allowed = Math.min(Math.max(factor, (1e-5 * this.home.span[0]) / this.span[0]), (50 * this.home.span[0]) / this.span[0]);
    this.middle = [x + (this.middle[0] - x) * allowed, y + (this.middle[1] - y) * allowed];
    this.span = this.span.map((length) => length * allowed);
  }

  lookAt(x, y) {
    this.isHome = false;
    this.middle = [x, y];
  }

  pan(dx, dy) {
    this.isHome = false;
    const { clientWidth, clientHeight } = this.canvas;
    this.middle[0] -= (dx / clientWidth) * this.span[0];
    this.middle[1] += (dy / clientHeight) * this.span[1];
  }

  draw() {
    const gl = this.gl, { chosen } = this.layers.points, anyChosen = Boolean(chosen && chosen.includes(1));
    if (!gl) return;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [x, y] = this.home.middle, [width, height] = this.home.span;
    const set = (name, ...values) => gl[`uniform${values.length}f`](gl.getUniformLocation(this.program, name), ...values);
    set("middle", (this.middle[0] - x) / width, (this.middle[1] - y) / height);
    set("scale", (2 * width) / this.span[0], (2 * height) / this.span[1]);
    const ratio = window.devicePixelRatio || 1, closer = Math.sqrt((1.12 * width) / this.span[0]);
    // Many points are small, and grow as the view comes closer.
    const measure = (n, least, most) => Math.min(Math.max((260 / Math.sqrt(n + 1)) * Math.max(closer, 0.5), least), most);
    for (const [name, ring, least, most] of [["points", 0, 3, 14], ["placed", 0.6, 9, 20]]) {
      const layer = this.layers[name];
      if (!layer.n || !layer.buffers) continue;
      const dense = layer.n > 20000 ? 0.75 : 0.9;
      set("size", measure(layer.n, least, most) * ratio);
      set("ring", ring);
      set("dimmed", anyChosen && name === "points" ? 0.12 : dense);
      [["place", 2, gl.FLOAT, false], ["colour", 4, gl.UNSIGNED_BYTE, true], ["chosen", 1, gl.UNSIGNED_BYTE, false]].forEach(
        ([attribute, length, type, scaled], k) => {
          const place = gl.getAttribLocation(this.program, attribute);
          gl.bindBuffer(gl.ARRAY_BUFFER, layer.buffers[k]);
          gl.enableVertexAttribArray(place);
          gl.vertexAttribPointer(place, length, type, scaled, 0, 0);
        },
      );
      gl.drawArrays(gl.POINTS, 0, layer.n);
    }
  }

  // The point nearest to a pixel, at most so many pixels away; -1 where there is none.
  findNearest(px, py, reach = 10) {
    const { across, up, n } = this.layers.points;
    const [x, y] = this.toCoordinates(px, py), { clientWidth, clientHeight } = this.canvas;
    const perX = clientWidth / this.span[0], perY = clientHeight / this.span[1];
    let nearest = -1, best = reach * reach;
    for (let i = 0; i < n; i++) {
      const dx = (across[i] - x) * perX, dy = (up[i] - y) * perY, distance = dx * dx + dy * dy;
      if (distance < best) { best = distance; nearest = i; }
    }
    return nearest;
  }

  // Which points lie within a path of pixels, by the even-odd rule.
  findWithin(path) {
    const { across, up, n } = this.layers.points, inside = new Uint8Array(n);
    const corners = path.map(([px, py]) => this.toCoordinates(px, py));
    const xs = corners.map(([x]) => x), ys = corners.map(([, y]) => y);
    const [left, right, bottom, top] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    for (let i = 0; i < n; i++) {
      const x = across[i], y = up[i];
      if (x < left || x > right || y < bottom || y > top) continue;
      let odd = false;
      for (let a = 0, b = corners.length - 1; a < corners.length; b = a++) {
        if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) odd = !odd;
      }
      inside[i] = odd ? 1 : 0;
    }
    return inside;
  }
}

// Round numbers that lie evenly between two, and what writes them.
function listTicks(low, high, about = 5) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough) * power, first = Math.ceil(low / step);
  const n = Math.floor(high / step) - first + 1;
  // None where numbers are too near each other, or too far from each other, for a computer to tell.
  const ticks = n >= 0 && n < 100 && low + step > low ? Array.from({ length: n }, (_, k) => (first + k) * step) : [];
  const digits = -Math.floor(Math.log10(step) + 1e-9);
  const isPlain = digits <= 6 && Math.max(Math.abs(low), Math.abs(high)) < 1e6;
  return { ticks, write: (tick) => (isPlain ? tick.toFixed(Math.max(0, digits)) : String(Number(tick.toPrecision(4)))) };
}
