import { describe, expect, it } from 'vitest';
import { isCandidate, readImageReferences, detectRole, streamOfImage } from './image-references.ts';

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

  it('may lack annotations, as real payloads do, and have tags without an image', () => {
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
  ])('with %s have no known platform version', (_, metadata) => {
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
    ['a tag without a name', stream([{ from }]), /spec\.tags\[0\]\.name: expected a string, found nothing/],
    ['an image without a name', stream([{ name: 'a', from: { kind: 'DockerImage' } }]), /spec\.tags\[0\]\.from\.name/],
    ['an annotation that is no text', stream([{ name: 'a', from, annotations: { x: 1 } }]), /annotations\["x"\]/],
    ['a name without end', stream([{ name: 'a'.repeat(254), from }]), /at most 253 characters, found 254/],
    ['tags without end', stream(Array.from({ length: 2001 }, () => ({ name: 'a', from }))), /at most 2000 tags/],
    ['bytes without end', ' '.repeat(4 * 1024 * 1024 + 1), /expected at most 4194304 bytes, found 4194305/],
  ])('(%s) are refused, with the expected and the observed value', (_, content, problem) => {
    expect(readImageReferences(content)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
  });
});

const builtFrom = (source: string) => ({ 'io.openshift.build.source-location': source });

describe('a tag of a payload may be an OS image', () => {
  it.each([
    // As streams were designed.
    ['rhel9-coreos'],
    ['rhel9-coreos-extensions'],
    ['rhel10-coreos'],
    ['rhel10-coreos-extensions'],
    ['stream-coreos'],
    ['stream-coreos-extensions'],
    // As payloads have them today.
    ['rhel-coreos'],
    ['rhel-coreos-extensions'],
    ['rhel-coreos-10'],
    ['rhel-coreos-10-extensions'],
    ['stream9-coreos'],
  ])('by its name: %s', (name) => {
    expect(isCandidate({ name, annotations: {} })).toBe(true);
  });

  it.each([
    ['https://github.com/openshift/os'],
    ['github.com/openshift/os'],
    ['https://github.com/openshift/os.git'],
    ['git@github.com:openshift/os'],
  ])('by its source repository, whatever its name: %s', (source) => {
    expect(isCandidate({ name: 'machine-os', annotations: builtFrom(source) })).toBe(true);
  });
});

describe('a tag of a payload is not queried', () => {
  it.each([
    ['cli', {}],
    ['coreos-installer', {}],
    ['fedora-coreos', {}],
    ['machine-os-images', builtFrom('https://github.com/openshift/machine-os-images')],
    // These would be queried in vain, and be reported as images without a label.
    ['osin', builtFrom('https://github.com/openshift/osin')],
    ['os-tools', builtFrom('https://github.com/openshift/os-tools')],
  ])('that has neither: %s', (name, annotations) => {
    expect(isCandidate({ name, annotations })).toBe(false);
  });
});

const extensions = { 'io.openshift.os.extensions': 'true' };

describe('an image is the OS or its extensions', () => {
  it.each([
    ['containers.bootc=1', { 'containers.bootc': '1' }, 'anything', 'os'],
    ['containers.bootc=True', { 'containers.bootc': 'True' }, 'anything', 'os'],
    ['containers.bootc before all else', { 'containers.bootc': 'true', ...extensions }, 'rhel-coreos-extensions', 'os'],
    ['io.openshift.os.extensions=true', extensions, 'anything', 'extensions'],
    ['no label, by its tag', {}, 'rhel-coreos', 'os'],
    ['no label, by the end of its tag', {}, 'rhel-coreos-10-extensions', 'extensions'],
    ['a false label, by its tag', { 'containers.bootc': 'false' }, 'rhel9-coreos-extensions', 'extensions'],
    ['no evidence', {}, 'machine-os', null],
  ])('%s', (_, labels, tag, role) => {
    expect(detectRole({ labels, tag, role: null })).toBe(role);
  });

  it.each([
    ['from the source, without labels', {}, 'os', 'os'],
    ['from the source and the labels', extensions, 'extensions', 'extensions'],
    ['and neither, if source and labels contradict', extensions, 'os', 'contradiction'],
  ] as const)('%s', (_, labels, role, found) => {
    expect(detectRole({ labels, tag: null, role })).toBe(found);
  });
});

describe('the stream of an image', () => {
  it.each([
    [{ 'io.openshift.os.streamclass': 'rhel-9' }, 'rhel-9'],
    [{ 'io.openshift.os.streamclass': '' }, null],
    [{}, null],
  ])('with the labels %j is %s', (labels, stream) => {
    expect(streamOfImage(labels)).toBe(stream);
  });
});
