// A part of a picture: cut and scaled here, since a browser that cuts one itself changes the page's size meanwhile.
//
//     const part = await cutPng(picture, { x: 10, y: 20, width: 60, height: 40 }, { width: 30, height: 20 });
//
// It reads what Chromium writes: 8 bits for each of red, green, blue and maybe alpha, not interlaced. It runs in Node
// and in browsers.

interface Size {
  width: number;
  height: number;
}

/** Rows of pixels from the top, red, green and blue. */
interface Pixels extends Size {
  data: Uint8Array;
}

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** A PNG's size in pixels. */
export function sizeOfPng(png: Uint8Array): Size {
  const view = new DataView(png.buffer, png.byteOffset);
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

/** An area of a PNG, in its pixels, as a PNG of that size. */
export async function cutPng(png: Uint8Array, area: Size & { x: number; y: number }, size: Size): Promise<Uint8Array> {
  const { data, width, height } = await decode(png);
  const part = { ...size, data: new Uint8Array(size.width * size.height * 3) };
  const [across, down] = [area.width / size.width, area.height / size.height];
  const clamp = (value: number, most: number) => Math.min(Math.max(Math.round(value), 0), most);
  for (let y = 0; y < size.height; y += 1) {
    const top = clamp(area.y + y * down, height - 1);
    const bottom = Math.max(clamp(area.y + (y + 1) * down, height), top + 1);
    for (let x = 0; x < size.width; x += 1) {
      const left = clamp(area.x + x * across, width - 1);
      const right = Math.max(clamp(area.x + (x + 1) * across, width), left + 1);
      for (let colour = 0; colour < 3; colour += 1) {
        let sum = 0; // the mean of the pixels that become one
        for (let row = top; row < bottom; row += 1) {
          for (let column = left; column < right; column += 1) sum += data[(row * width + column) * 3 + colour] ?? 0;
        }
        part.data[(y * size.width + x) * 3 + colour] = Math.round(sum / ((bottom - top) * (right - left)));
      }
    }
  }
  return encode(part);
}

async function decode(png: Uint8Array): Promise<Pixels> {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  const { width, height } = sizeOfPng(png);
  const channels = { 2: 3, 6: 4 }[view.getUint8(25)];
  if (!channels || view.getUint8(24) !== 8 || view.getUint8(28) !== 0) throw new Error("this PNG cannot be read");
  const parts: Uint8Array[] = [];
  for (let at = signature.length; at < png.length; ) {
    const length = view.getUint32(at);
    const isData = view.getUint32(at + 4) === 0x49444154; // IDAT
    if (isData) parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = await through(parts, new DecompressionStream("deflate"));
  return { width, height, data: unfilter(raw, width, height, channels) };
}

/** Undoes the filter of each row: what it subtracted from the bytes to the left, above and between. */
function unfilter(raw: Uint8Array, width: number, height: number, channels: number): Uint8Array {
  const length = width * channels;
  const data = new Uint8Array(width * height * 3);
  let above = new Uint8Array(length);
  for (let y = 0; y < height; y += 1) {
    const start = y * (length + 1);
    const filter = raw[start] ?? 0;
    const row = raw.slice(start + 1, start + 1 + length);
    for (let n = 0; n < length; n += 1) {
      const [left, up, corner] = [row[n - channels] ?? 0, above[n] ?? 0, above[n - channels] ?? 0];
      const predicted = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter] ?? 0;
      row[n] = (row[n] ?? 0) + predicted;
    }
    for (let x = 0; x < width; x += 1) data.set(row.subarray(x * channels, x * channels + 3), (y * width + x) * 3);
    above = row;
  }
  return data;
}

/** Of three neighbours the one that is nearest to left + up - corner. */
function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

async function encode({ data, width, height }: Pixels): Promise<Uint8Array> {
  const raw = new Uint8Array(height * (width * 3 + 1));
  for (let y = 0; y < height; y += 1) {
    const [row, start] = [data.subarray(y * width * 3, (y + 1) * width * 3), y * (width * 3 + 1)];
    raw[start] = 1; // each byte less the one of the pixel to the left
    row.forEach((value, n) => {
      raw[start + 1 + n] = value - (n < 3 ? 0 : (row[n - 3] ?? 0));
    });
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, 2], 8);
  const packed = await through([raw], new CompressionStream("deflate"));
  const parts = [
    Uint8Array.from(signature),
    chunk("IHDR", header),
    chunk("IDAT", packed),
    chunk("IEND", new Uint8Array()),
  ];
  return joined(parts);
}

function chunk(type: string, data: Uint8Array): Uint8Array {
  const all = new Uint8Array(data.length + 12);
  const view = new DataView(all.buffer);
  view.setUint32(0, data.length);
  all.set(new TextEncoder().encode(type), 4);
  all.set(data, 8);
  view.setUint32(data.length + 8, checksum(all.subarray(4, data.length + 8)));
  return all;
}

const remainders = Uint32Array.from({ length: 256 }, (_, n) => {
  let rest = n;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** The CRC-32 of a chunk. */
function checksum(data: Uint8Array): number {
  let rest = 0xffffffff;
  for (const value of data) rest = (remainders[(rest ^ value) & 0xff] ?? 0) ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
}

async function through(parts: Uint8Array[], stream: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const source = new Blob(parts as Uint8Array<ArrayBuffer>[]).stream();
  return new Uint8Array(await new Response(source.pipeThrough(stream as never)).arrayBuffer());
}

function joined(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
