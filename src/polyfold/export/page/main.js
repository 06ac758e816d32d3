// The page: the plot and its controls, the sample, the files that are brought, and the selection.

class Page {
  constructor(data) {
    this.data = data;
    this.chosen = new Uint8Array(data.n);
    this.hovered = -1;
    this.path = null;
    this.scatter = new Scatter(byId("points"));
    this.up = data.columns.length > 1 ? 1 : 0;
    this.across = 0;
    this.describe();
    this.fillControls();
    this.showAxes();
    this.placed = new PlacedPanel(data, (rows) => this.showPlaced(rows), (x, origin) => this.sample.take(x, origin));
    this.sample = new SamplePanel(data, () => this.moveProbe());
    this.pick(this.findMiddle());
    this.listen();
    new ResizeObserver(() => { this.scatter.resize(); this.draw(); }).observe(byId("stage"));
  }

  // The point nearest to the middle of the view; -1 where there is none.
  findMiddle() {
    const { across, up, n } = this.scatter.layers.points, [x, y] = this.scatter.home.middle;
    const far = (i) => (i < 0 ? Infinity : Math.hypot(across[i] - x, up[i] - y));
    // One of those that lie well within what was learned, if there are any.
    const scores = this.data.labels.find(({ name }) => name === "extrapolation"), inside = (i) => !scores || scores.values[i] <= 0.9;
    let nearest = -1, any = -1;
    for (let i = 0; i < n; i++) {
      if (far(i) < far(any)) any = i;
      if (inside(i) && far(i) < far(nearest)) nearest = i;
    }
    return nearest < 0 ? any : nearest;
  }

  describe() {
    const { map, n, nSamples } = this.data, through = map.axes ? ` through ${map.nAxes} principal axes` : "";
    const columns = `${map.nInputs.toLocaleString("en")} column${map.nInputs > 1 ? "s" : ""}`;
    byId("about").textContent = `${n.toLocaleString("en")}${n < nSamples ? ` of ${nSamples.toLocaleString("en")}` : ""} points. The map takes ${columns}${through} to ${map.nOutputs} coordinate${map.nOutputs > 1 ? "s" : ""}, as a polynomial of ${map.monomials.length.toLocaleString("en")} terms.`;
    if (!this.scatter.gl) byId("stage").append(make("p", "This browser has no WebGL 2, so the points are not drawn. All else works.", { class: "failed" }));
  }

  // Columns that points can be coloured by, in groups.
  listColours() {
    const { data } = this, groups = [];
    if (data.labels.length) groups.push(["Of the data", data.labels]);
    groups.push(["Coordinates", data.columns]);
    if (data.values) {
      const taken = new Map();
      groups.push(["Columns of the map", data.order.map((j) => ({
        name: data.map.columns[j],
        get values() {
          if (!taken.has(j)) taken.set(j, takeColumn(data.values, data.map.nInputs, j));
          return taken.get(j);
        },
      }))]);
    }
    return groups;
  }

  fillControls() {
    const select = byId("colour");
    this.colours = [null];
    select.append(make("option", "nothing", { value: 0 }));
    for (const [title, columns] of this.listColours()) {
      const group = make("optgroup", "", { label: title });
      for (const column of columns) {
        group.append(make("option", column.name, { value: this.colours.length }));
        this.colours.push(column);
      }
      select.append(group);
    }
    // What tells every point from every other, as an id does, is no colour to begin with.
    const first = this.data.labels.findIndex(({ texts }) => !texts || texts.length <= Math.max(this.data.n / 4, 2));
    select.value = this.data.n ? first + 1 : 0;
    select.addEventListener("change", () => { this.colourPoints(); this.draw(); });
    const { columns } = this.data;
    for (const [id, chosen] of [["across", this.across], ["up", this.up]]) {
      byId(id).append(...columns.map(({ name }, c) => make("option", name, { value: c })));
      byId(id).value = chosen;
      byId(id).addEventListener("change", () => { this[id] = Number(byId(id).value); this.showAxes(); this.showPlaced(this.placed.rows); this.moveProbe(); });
    }
    for (const label of document.querySelectorAll(".axis")) label.hidden = columns.length < 3;
  }

  // The places of points along the two coordinates that are shown; along a single one they are spread by chance.
  takePlaces(columns) {
    const across = columns[this.across].values, spread = (i) => (i * 0.6180339887498949) % 1;
    return [across, columns.length > 1 ? columns[this.up].values : Float64Array.from(across, (_, i) => spread(i))];
  }

  showAxes() {
    const { data } = this, [across, up] = this.takePlaces(data.columns);
    const find = (values) => values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
    this.scatter.fit(data.n ? [find(across), find(up)] : this.guessLimits().map(find), data.columns.length > 1);
    this.colourPoints();
    this.draw();
  }

  // Where there are no points: where the mean lands, and what is at either end of a column and else at the mean.
  guessLimits() {
    const { map, order } = this.data, { center, ranges } = map.domain || { center: map.shift, ranges: null };
    const samples = [center];
    for (const j of order.slice(0, 100)) for (const end of [0, 1]) {
      const x = Float64Array.from(center);
      x[j] = ranges ? ranges[end][j] : x[j] + (end ? 1 : -1) * map.scale;
      samples.push(x);
    }
    const placed = samples.map((x) => map.place(x));
    const across = placed.map((y) => y[this.across]);
    return [across, map.nOutputs > 1 ? placed.map((y) => y[this.up]) : [0, 1]];
  }

  colourPoints() {
    const { data } = this, column = this.colours[Number(byId("colour").value)];
    const { colours, legend } = colourPoints(column, data.n);
    const [across, up] = this.takePlaces(data.columns);
    this.scatter.setLayer("points", across, up, colours, this.chosen);
    this.showLegend(column, legend);
  }

  showLegend(column, legend) {
    const box = byId("legend");
    box.replaceChildren();
    if (!legend) return;
    box.append(make("b", column.name));
    const addKind = (text, colour) => {
      const kind = make("span"), swatch = make("span", "", { class: "swatch" });
      swatch.style.background = `rgb(${colour})`;
      kind.append(swatch, text);
      box.append(kind);
    };
    if (legend.kinds) {
      for (const { text, colour } of legend.kinds) addKind(text === "" ? "(empty)" : text, colour);
      return;
    }
    const scale = make("canvas", "", { width: 64, height: 1, "aria-hidden": "true" }), context = scale.getContext("2d");
    for (let k = 0; k < 64; k++) { context.fillStyle = `rgb(${blend(SCALE, k / 63)})`; context.fillRect(k, 0, 1, 1); }
    const [low, high] = [(legend.isBelow ? "≤ " : "") + showNumber(legend.low), (legend.isAbove ? "≥ " : "") + showNumber(legend.high)];
    box.append(make("span", low), scale, make("span", high));
    if (legend.isMissing) addKind("missing", MISSING_COLOUR);
  }

  showPlaced(rows) {
    const colours = new Uint8Array(4 * rows.length).fill(255), columns = this.data.columns.map((_, c) => ({
      values: Float64Array.from(rows, ({ y }) => y[c]),
    }));
    rows.forEach(({ score }, i) => colours.set(score > 1 ? OUTSIDE_COLOUR : PLACED_COLOUR, 4 * i));
    const [across, up] = this.takePlaces(columns);
    this.scatter.setLayer("placed", across, up, colours, new Uint8Array(rows.length).fill(1));
    this.draw();
  }

  // Have the view hold all points and all rows that were brought.
  showAllPlaced() {
    const { points, placed } = this.scatter.layers, home = this.scatter.home, find = ([low, high], values) => values.reduce(
      ([least, most], value) => [Math.min(least, value), Math.max(most, value)], [low, high]);
    const limits = [find([Infinity, -Infinity], placed.across), find([Infinity, -Infinity], placed.up)];
    this.scatter.fit(points.n ? [find(limits[0], points.across), find(limits[1], points.up)] : limits, this.data.columns.length > 1);
    this.scatter.home = home; // what a reset goes back to
    this.scatter.isHome = false;
    this.draw();
  }

  moveProbe() {
    if (!this.sample) return;
    const { y, isOutside } = this.sample, probe = byId("probe");
    const [px, py] = this.scatter.toPixels(y[this.across], this.data.columns.length > 1 ? y[this.up] : 0.5);
    // A sample out of view is marked at the edge that it lies beyond.
    const { clientWidth, clientHeight } = byId("stage"), keep = (value, most) => Math.min(Math.max(value, 6), most - 6);
    const isFar = px < 0 || py < 0 || px > clientWidth || py > clientHeight;
    probe.style.left = `${isFar ? keep(px, clientWidth) : px}px`;
    probe.style.top = `${isFar ? keep(py, clientHeight) : py}px`;
    probe.className = `${isOutside ? "out" : ""} ${isFar ? "far" : ""}`;
    probe.title = isFar ? "The sample lies beyond this edge" : "";
  }

  draw() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.scatter.draw();
      this.drawMarks();
      this.moveProbe();
      const { left, right, bottom, top } = this.scatter.limits;
      byId("stage").dataset.view = JSON.stringify([left, right, bottom, top]);
    });
  }

  drawMarks() {
    const canvas = byId("marks"), ratio = window.devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
    [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const context = canvas.getContext("2d"), look = getComputedStyle(document.body), { left, right, bottom, top } = this.scatter.limits;
    context.scale(ratio, ratio);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = look.getPropertyValue("--faint");
    context.strokeStyle = look.getPropertyValue("--line");
    const across = listTicks(left, right, Math.max(width / 110, 3)), up = listTicks(bottom, top, Math.max(height / 90, 3));
    for (const tick of across.ticks) {
      const [px] = this.scatter.toPixels(tick, 0);
      context.strokeRect(px, height - 5, 0, 5);
      context.fillText(across.write(tick), px + 3, height - 4);
    }
    for (const tick of this.data.columns.length > 1 ? up.ticks : []) {
      const [, py] = this.scatter.toPixels(0, tick);
      context.strokeRect(0, py, 5, 0);
      if (py < height - 24 && py > 30) context.fillText(up.write(tick), 7, py + 4);
    }
    const { columns } = this.data;
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(`${columns[this.across].name} →`, width - 40, height - 20);
    if (columns.length > 1) context.fillText(`↑ ${columns[this.up].name}`, 8, 16);
    if (this.hovered >= 0) {
      const { across: xs, up: ys } = this.scatter.layers.points, [px, py] = this.scatter.toPixels(xs[this.hovered], ys[this.hovered]);
      context.strokeStyle = look.getPropertyValue("--text");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(px, py, 8, 0, 7);
      context.stroke();
    }
    if (this.path) {
      context.strokeStyle = look.getPropertyValue("--accent");
      context.setLineDash([5, 4]);
      context.lineWidth = 1.5;
      context.beginPath();
      for (const [px, py] of this.path) context.lineTo(px, py);
      context.closePath();
      context.stroke();
    }
  }

  hover(i) {
    if (i === this.hovered) return;
    this.hovered = i;
    this.showTip();
    this.draw();
  }

  // Go to a point; the view follows where it does not show it.
  step(i) {
    const { across, up } = this.scatter.layers.points, { left, right, bottom, top } = this.scatter.limits;
    if (across[i] < left || across[i] > right || up[i] < bottom || up[i] > top) this.scatter.lookAt(across[i], up[i]);
    this.hover(i);
  }

  showTip() {
    const tip = byId("tip"), i = this.hovered, { data } = this;
    tip.hidden = i < 0;
    if (i < 0) return;
    const facts = make("dl"), add = (name, value) => facts.append(make("dt", name), make("dd", typeof value === "number" ? showNumber(value) : value));
    add("row", String(data.rows[i]));
    for (const label of data.labels.slice(0, 8)) {
      const value = tellLabel(label, i);
      add(label.name, Number.isInteger(value) ? String(value) : value); // an id in all its digits
    }
    for (const { name, values } of data.columns.slice(0, 4)) add(name, values[i]);
    const x = takeSample(data, i), shown = [];
    if (x && data.image) {
      const canvas = make("canvas");
      drawImage(canvas, data.image, x);
      shown.push(canvas);
    } else if (x) for (const j of data.order.slice(0, 8)) add(data.map.columns[j], x[j]);
    tip.replaceChildren(...shown, facts);
    const { across, up } = this.scatter.layers.points, [px, py] = this.scatter.toPixels(across[i], up[i]);
    const { clientWidth, clientHeight } = byId("stage");
    tip.style.left = `${Math.max(4, px + 16 + tip.offsetWidth > clientWidth ? px - 16 - tip.offsetWidth : px + 16)}px`;
    tip.style.top = `${Math.max(4, Math.min(py - 10, clientHeight - tip.offsetHeight - 4))}px`;
  }

  pick(i) {
    const x = i >= 0 && takeSample(this.data, i);
    if (x) this.sample.take(x, `Row ${this.data.rows[i]} of the data.`);
  }

  select(inside) {
    this.chosen = inside;
    const n = inside.reduce((sum, value) => sum + value, 0);
    byId("selected").textContent = n ? `${n.toLocaleString("en")} point${n > 1 ? "s" : ""} selected.` : "No points selected.";
    for (const id of ["save-selection", "clear-selection"]) byId(id).disabled = !n;
    this.colourPoints();
    this.draw();
  }

  selectView() {
    const { clientWidth: width, clientHeight: height } = byId("points");
    this.select(this.scatter.findWithin([[0, 0], [width, 0], [width, height], [0, height]]));
  }

  saveSelection() {
    const { data } = this, names = data.values && !data.image ? data.map.columns : [];
    const taken = new Set(["row", ...names, ...data.map.coordinates]), label = (name) => (taken.has(name) ? `${name} (data)` : name);
    const head = ["row", ...data.labels.map(({ name }) => label(name)), ...names, ...data.map.coordinates], rows = [head];
    for (let i = 0; i < data.n; i++) {
      if (!this.chosen[i]) continue;
      rows.push([data.rows[i], ...data.labels.map((each) => tellLabel(each, i)), ...(names.length ? takeSample(data, i) : []), ...data.columns.map(({ values }) => values[i])]);
    }
    saveFile("selection.csv", writeDelimited(rows));
  }

  get isLasso() {
    return byId("lasso").getAttribute("aria-pressed") === "true";
  }

  toggleLasso() {
    byId("lasso").setAttribute("aria-pressed", String(!this.isLasso));
    byId("points").classList.toggle("lasso", this.isLasso);
  }

  listen() {
    byId("lasso").addEventListener("click", () => this.toggleLasso());
    byId("take-view").addEventListener("click", () => this.selectView());
    byId("reset").addEventListener("click", () => this.reset());
    byId("show-placed").addEventListener("click", () => this.showAllPlaced());
    byId("clear-selection").addEventListener("click", () => this.select(new Uint8Array(this.data.n)));
    byId("save-selection").addEventListener("click", () => this.saveSelection());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    this.listenToPointers(byId("points"));
    byId("points").addEventListener("keydown", (event) => this.takeKey(event));
  }

  reset() {
    this.scatter.reset();
    this.draw();
  }

  listenToPointers(canvas) {
    const held = new Map(), place = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let moved = 0;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, place(event));
      moved = 0;
      this.path = held.size === 1 && (this.isLasso || event.shiftKey) ? [place(event)] : null;
    });
    canvas.addEventListener("pointermove", (event) => {
      const here = place(event), before = held.get(event.pointerId);
      if (!before) { this.hover(this.scatter.findNearest(...here)); return; }
      const [dx, dy] = [here[0] - before[0], here[1] - before[1]];
      moved += Math.hypot(dx, dy);
      if (this.path) this.path.push(here);
      else if (held.size === 2) {
        const other = [...held].find(([id]) => id !== event.pointerId)[1], gap = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
        this.scatter.zoom(gap(before) / Math.max(gap(here), 1), ...other);
      } else this.scatter.pan(dx, dy);
      held.set(event.pointerId, here);
      if (moved > 3) this.hover(-1);
      this.draw();
    });
    const release = (event) => {
      if (!held.delete(event.pointerId)) return;
      if (this.path && moved > 3) this.select(this.scatter.findWithin(this.path));
      else if (moved <= 3 && event.type === "pointerup") {
        const near = this.scatter.findNearest(...place(event), event.pointerType === "touch" ? 20 : 10);
        this.pick(near);
        this.hover(near); // a finger does not hover
      }
      this.path = null;
      this.draw();
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") this.hover(-1); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scatter.zoom(Math.exp(Math.min(Math.max(event.deltaY, -200), 200) / 300), ...place(event));
      this.hover(-1);
      this.draw();
    }, { passive: false });
  }

  takeKey(event) {
    const { n } = this.data, step = 40, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const actions = {
      "+": () => this.scatter.zoom(0.8), "=": () => this.scatter.zoom(0.8), "-": () => this.scatter.zoom(1.25),
      0: () => this.reset(), Home: () => this.reset(), l: () => this.toggleLasso(), v: () => this.selectView(),
      n: () => n && this.step((this.hovered + 1) % n), p: () => n && this.step((Math.max(this.hovered, 0) + n - 1) % n),
      Enter: () => this.pick(this.hovered),
      Escape: () => { this.hover(-1); this.select(new Uint8Array(n)); },
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) this.scatter.pan(...moves[event.key]);
    else if (actions[event.key] || actions[event.key.toLowerCase()]) (actions[event.key] || actions[event.key.toLowerCase()])();
    else return;
    event.preventDefault();
    this.draw();
  }
}

loadData(JSON.parse(byId("payload").textContent)).then((data) => {
  new Page(data);
  document.documentElement.dataset.ready = "true";
}).catch((error) => {
  byId("about").textContent = `This page could not be read: ${error.message}`;
  byId("about").className = "failed";
});
