import type { Node } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { poolOnStream, rhel10, rhel9, sampleStreams } from '../testing/sample-streams.ts';
import { needsImageLabels, runningIn, type RunsEvidence, detectRunningOs } from './runs.ts';
import { sampleImages, streamNamed } from './testing/sample.ts';

const old = sampleImages('rhel-9', 7);
const nothing: RunsEvidence = {
  statusStream: null,
  renderedImages: null,
  imageLabels: null,
  nodeOsImages: [],
  distribution: 'rhcos',
  streams: [streamNamed('rhel-9', 8), streamNamed('rhel-10', 8)],
  lastStreams: [],
};
const NINE = 'Red Hat Enterprise Linux CoreOS 9.6.20260101-0';
const TEN = 'Red Hat Enterprise Linux CoreOS 10.1.20260101-0';

describe('what a pool runs that is not tracked', () => {
  it('is nothing if it has neither a rendered config nor machines: it is new', () => {
    expect(detectRunningOs(nothing)).toBeNull();
  });

  it('is nothing if its rendered config has no OS and it has no machines', () => {
    expect(detectRunningOs({ ...nothing, renderedImages: { osImage: '', osExtensionsImage: '' } })).toBeNull();
  });

  it.each<[evidence: string, Partial<RunsEvidence>, stream: string | null]>([
    ['its status', { statusStream: 'rhel-9', nodeOsImages: [TEN] }, 'rhel-9'],
    ['an image of a stream of today', { renderedImages: sampleImages('rhel-10', 8), nodeOsImages: [NINE] }, 'rhel-10'],
    [
      'an image of the streams of yesterday',
      { renderedImages: sampleImages('rhel-9', 6), lastStreams: [streamNamed('rhel-9', 6)], nodeOsImages: [TEN] },
      'rhel-9',
    ],
    [
      'the stream label of its image',
      { renderedImages: old, imageLabels: { 'io.openshift.os.streamclass': 'rhel-10' }, nodeOsImages: [NINE] },
      'rhel-10',
    ],
    [
      'the version label of its image',
      {
        renderedImages: old,
        imageLabels: { 'org.opencontainers.image.version': '9.6.20251201-1' },
        nodeOsImages: [TEN],
      },
      'rhel-9',
    ],
    [
      'the version label of an older image',
      { renderedImages: old, imageLabels: { version: '418.94.202501010000-0' } },
      'rhel-9',
    ],
    [
      'an invalid stream label, and the version label',
      { renderedImages: old, imageLabels: { 'io.openshift.os.streamclass': 'RHEL 9!', version: '10.1.2' } },
      'rhel-10',
    ],
    [
      'the OS of its machines if there are no labels',
      { renderedImages: old, imageLabels: {}, nodeOsImages: [NINE] },
      'rhel-9',
    ],
    ['the OS of its machines if there is no image', { nodeOsImages: [NINE, NINE] }, 'rhel-9'],
    ['the newest of its machines while they are on their way', { nodeOsImages: [NINE, TEN, NINE] }, 'rhel-10'],
    [
      'machines that report their OS, whatever the platform',
      { distribution: 'fcos', nodeOsImages: ['CentOS Stream CoreOS 10.0.20250101-0'] },
      'centos-10',
    ],
    [
      'Fedora machines, of whichever version',
      { distribution: null, nodeOsImages: ['Fedora CoreOS 41.20250101.3.0'] },
      'fedora-coreos',
    ],
    [
      'machines with a version alone, by the platform',
      { distribution: 'scos', nodeOsImages: ['CoreOS 9.0.2'] },
      'centos-9',
    ],
    [
      'machines with a version alone, by the only family of streams',
      { distribution: null, nodeOsImages: ['CoreOS 9.0.2'] },
      'rhel-9',
    ],
  ])('is detected from %s', (_, evidence, stream) => {
    expect(detectRunningOs({ ...nothing, ...evidence })?.stream).toBe(stream);
  });

  it.each<[why: string, Partial<RunsEvidence>]>([
    ['an unknown image', { renderedImages: old }],
    ['a version older than all streams', { nodeOsImages: ['Red Hat Enterprise Linux CoreOS 412.86.202301010000-0'] }],
    ['machines that report nothing', { nodeOsImages: ['', 'Flatcar'] }],
    ['machines of two families', { nodeOsImages: [NINE, 'Fedora CoreOS 41.20250101.3.0'] }],
    [
      'a version without a family',
      { distribution: null, streams: [streamNamed('vendor-1')], nodeOsImages: ['CoreOS 9.0.2'] },
    ],
  ])('cannot be detected from %s', (_, evidence) => {
    expect(detectRunningOs({ ...nothing, ...evidence })).toMatchObject({ stream: null });
  });

  it('has the images of its rendered config, for when its stream is removed', () => {
    expect(detectRunningOs({ ...nothing, renderedImages: old })).toEqual({ stream: null, images: old });
    expect(detectRunningOs({ ...nothing, statusStream: 'rhel-9', renderedImages: old })).toEqual({
      stream: 'rhel-9',
      images: old,
    });
    expect(detectRunningOs({ ...nothing, nodeOsImages: [NINE] })).toEqual({ stream: 'rhel-9', images: null });
  });

  it.each<[boolean, string, Partial<RunsEvidence>]>([
    [true, 'an image that nobody knows', { renderedImages: old, nodeOsImages: [NINE] }],
    [false, 'a status', { renderedImages: old, statusStream: 'rhel-9' }],
    [false, 'an image of a stream', { renderedImages: sampleImages('rhel-9', 8) }],
    [false, 'no image', { nodeOsImages: [NINE] }],
  ])('needs the labels from a registry: %s, for %s', (needs, _, evidence) => {
    expect(needsImageLabels({ ...nothing, ...evidence })).toBe(needs);
  });
});

const at = (pool: ReturnType<typeof poolOnStream>, name: string) => ({
  ...pool,
  spec: { ...pool.spec, configuration: { name } },
});
const node = (osImage: string): Node => ({
  metadata: { name: 'w', labels: { 'node-role.kubernetes.io/worker': '' } },
  status: { nodeInfo: { osImage } },
});
const rendered = new Map([
  ['rendered-worker-1', { osImageURL: rhel10.osImage, baseOSExtensionsContainerImage: rhel10.osExtensionsImage }],
  ['rendered-worker-2', { osImageURL: 'registry.example.com/own@sha256:1' }],
]);
const running = (pool: ReturnType<typeof poolOnStream>, nodes: readonly Node[] = []) =>
  runningIn({ pools: [pool], nodes, rendered, streams: sampleStreams() }).get('worker');

describe('what machines of a pool from before streams run', () => {
  it('is the stream whose image its config has', () => {
    expect(running(at(poolOnStream('worker'), 'rendered-worker-1'))).toMatchObject({ stream: 'rhel-10' });
  });

  it('is the stream of the OS that its machines report, if the image is unknown', () => {
    const pool = at(poolOnStream('worker'), 'rendered-worker-2');
    expect(running(pool, [node('Red Hat Enterprise Linux CoreOS 9.6.20251201-1')])).toEqual({
      stream: 'rhel-9',
      images: { osImage: 'registry.example.com/own@sha256:1', osExtensionsImage: '' },
    });
    expect(running(pool)).toMatchObject({ stream: null });
  });

  it('is nothing for a new pool, and not detected for one on a stream', () => {
    expect(running(poolOnStream('worker'))).toBeUndefined();
    expect(
      running(at(poolOnStream('worker', { tracked: 'rhel-9', images: rhel9 }), 'rendered-worker-1')),
    ).toBeUndefined();
  });
});
