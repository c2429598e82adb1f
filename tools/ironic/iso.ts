// A small ISO 9660 image with one file: enough for every reader of the format, ECMA-119.

const SECTOR = 2048;
const PATHS_LITTLE = 18;
const PATHS_BIG = 19;
const ROOT = 20;
const CONTENTS = 21;

/** An image whose only file, CONFIG.TXT, has these contents. */
export function buildIso(contents: string | Uint8Array, label = 'SLIPWAY'): Buffer {
  const bytes = Buffer.from(contents);
  const sectors = CONTENTS + Math.max(1, Math.ceil(bytes.length / SECTOR));
  const image = Buffer.alloc(sectors * SECTOR);
  primaryDescriptor(label, sectors).copy(image, 16 * SECTOR);
  descriptor(255).copy(image, 17 * SECTOR);
  image.set([1, 0, ROOT, 0, 0, 0, 1, 0], PATHS_LITTLE * SECTOR);
  image.set([1, 0, 0, 0, 0, ROOT, 0, 1], PATHS_BIG * SECTOR);
  rootDirectory(bytes.length).copy(image, ROOT * SECTOR);
  bytes.copy(image, CONTENTS * SECTOR);
  return image;
}

function descriptor(type: number): Buffer {
  const sector = Buffer.alloc(SECTOR);
  sector[0] = type;
  sector.write('CD001', 1, 'latin1');
  sector[6] = 1;
  return sector;
}

function primaryDescriptor(label: string, sectors: number): Buffer {
  const sector = descriptor(1);
  // Names are padded with spaces.
  for (const [from, to] of [
    [8, 72],
    [190, 813],
  ] as const)
    sector.fill(' ', from, to);
  sector.write(label.slice(0, 32).toUpperCase(), 40, 'latin1');
  bothEnds32(sector, 80, sectors);
  for (const [at, value] of [
    [120, 1],
    [124, 1],
    [128, SECTOR],
  ] as const)
    bothEnds16(sector, at, value);
  bothEnds32(sector, 132, 10);
  sector.writeUInt32LE(PATHS_LITTLE, 140);
  sector.writeUInt32BE(PATHS_BIG, 148);
  record('\0', ROOT, SECTOR, true).copy(sector, 156);
  for (const at of [813, 830, 847, 864]) sector.fill('0', at, at + 16);
  sector[881] = 1;
  return sector;
}

function rootDirectory(size: number): Buffer {
  const entries = [
    record('\0', ROOT, SECTOR, true),
    record('\u0001', ROOT, SECTOR, true),
    record('CONFIG.TXT;1', CONTENTS, size, false),
  ];
  return Buffer.concat(entries);
}

function record(name: string, sector: number, size: number, isDirectory: boolean): Buffer {
  // Records have an even length.
  const entry = Buffer.alloc(33 + name.length + ((name.length + 1) % 2));
  entry[0] = entry.length;
  bothEnds32(entry, 2, sector);
  bothEnds32(entry, 10, size);
  // 1 January 2026.
  entry.set([126, 1, 1], 18);
  entry[25] = isDirectory ? 2 : 0;
  bothEnds16(entry, 28, 1);
  entry[32] = name.length;
  entry.write(name, 33, 'latin1');
  return entry;
}

function bothEnds16(buffer: Buffer, at: number, value: number): void {
  buffer.writeUInt16LE(value, at);
  buffer.writeUInt16BE(value, at + 2);
}

function bothEnds32(buffer: Buffer, at: number, value: number): void {
  buffer.writeUInt32LE(value, at);
  buffer.writeUInt32BE(value, at + 4);
}
