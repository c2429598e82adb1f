/** Splits the bytes at these places (each modulo the length). */
export function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const starts = [0, ...ends];
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1] ?? bytes.length));
}
