import { describe, expect, it } from 'vitest';
import { progressBar } from './progress-bar.ts';

describe('a progress bar', () => {
  it.each([
    [0, 3, '[--------------------]'],
    [1, 2, '[##########----------]'],
    [3, 3, '[####################]'],
    [1, 1000, '[#-------------------]'],
    [999, 1000, '[###################-]'],
    [0, 0, '[####################]'],
  ])('%i of %i: %s', (done, total, bar) => {
    expect(progressBar(done, total)).toBe(bar);
  });
});
