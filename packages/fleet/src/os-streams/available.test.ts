import { streamLifecycleAnnotation } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { toStreams } from './lifecycle.ts';
import { streamNamed } from './testing/sample.ts';

const status = { availableStreams: [streamNamed('rhel-9'), streamNamed('rhel-10')], defaultStream: 'rhel-9' };

describe('the streams of a cluster', () => {
  it('are those of its OSImageStream, with the lifecycle that the payload declares', () => {
    const annotations = { [streamLifecycleAnnotation]: '{"rhel-9":{"state":"deprecated"}}' };
    expect(toStreams({ metadata: { name: 'cluster', annotations }, status })).toEqual({
      available: status.availableStreams,
      defaultStream: 'rhel-9',
      lifecycle: new Map([['rhel-9', { state: 'deprecated', successor: null, message: null }]]),
    });
  });

  it('are all supported if the payload declares nothing', () => {
    expect(toStreams({ metadata: { name: 'cluster' }, status })?.lifecycle).toEqual(new Map());
  });

  it('are unknown before the first discovery', () => {
    expect(toStreams({ metadata: { name: 'cluster' } })).toBeNull();
  });
});
