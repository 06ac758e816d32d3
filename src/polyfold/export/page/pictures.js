// Samples that are images: drawn, and read from files.

// Draw the values of pixels, each brought to a colour.
function drawPixels(canvas, shape, colourOf) {
  const [height, width] = shape, picture = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) picture.data.set([...colourOf(i), 255], 4 * i);
  canvas.width = width;
  canvas.height = height;
  canvas.getContext("2d").putImageData(picture, 0, 0);
}

function drawImage(canvas, image, x) {
  const { shape, white } = image, channels = shape[2] || 1;
  const level = (value) => Math.min(Math.max((255 * value) / white, 0), 255);
  drawPixels(canvas, shape, (i) => [0, 1, 2].map((k) => level(x[channels * i + (channels === 3 ? k : 0)])));
}

// Slopes, 0 in the middle; of colours their sum.
function drawSlopes(canvas, image, slopes) {
  const channels = image.shape[2] || 1, n = image.shape[0] * image.shape[1], sums = new Float64Array(n);
  for (let i = 0; i < n; i++) for (let k = 0; k < channels; k++) sums[i] += slopes[channels * i + k];
  const most = sums.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
  drawPixels(canvas, image.shape, (i) => blendAboutZero(sums[i] / most));
}

// Brightness as Pillow counts it, in whole numbers.
function mixGrey(pixels) {
  return Float64Array.from({ length: pixels.length / 4 }, (_, i) => {
    const [red, green, blue] = pixels.subarray(4 * i, 4 * i + 3);
    return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
  });
}

// Which pixels make up each of fewer: Pillow's box filter, which takes the nearest where there are not fewer.
function listBoxes(from, to) {
  const scale = from / to, reach = 0.5 * Math.max(scale, 1);
  return Array.from({ length: to }, (_, i) => {
    const middle = (i + 0.5) * scale;
    return [Math.max(Math.floor(middle - reach + 0.5), 0), Math.min(Math.floor(middle + reach + 0.5), from)];
  });
}

// Means over boxes, first across and then down, rounded after each, as Pillow does it.
function resample(levels, [height, width], [rows, columns], channels) {
  const boxes = listBoxes(width, columns), narrow = new Float64Array(height * columns * channels);
  for (let y = 0; y < height; y++) boxes.forEach(([left, right], c) => {
    for (let k = 0; k < channels; k++) {
      let sum = 0;
      for (let x = left; x < right; x++) sum += levels[(y * width + x) * channels + k];
      narrow[(y * columns + c) * channels + k] = Math.round(sum / (right - left));
    }
  });
  const out = new Float64Array(rows * columns * channels), across = columns * channels;
  listBoxes(height, rows).forEach(([top, bottom], r) => {
    for (let i = 0; i < across; i++) {
      let sum = 0;
      for (let y = top; y < bottom; y++) sum += narrow[y * across + i];
      out[r * across + i] = Math.round(sum / (bottom - top));
    }
  });
  return out;
}

// The pixels of an image file as a sample of the map.
async function readImage(file, image) {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: "none" });
  const { width, height } = bitmap, canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.fillStyle = "white"; // seen where the image lets something through
  context.fillRect(0, 0, width, height);
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, width, height), channels = image.shape[2] || 1;
  const levels = channels === 3 ? data.filter((_, i) => i % 4 < 3) : mixGrey(data);
  return resample(levels, [height, width], image.shape, channels).map((level) => (level * image.white) / 255);
}
