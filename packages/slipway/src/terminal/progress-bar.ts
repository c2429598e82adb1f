const WIDTH = 20;

/** `[########------------]`: never full before all is done, never empty once something is. */
export function progressBar(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total;
  const exact = Math.round(share * WIDTH);
  const filled = share >= 1 ? WIDTH : Math.min(WIDTH - 1, done > 0 ? Math.max(1, exact) : 0);
  return `[${'#'.repeat(filled)}${'-'.repeat(WIDTH - filled)}]`;
}
