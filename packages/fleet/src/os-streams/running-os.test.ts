import type { Node } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { poolOnStream, rhel10, rhel9, sampleStreams } from '../testing/sample-streams.ts';
import { runningIn } from './running-os.ts';

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

  it('is the stream of the OS that its machines report, where the image is nobody’s', () => {
    const pool = at(poolOnStream('worker'), 'rendered-worker-2');
    expect(running(pool, [node('Red Hat Enterprise Linux CoreOS 9.6.20251201-1')])).toEqual({
      stream: 'rhel-9',
      images: { osImage: 'registry.example.com/own@sha256:1', osExtensionsImage: '' },
    });
    expect(running(pool)).toMatchObject({ stream: null });
  });

  it('is nothing for a new pool, and not asked for one that is on a stream', () => {
    expect(running(poolOnStream('worker'))).toBeUndefined();
    expect(
      running(at(poolOnStream('worker', { tracked: 'rhel-9', images: rhel9 }), 'rendered-worker-1')),
    ).toBeUndefined();
  });
});
