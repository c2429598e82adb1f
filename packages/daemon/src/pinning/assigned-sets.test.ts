import type { PinnedImageSet } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { readSet } from './assigned-sets.ts';
import { buildImageName } from './testing/sample-sets.ts';

const found = (...names: string[]): PinnedImageSet => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'PinnedImageSet',
  metadata: { name: 'a', uid: 'u', generation: 3 },
  spec: { pinnedImages: names.map((name) => ({ name })) },
});

describe('a set as a node wants it', () => {
  it('has its images sorted, each once', () => {
    expect(readSet('a', found(buildImageName('b'), buildImageName('a'), buildImageName('b')))).toEqual({
      ok: true,
      set: { name: 'a', uid: 'u', generation: 3, images: [buildImageName('a'), buildImageName('b')] },
    });
  });

  it.each([
    ['is gone', undefined, /does not exist.*stays/],
    ['names a tag', found('registry.example.com/app:1'), /pinnedImages\[0\].*by digest/],
    [
      'would say something else to the runtime',
      found(`${buildImageName('a')}"]\nevil`),
      /pinnedImages\[0\].*by digest/,
    ],
    [
      'is too long',
      found(...Array.from({ length: 501 }, (_, index) => buildImageName(index.toString(16)))),
      /500.*501/,
    ],
  ])('%s: that is a problem with a way out', (_, object, words) => {
    const read = readSet('a', object);
    expect(read).toMatchObject({ ok: false, problem: { code: 'SLW_PINNING_SET' } });
    expect(read.ok ? '' : read.problem.message).toMatch(words);
  });
});
