// The map: what places a sample, its slopes, and how far outside it lies. Reads the JSON that `to_json` writes.

class ExplicitMap {
  constructor(document) {
    const { shift, scale, axes, offset } = document.arrays;
    Object.assign(this, { shift, scale, axes, offset, monomials: document.monomials, weights: document.weights });
    this.nInputs = shift.length;
    this.nOutputs = offset.length;
    this.nAxes = axes ? axes[0].length : this.nInputs;
    this.columns = document.map.columns || shift.map((_, j) => `x${j}`);
    this.hasNames = document.map.columns !== null;
    this.coordinates = offset.map((_, c) => `y${c}`);
    this.domain = ExplicitMap.readDomain(document.arrays);
  }

  static readDomain(arrays) {
    if (!arrays["domain.center"]) return null;
    const [center, directions, spreads, reach, thickness] =
      ["center", "directions", "spreads", "reach", "thickness"].map((name) => arrays[`domain.${name}`]);
    return { center, directions, spreads, reach, thickness, ranges: arrays["domain.ranges"] || null };
  }

  // The variables of the polynomial, about an origin.
  locate(x, origin) {
    if (!this.axes) return Float64Array.from(x, (value, j) => (value - origin[j]) / this.scale);
    const z = new Float64Array(this.nAxes);
    for (let j = 0; j < this.nInputs; j++) {
      const about = (x[j] - origin[j]) / this.scale, row = this.axes[j];
      for (let k = 0; k < z.length; k++) z[k] += about * row[k];
    }
    return z;
  }

  place(x) {
    const z = this.locate(x, this.shift), y = Float64Array.from(this.offset);
    for (let f = 0; f < this.monomials.length; f++) {
      let product = 1;
      for (const v of this.monomials[f]) product *= z[v];
      const weights = this.weights[f];
      for (let c = 0; c < y.length; c++) y[c] += weights[c] * product;
    }
    return y;
  }

  // Slopes of each coordinate along each column.
  differentiate(x) {
    const z = this.locate(x, this.shift);
    const inner = Array.from({ length: this.nOutputs }, () => new Float64Array(this.nAxes));
    this.monomials.forEach((variables, f) => {
      const weights = this.weights[f];
      variables.forEach((v, place) => {
        let others = 1;
        for (let i = 0; i < variables.length; i++) if (i !== place) others *= z[variables[i]];
        for (let c = 0; c < this.nOutputs; c++) inner[c][v] += weights[c] * others;
      });
    });
    return inner.map((slopes) => Float64Array.from({ length: this.nInputs }, (_, j) => {
      if (!this.axes) return slopes[j] / this.scale;
      let sum = 0;
      for (let k = 0; k < slopes.length; k++) sum += this.axes[j][k] * slopes[k];
      return sum / this.scale;
    }));
  }

  // 1 is the edge of what was learned; null where the map does not know.
  extrapolate(x) {
    const domain = this.domain;
    if (!domain) return null;
    const located = this.locate(x, domain.center);
    let square = 0, within = 0, distance = 0;
    for (let j = 0; j < this.nInputs; j++) square += ((x[j] - domain.center[j]) / this.scale) ** 2;
    domain.spreads.forEach((spread, d) => {
      let along = 0;
      for (let k = 0; k < located.length; k++) along += located[k] * domain.directions[k][d];
      within += along * along;
      distance += (along / spread) ** 2;
    });
    const off = domain.thickness ? Math.sqrt(Math.max(square - within, 0)) / domain.thickness : 0;
    const score = Math.max(Math.sqrt(distance) / domain.reach, off);
    return Number.isNaN(score) ? Infinity : score;
  }
}
