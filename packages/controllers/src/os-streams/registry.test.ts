import type { StreamSources } from '@slipway/fleet/stream-discovery';
import { describe, expect, it } from 'vitest';
import { createTagReader } from './registry.ts';

const TAG = 'registry.example/release:4.22';
const release = (image: string): StreamSources => ({ commandLine: null, configMap: null, release: { image } });
const named = release(TAG);
const image = (digit: string): string => `registry.example/release@sha256:${digit.repeat(64)}`;
const answer = (digit: string) => async () => new Map([[TAG, image(digit)]]);
const failing = async () => new Map<string, string>();
const MINUTE = 60_000;

describe('the tags of images', () => {
  it('are compared with their registry at the interval, and not without a tag', async () => {
    const tags = createTagReader(10 * MINUTE);
    expect(tags.waitFor(named, 0)).toBe(0);
    expect(await tags.read(named, 0, answer('a'))).toEqual(release(image('a')));
    expect(tags.waitFor(named, 4 * MINUTE)).toBe(6 * MINUTE);
    expect(await tags.read(named, 4 * MINUTE, answer('b'))).toEqual(release(image('a')));
    expect(await tags.read(named, 10 * MINUTE, answer('b'))).toEqual(release(image('b')));
    expect(tags.waitFor(release(image('a')), 0)).toBeNull();
  });

  it('keep their last meaning while the registry fails, which is asked again after a minute', async () => {
    const tags = createTagReader(10 * MINUTE);
    await tags.read(named, 0, answer('a'));
    expect(await tags.read(named, 10 * MINUTE, failing)).toEqual(release(image('a')));
    expect(tags.waitFor(named, 10 * MINUTE)).toBe(MINUTE);
  });

  it('stay unchanged if the registry has never answered, without a tight loop of requests', async () => {
    const tags = createTagReader(10 * MINUTE);
    expect(await tags.read(named, 0, failing)).toEqual(named);
    expect(tags.waitFor(named, 0)).toBe(MINUTE);
  });

  it('are followed one by one: a tag whose registry fails does not keep the others at their last meaning', async () => {
    const tags = createTagReader(10 * MINUTE);
    const gone = { osImage: 'old.example/os:9', osExtensionsImage: null, version: null };
    const both = { ...named, configMap: gone };
    expect(await tags.read(both, 0, answer('a'))).toEqual({ ...release(image('a')), configMap: gone });
    expect(await tags.read(both, MINUTE, answer('b'))).toEqual({ ...release(image('b')), configMap: gone });
  });
});
