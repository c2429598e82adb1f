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

describe('a set as a node needs it', () => {
  it('has its images sorted, without duplicates', () => {
    expect(readSet('a', found(buildImageName('b'), buildImageName('a'), buildImageName('b')))).toEqual({
      ok: true,
      set: { name: 'a', uid: 'u', generation: 3, images: [buildImageName('a'), buildImageName('b')] },
    });
  });

  it.each([
    ['does not exist', undefined, /does not exist.*stay pinned/],
    ['names a tag', found('registry.example.com/app:1'), /pinnedImages\[0\].*by digest/],
    [
      'would inject something into the configuration of the runtime',
      found(`${buildImageName('a')}"]\nevil`),
      /pinnedImages\[0\].*by digest/,
    ],
    [
      'is too long',
      found(...Array.from({ length: 501 }, (_, index) => buildImageName(index.toString(16)))),
      /500.*501/,
    ],
  ])('%s: that is a problem, with what to do', (_, object, words) => {
    const read = readSet('a', object);
    expect(read).toMatchObject({ ok: false, problem: { code: 'SLW_PINNING_SET' } });
    expect(read.ok ? '' : read.problem.message).toMatch(words);
  });
});
