import { describe, expect, it } from 'vitest';
import {
  configMapPair,
  digestSources,
  hasSources,
  listTagged,
  noSources,
  replaceTags,
  toImagePair,
  type StreamSources,
} from './stream-sources.ts';

const sources: StreamSources = {
  commandLine: { osImage: 'a', osExtensionsImage: 'b' },
  configMap: { osImage: 'c', osExtensionsImage: 'd', version: '4.22.0' },
  release: { image: 'e' },
};

describe('sources', () => {
  it('by tag are listed, and compared by what the tags stand for', () => {
    const digest = (digit: string): string => `registry.example/os@sha256:${digit.repeat(64)}`;
    const named: StreamSources = {
      commandLine: null,
      configMap: { osImage: 'registry.example/os:1', osExtensionsImage: digest('e'), version: null },
      release: { image: 'registry.example:5000/release' },
    };
    expect(listTagged(named)).toEqual(['registry.example/os:1', 'registry.example:5000/release']);
    const now = replaceTags(named, new Map([['registry.example/os:1', digest('a')]]));
    expect(now).toEqual({ ...named, configMap: { ...named.configMap, osImage: digest('a') } });
    const moved = replaceTags(named, new Map([['registry.example/os:1', digest('b')]]));
    expect(digestSources(moved, '1')).not.toBe(digestSources(now, '1'));
    expect(listTagged({ ...noSources, release: { imageReferences: new Uint8Array() } })).toEqual([]);
  });

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
