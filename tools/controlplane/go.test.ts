import { describe, expect, it } from 'vitest';
import { buildFlags, judgeGo } from './go.ts';

describe('the Go on PATH', () => {
  it.each([
    ['go1.26.0', undefined],
    ['go1.26.8', undefined],
    ['go1.27rc1', undefined],
    ['go1.26.8 X:nocoverageredesign', undefined],
    ['go2.0', undefined],
    ['go1.25.9', 'SLW_TOOLS_OLD_GO'],
    ['go1.3', 'SLW_TOOLS_OLD_GO'],
    ['', 'SLW_TOOLS_OLD_GO'],
    ['devel', 'SLW_TOOLS_OLD_GO'],
    [undefined, 'SLW_TOOLS_NO_GO'],
  ])('%j: %s', (answer, code) => {
    expect(judgeGo(answer)?.code).toBe(code);
  });

  it('if it is not usable, one line lists what to do', () => {
    const message = judgeGo('go1.25.9')?.message ?? '';
    expect(message).toContain('must be built with Go 1.26 or newer, but the Go on PATH is 1.25.9');
    for (const way of ['install Go 1.26', 'KUBEBUILDER_ASSETS', 'on PATH']) expect(message).toContain(way);
    expect(message).not.toContain('\n');
  });
});

describe('the flags of a build', () => {
  it('stamp the version that go.mod pins', () => {
    const [trimpath, ldflags] = buildFlags('require (\n\tk8s.io/kubernetes v1.36.3 // indirect\n)\n');
    expect(trimpath).toBe('-trimpath');
    expect(ldflags).toContain('-X k8s.io/component-base/version.gitVersion=v1.36.3 ');
    expect(ldflags).toContain('-X k8s.io/component-base/version.gitMinor=36 ');
  });

  it('cannot be made from a go.mod without the pin', () => {
    expect(() => buildFlags('module x\n')).toThrow('does not require k8s.io/kubernetes');
  });
});
