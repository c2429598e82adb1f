import { describe, expect, it } from 'vitest';
import { roleOf, streamOfImage } from './classify-image.ts';

const extensions = { 'io.openshift.os.extensions': 'true' };

describe('an image is the OS or its extensions', () => {
  it.each([
    ['containers.bootc=1', { 'containers.bootc': '1' }, 'anything', 'os'],
    ['containers.bootc=True', { 'containers.bootc': 'True' }, 'anything', 'os'],
    ['containers.bootc before all else', { 'containers.bootc': 'true', ...extensions }, 'rhel-coreos-extensions', 'os'],
    ['io.openshift.os.extensions=true', extensions, 'anything', 'extensions'],
    ['no label, by its tag', {}, 'rhel-coreos', 'os'],
    ['no label, by the end of its tag', {}, 'rhel-coreos-10-extensions', 'extensions'],
    ['a label that says no, by its tag', { 'containers.bootc': 'false' }, 'rhel9-coreos-extensions', 'extensions'],
    ['nothing that tells', {}, 'machine-os', null],
  ])('%s', (_, labels, tag, role) => {
    expect(roleOf({ labels, tag, role: null })).toBe(role);
  });

  it.each([
    ['as the source says, where labels are silent', {}, 'os', 'os'],
    ['as the source and the labels say', extensions, 'extensions', 'extensions'],
    ['and neither, where source and labels contradict', extensions, 'os', 'contradiction'],
  ] as const)('%s', (_, labels, role, found) => {
    expect(roleOf({ labels, tag: null, role })).toBe(found);
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
