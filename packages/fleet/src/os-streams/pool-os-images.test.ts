import { describe, expect, it } from 'vitest';
import { poolOnStream, rhel10, rhel9, sampleStreams } from '../testing/sample-streams.ts';
import { clusterImages, imagesOnStream, namedImages, osImagesOfPool, type PlatformImages } from './pool-os-images.ts';

const ofStream = ({ osImage, osExtensionsImage }: typeof rhel9) => ({
  osImageURL: osImage,
  baseOSExtensionsContainerImage: osExtensionsImage,
});
const fleetImages = { osImageURL: 'registry.example.com/fleet@sha256:1' };
const platform = (more: Partial<PlatformImages> = {}): PlatformImages => ({
  pools: [],
  osImages: fleetImages,
  streams: sampleStreams(),
  ...more,
});

describe('the OS images of a pool', () => {
  it('are those of the fleet if there are no streams, whatever the pool requests', () => {
    const pool = poolOnStream('worker', { asked: 'rhel-10', tracked: 'rhel-9' });
    expect(osImagesOfPool(pool, platform({ streams: null }))).toMatchObject({
      osImages: fleetImages,
      osStream: null,
      problems: [],
    });
  });

  it.each([
    ['that its spec requests', poolOnStream('worker', { tracked: 'rhel-9', asked: 'rhel-10' }), rhel10],
    ['that it is on', poolOnStream('worker', { tracked: 'rhel-10' }), rhel10],
    ['that is the default, for a new one', poolOnStream('worker'), rhel9],
  ])('are those of the stream %s', (_, pool, stream) => {
    expect(osImagesOfPool(pool, platform())).toMatchObject({
      osImages: ofStream(stream),
      osStream: { name: stream.name, isAsked: pool.spec.osImageStream !== undefined },
      problems: [],
    });
  });

  it('are worker’s for a custom pool, even if worker moves at the same time', () => {
    const pools = [poolOnStream('worker', { tracked: 'rhel-9', asked: 'rhel-10' })];
    expect(osImagesOfPool(poolOnStream('infra', { tracked: 'rhel-9' }), platform({ pools }))).toMatchObject({
      osStream: { name: 'rhel-10', isAsked: false },
    });
  });

  it('stay what they are while the stream is gone', () => {
    const pool = poolOnStream('worker', { tracked: 'rhel-8', images: { osImage: 'old', osExtensionsImage: '' } });
    expect(osImagesOfPool(pool, platform())).toMatchObject({ osImages: { osImageURL: 'old' }, problems: [] });
  });

  it('of a pool from before streams are those of the stream that it runs', () => {
    const running = new Map([['worker', { stream: 'rhel-10', images: null }]]);
    expect(osImagesOfPool(poolOnStream('worker'), platform({ running })).osStream?.name).toBe('rhel-10');
  });

  it.each([
    ['does not exist', { tracked: 'rhel-9', asked: 'rhel-11' }, 'SLW_STREAM_UNKNOWN'],
    ['is older', { tracked: 'rhel-10', asked: 'rhel-9' }, 'SLW_STREAM_BACKWARD'],
  ])('are refused if the requested stream %s', (_, pool, code) => {
    expect(osImagesOfPool(poolOnStream('worker', pool), platform()).problems).toMatchObject([{ code }]);
  });

  it('are not known for a custom pool without a worker', () => {
    expect(osImagesOfPool(poolOnStream('infra'), platform()).problems).toMatchObject([{ code: 'SLW_CLI_STREAM' }]);
  });
});

describe('what a pool on a stream is rendered with', () => {
  const images = { osImage: 'os', osExtensionsImage: '' };

  it.each([
    ['nothing, on none', {}, null, { osImages: {}, osStream: null }],
    [
      'its images, without extensions that it lacks',
      {},
      { name: 'rhel-9', images },
      { osImages: { osImageURL: 'os' }, osStream: { name: 'rhel-9', isAsked: false } },
    ],
    ['images of an unknown stream', {}, { name: null, images }, { osStream: null }],
    ['a stream that it requests', { asked: 'rhel-9' }, { name: 'rhel-9', images }, { osStream: { isAsked: true } }],
    ['another than it requests', { asked: 'rhel-10' }, { name: 'rhel-9', images }, { osStream: { isAsked: false } }],
  ])('is %s', (_, pool, at, expected) => {
    expect(imagesOnStream(poolOnStream('worker', pool), at)).toMatchObject(expected);
  });

  it('comes, without streams, from the flags before the ConfigMap', () => {
    const data = { baseOSContainerImage: 'mapped', baseOSExtensionsContainerImage: 'more', releaseVersion: '4' };
    expect(clusterImages(data, namedImages({ osImage: 'given' }))).toEqual({
      osImageURL: 'given',
      baseOSExtensionsContainerImage: 'more',
    });
    expect(clusterImages(undefined)).toEqual({});
  });
});
