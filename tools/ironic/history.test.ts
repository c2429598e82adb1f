import { describe, expect, it } from 'vitest';
import { insertedIn, readHistory, type HistoryEntry } from './history.ts';

const entry = (what: HistoryEntry['what'], device = 'Cd'): HistoryEntry => ({
  at: 1,
  system: 's',
  what,
  device,
  value: 'v',
});

describe('the history of a system', () => {
  it('is read up to the last complete line', () => {
    const line = JSON.stringify(entry('insert'));
    expect(readHistory(`${line}\n${line}\n${line.slice(0, 10)}`)).toEqual([entry('insert'), entry('insert')]);
    expect(readHistory('')).toEqual([]);
  });

  it.each<[string, HistoryEntry[], boolean]>([
    ['nothing', [], false],
    ['an image after it was inserted', [entry('eject'), entry('insert')], true],
    ['nothing after it was ejected', [entry('insert'), entry('eject')], false],
    ['an image still, where another could not be inserted', [entry('insert'), entry('insert failed')], true],
    ['an image, whatever happens to the floppy', [entry('insert'), entry('eject', 'Floppy')], true],
  ])('shows that the drive contains %s', (_, history, isHeld) => {
    expect(insertedIn(history) !== undefined).toBe(isHeld);
  });
});
