import { describe, expect, it } from 'vitest';
import { readImageReferences } from './image-references.ts';

const stream = (tags: unknown, more: object = {}): string =>
  JSON.stringify({
    kind: 'ImageStream',
    apiVersion: 'image.openshift.io/v1',
    metadata: { name: '4.22.0-0.ci-2025-12-04-004014' },
    spec: { tags },
    ...more,
  });
const from = { kind: 'DockerImage', name: 'quay.io/openshift/os@sha256:abc' };

describe('image-references', () => {
  it('are read with the version of the platform, and the annotations of each tag', () => {
    const annotations = { 'io.openshift.build.source-location': 'https://github.com/openshift/os' };
    const text = stream([{ name: 'rhel-coreos', annotations, from, generation: null }]);
    const expected = {
      ok: true,
      imageReferences: {
        version: '4.22.0-0.ci-2025-12-04-004014',
        tags: [{ name: 'rhel-coreos', reference: from.name, annotations }],
      },
    };
    expect(readImageReferences(text)).toEqual(expected);
    expect(readImageReferences(new TextEncoder().encode(text))).toEqual(expected);
  });

  it('may lack annotations, as real payloads do, and have tags that stand for no image', () => {
    const read = readImageReferences(
      stream([
        { name: 'rhel-coreos', annotations: null, from },
        { name: 'alias', from: { kind: 'ImageStreamTag', name: 'rhel-coreos' } },
        { name: 'empty', from: null },
      ]),
    );
    expect(read).toMatchObject({ imageReferences: { tags: [{ name: 'rhel-coreos', annotations: {} }] } });
    expect(read.ok && read.imageReferences.tags).toHaveLength(1);
  });

  it.each([
    ['no version', undefined],
    ['a name that is none', { name: 'release' }],
    ['no name', {}],
  ])('with %s are of no known platform', (_, metadata) => {
    expect(readImageReferences(stream([], { metadata }))).toMatchObject({
      ok: true,
      imageReferences: { version: null },
    });
  });

  it.each([
    ['not JSON', '{', /expected an ImageStream in JSON/],
    ['no text at all', new Uint8Array([0xff, 0xfe]), /expected an ImageStream in JSON/],
    ['a list', '[]', /the file: expected an object, found \[\]/],
    ['another kind', '{"kind":"Pod"}', /kind: expected ImageStream, found "Pod"/],
    ['no tags', stream(undefined), /spec\.tags: expected a list, found nothing/],
    ['a tag without a name', stream([{ from }]), /spec\.tags\[0\]\.name: expected a text, found nothing/],
    ['an image without a name', stream([{ name: 'a', from: { kind: 'DockerImage' } }]), /spec\.tags\[0\]\.from\.name/],
    ['an annotation that is no text', stream([{ name: 'a', from, annotations: { x: 1 } }]), /annotations\["x"\]/],
    ['a name without end', stream([{ name: 'a'.repeat(254), from }]), /at most 253 characters, found 254/],
    ['tags without end', stream(Array.from({ length: 2001 }, () => ({ name: 'a', from }))), /at most 2000 tags/],
    ['bytes without end', ' '.repeat(4 * 1024 * 1024 + 1), /4194305 bytes, expected at most 4194304/],
  ])('that are %s are refused with what was expected and found', (_, content, problem) => {
    expect(readImageReferences(content)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });
});
