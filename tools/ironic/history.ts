/** Something that was done to a system of the emulator, in its own words. */
export interface HistoryEntry {
  /** Milliseconds since the epoch. */
  at: number;
  system: string;
  what: 'power' | 'insert' | 'insert failed' | 'eject';
  /** `Cd`; for the drive only. */
  device?: string;
  /** The kind of reset (`On`, `ForceOff`, `GracefulShutdown`, …), or the URL of the image. */
  value: string;
  /** Where the emulator keeps the bytes of what was inserted. */
  path?: string;
  /** Why inserting failed. */
  error?: string;
}

/** What emulator.py has written so far. A line that is not whole yet is left for later. */
export function readHistory(text: string): HistoryEntry[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryEntry);
}

/** Of the image that is in the drive now; undefined where it is empty. */
export function insertedIn(history: readonly HistoryEntry[]): HistoryEntry | undefined {
  const last = history.findLast(({ what, device }) => device === 'Cd' && (what === 'insert' || what === 'eject'));
  return last?.what === 'insert' ? last : undefined;
}
