const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** As registries and disks count it, in powers of a thousand: `1.2 GB`. */
export function byteSize(bytes: number): string {
  let [value, unit] = [bytes, 0];
  // What would round up to a thousand is said in the next unit.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit] ?? ''}`;
}
