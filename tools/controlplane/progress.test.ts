import { describe, expect, it } from 'vitest';
import { terminalProgress } from './progress.ts';

function record(isTTY: boolean) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const progress = terminalProgress({ isTTY, columns: 20, write: (text) => written.push(text) }, () => clock.ms);
  return { written, clock, progress };
}

describe('progress', () => {
  it('on a terminal is one line that is written over, never wraps and goes away', () => {
    const { written, progress } = record(true);
    progress.update('building');
    progress.update('building something with a long name');
    progress.note('built');
    progress.clear();
    expect(written).toEqual(['\r\u001B[Kbuilding', '\r\u001B[Kbuilding something ', '\r\u001B[K', 'built\n']);
  });

  it('elsewhere is a line every 15 seconds', () => {
    const { written, clock, progress } = record(false);
    for (clock.ms = 0; clock.ms <= 31_000; clock.ms += 1000) progress.update(`at ${clock.ms / 1000} s`);
    progress.clear();
    progress.note('built');
    expect(written).toEqual(['at 0 s\n', 'at 15 s\n', 'at 30 s\n', 'built\n']);
  });
});
