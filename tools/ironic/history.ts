/** An operation on a system of the emulator, as the emulator recorded it. */
export interface HistoryEntry {
  /** Milliseconds since the epoch. */
  at: number;
  system: string;
  what: 'power' | 'insert' | 'insert failed' | 'eject';
  /** `Cd`; for the drive only. */
  device?: string;
  /** The type of reset (`On`, `ForceOff`, `GracefulShutdown`, …), or the URL of the image. */
  value: string;
  /** The emulator's file with the inserted bytes. */
  path?: string;
  /** Why inserting failed. */
  error?: string;
}

/** Parses what emulator.py has written so far. An incomplete line is left for later. */
export function readHistory(text: string): HistoryEntry[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as HistoryEntry);
}

/** The image in the drive now; undefined if it is empty. */
export function insertedIn(history: readonly HistoryEntry[]): HistoryEntry | undefined {
  const last = history.findLast(({ what, device }) => device === 'Cd' && (what === 'insert' || what === 'eject'));
  return last?.what === 'insert' ? last : undefined;
}
