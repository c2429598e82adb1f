import { describe, expect, it } from 'vitest';
import {
  configMapPair,
  digestSources,
  hasSources,
  noSources,
  toImagePair,
  type StreamSources,
} from './stream-sources.ts';

const sources: StreamSources = {
  commandLine: { osImage: 'a', osExtensionsImage: 'b' },
  configMap: { osImage: 'c', osExtensionsImage: 'd', version: '4.22.0' },
  release: { image: 'e' },
};

describe('sources', () => {
  it('are empty if nothing specifies an image', () => {
    expect(hasSources(noSources)).toBe(false);
    expect(toImagePair('', undefined)).toBeNull();
    expect(configMapPair({ osImageURL: '', releaseVersion: '4.22.0' })).toBeNull();
    expect(configMapPair(undefined)).toBeNull();
  });

  it('of a ConfigMap are its pair and its version, as far as it has them', () => {
    const data = { baseOSContainerImage: ' c ', baseOSExtensionsContainerImage: 'd', releaseVersion: '4.22.0' };
    expect(configMapPair(data)).toEqual({ osImage: 'c', osExtensionsImage: 'd', version: '4.22.0' });
    expect(configMapPair({ baseOSContainerImage: 'c' })).toEqual({
      osImage: 'c',
      osExtensionsImage: null,
      version: null,
    });
  });

  it('that differ in anything have another digest, and so do those of another program version', () => {
    const others: StreamSources[] = [
      { ...sources, commandLine: null },
      { ...sources, configMap: { osImage: 'c', osExtensionsImage: 'd', version: '4.22.1' } },
      { ...sources, release: { image: 'f' } },
      { ...sources, release: { imageReferences: new Uint8Array([1]) } },
      { ...sources, release: { imageReferences: new Uint8Array([2]) } },
    ];
    const digests = [...others, sources].map((each) => digestSources(each, '1')).concat(digestSources(sources, '2'));
    expect(new Set(digests).size).toBe(digests.length);
    expect(digestSources({ ...sources }, '1')).toBe(digestSources(sources, '1'));
  });
});
