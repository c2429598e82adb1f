import { streamLifecycleAnnotation } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { toStreams } from './lifecycle.ts';
import { streamNamed } from './testing/sample.ts';

const status = { availableStreams: [streamNamed('rhel-9'), streamNamed('rhel-10')], defaultStream: 'rhel-9' };

describe('the streams of a cluster', () => {
  it('are those of its OSImageStream, with what the payload says of their lives', () => {
    const annotations = { [streamLifecycleAnnotation]: '{"rhel-9":{"state":"deprecated"}}' };
    expect(toStreams({ metadata: { name: 'cluster', annotations }, status })).toEqual({
      available: status.availableStreams,
      defaultStream: 'rhel-9',
      lifecycle: new Map([['rhel-9', { state: 'deprecated', successor: null, message: null }]]),
    });
  });

  it('all live where the payload says nothing', () => {
    expect(toStreams({ metadata: { name: 'cluster' }, status })?.lifecycle).toEqual(new Map());
  });

  it('are not known before anybody has found them', () => {
    expect(toStreams({ metadata: { name: 'cluster' } })).toBeNull();
  });
});
