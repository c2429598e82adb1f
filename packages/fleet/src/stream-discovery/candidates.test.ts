import { describe, expect, it } from 'vitest';
import { isCandidate } from './candidates.ts';

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
  ])('by where it was built from, whatever its name: %s', (source) => {
    expect(isCandidate({ name: 'machine-os', annotations: builtFrom(source) })).toBe(true);
  });
});

describe('a tag of a payload is not looked at', () => {
  it.each([
    ['cli', {}],
    ['coreos-installer', {}],
    ['fedora-coreos', {}],
    ['machine-os-images', builtFrom('https://github.com/openshift/machine-os-images')],
    // These would be asked about in vain, and be told of as images without a label.
    ['osin', builtFrom('https://github.com/openshift/osin')],
    ['os-tools', builtFrom('https://github.com/openshift/os-tools')],
  ])('that has neither: %s', (name, annotations) => {
    expect(isCandidate({ name, annotations })).toBe(false);
  });
});
