import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatClock, type Progress, showStep, terminalProgress } from './progress.ts';

function record(isTTY: boolean) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const progress = terminalProgress({ isTTY, columns: 20, write: (text) => written.push(text) }, () => clock.ms);
  return { written, clock, progress };
}

describe('progress', () => {
  it('on a terminal is one line that is overwritten, never wraps and disappears', () => {
    const { written, progress } = record(true);
    progress.update('building');
    progress.update('building something with a long name');
    progress.note('built');
    progress.clear();
    expect(written).toEqual(['\r\u001B[Kbuilding', '\r\u001B[Kbuilding something ', '\r\u001B[K', 'built\n']);
  });

  it('elsewhere is a line at first, and then at doubling intervals', () => {
    const { written, clock, progress } = record(false);
    for (clock.ms = 0; clock.ms <= 200_000; clock.ms += 1000) progress.update(`at ${clock.ms / 1000} s`);
    progress.clear();
    progress.note('built');
    expect(written).toEqual(['at 0 s\n', 'at 15 s\n', 'at 45 s\n', 'at 105 s\n', 'built\n']);
  });
});

describe('a step', () => {
  const lines: string[] = [];
  const progress: Progress = {
    note: (line) => lines.push(`note: ${line}`),
    update: (line) => lines.push(`update: ${line}`),
    clear: () => lines.push('clear'),
  };
  beforeEach(() => {
    lines.length = 0;
    vi.useFakeTimers();
  });
  afterEach(() => vi.useRealTimers());

  it('is one line with progress while it runs, and one when it is done', async () => {
    const step = showStep(progress, { doing: 'building it', done: 'built it' }, async (tell) => {
      await vi.advanceTimersByTimeAsync(1000);
      tell('half of it');
      await vi.advanceTimersByTimeAsync(61_000 - 1000);
      return 'result';
    });
    expect(await step).toBe('result');
    expect(lines.slice(0, 2)).toEqual(['update: building it: 0:01', 'update: building it: half of it, 0:02']);
    expect(lines.slice(-4)).toEqual([
      'update: building it: half of it, 1:01',
      'clear',
      'note: built it, 1:01',
      'clear',
    ]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(lines.at(-1)).toBe('clear');
  });

  it('that fails is not done', async () => {
    await expect(
      showStep(progress, { doing: 'building it', done: 'built it' }, () => Promise.reject(new Error('no'))),
    ).rejects.toThrow('no');
    expect(lines).toEqual(['clear']);
  });

  it('has a clock', () => {
    expect([0, 59_999, 60_000, 3_725_000].map(formatClock)).toEqual(['0:00', '0:59', '1:00', '62:05']);
  });
});
