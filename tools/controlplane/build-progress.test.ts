import { describe, expect, it } from 'vitest';
import { describeBuild, newBuild, readGoLine, type BuildState } from './build-progress.ts';

const read = (lines: string[], state: BuildState = newBuild) =>
  lines.reduce((current, line) => readGoLine(current, line) ?? current, state);

describe('what go prints', () => {
  it('downloads and packages are counted', () => {
    const state = read([
      'go: downloading k8s.io/api v0.36.3',
      'internal/cpu',
      'k8s.io/api/core/v1',
      'golang.org/x/net/http2',
    ]);
    expect(state).toEqual({ phase: 'compile', downloaded: 1, compiled: 3, total: 0 });
  });

  it.each([
    '# k8s.io/kubernetes/cmd/kube-apiserver',
    'main.go:3:2: no required module provides package x',
    'go: errors parsing go.mod:',
    'write /tmp/x: no space left on device',
    '',
  ])('%j is an error message, not progress', (line) => {
    expect(readGoLine(newBuild, line)).toBeUndefined();
  });
});

describe('what a person reads', () => {
  it.each<[Partial<BuildState>, number, string]>([
    [{ downloaded: 12 }, 4000, 'fetching sources, 12 modules so far'],
    [{ phase: 'compile', total: 2000 }, 8000, '0 %, package 0 of 2000'],
    [{ phase: 'compile', compiled: 20, total: 2000 }, 9000, '1 %, package 20 of 2000'],
    [{ phase: 'compile', compiled: 500, total: 2000 }, 65_000, '25 %, package 500 of 2000, about 4 min left'],
    [{ phase: 'compile', compiled: 2002, total: 2000 }, 300_000, 'linking'],
    [{ phase: 'compile', compiled: 0, total: 0 }, 2000, 'linking'],
  ])('%j after %d ms: %s', (state, elapsed, text) => {
    expect(describeBuild({ ...newBuild, ...state }, elapsed)).toBe(text);
  });
});
