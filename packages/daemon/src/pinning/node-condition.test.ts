import { describe, expect, it } from 'vitest';
import { nodeConditionOf } from './node-condition.ts';

const node = (...conditions: { type: string; status: string }[]) => ({ status: { conditions } });
const ready = { type: 'Ready', status: 'True' };

describe('what a Node says of itself', () => {
  it.each([
    ['Ready', node(ready), { isReady: true, hasDiskPressure: false }],
    ['not Ready', node({ ...ready, status: 'False' }), { isReady: false, hasDiskPressure: false }],
    ['not heard of for long', node({ ...ready, status: 'Unknown' }), { isReady: false, hasDiskPressure: false }],
    ['full', node(ready, { type: 'DiskPressure', status: 'True' }), { isReady: true, hasDiskPressure: true }],
    ['nothing', {}, { isReady: false, hasDiskPressure: false }],
    ['no Node', undefined, { isReady: false, hasDiskPressure: false }],
  ])('%s', (_, object, expected) => {
    expect(nodeConditionOf(object)).toEqual(expected);
  });
});
