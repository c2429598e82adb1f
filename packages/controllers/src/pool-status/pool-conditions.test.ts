import { renderProblemsAnnotation } from '@slipway/api';
import type { MachineConfigPool } from '@slipway/api';
import { encodeProblems } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { derivePoolStatus } from './pool-conditions.ts';

const now = new Date('2026-01-02T03:04:05Z');
const later = new Date('2026-01-02T04:00:00Z');

function pool(annotation?: string, status?: MachineConfigPool['status']): MachineConfigPool {
  const annotations = annotation === undefined ? {} : { [renderProblemsAnnotation]: annotation };
  return { metadata: { name: 'worker', generation: 3, annotations }, spec: {}, ...(status && { status }) };
}

const conditionOf = (status: MachineConfigPool['status'], type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

describe('the status of a pool', () => {
  it('says that all is well', () => {
    const status = derivePoolStatus(pool(), now);
    expect(conditionOf(status, 'RenderDegraded')).toMatchObject({ status: 'False', reason: 'AsExpected' });
    expect(conditionOf(status, 'Degraded')).toMatchObject({ status: 'False' });
    expect(status.observedGeneration).toBe(3);
  });

  it('says what is wrong with the render, each problem on its line with its code, and that the pool is degraded by it', () => {
    const problems = [
      { code: 'SLW_RENDER_PARSE', message: 'MachineConfig 99-a: no JSON' },
      { code: 'SLW_RENDER_MODE', message: 'MachineConfig 99-b: mode' },
    ];
    const status = derivePoolStatus(pool(encodeProblems(problems)), now);
    expect(conditionOf(status, 'RenderDegraded')).toMatchObject({
      status: 'True',
      reason: 'RenderFailed',
      message: 'MachineConfig 99-a: no JSON [SLW_RENDER_PARSE]\nMachineConfig 99-b: mode [SLW_RENDER_MODE]',
    });
    expect(conditionOf(status, 'Degraded')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('RenderDegraded: MachineConfig 99-a'),
    });
  });

  it('is the same object where nothing changes, so that nothing is written', () => {
    const status = derivePoolStatus(pool(), now);
    const again = pool(undefined, status);
    expect(derivePoolStatus(again, later)).toBe(again.status);
  });

  it('recovers, and says since when', () => {
    const bad = derivePoolStatus(pool(encodeProblems([{ code: 'SLW_RENDER_PARSE', message: 'x' }])), now);
    const good = derivePoolStatus(pool(undefined, bad), later);
    expect(conditionOf(good, 'RenderDegraded')).toMatchObject({
      status: 'False',
      lastTransitionTime: '2026-01-02T04:00:00Z',
    });
  });

  it('keeps conditions and fields that it knows nothing of', () => {
    const other = { type: 'Updating', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const status = derivePoolStatus(pool(undefined, { machineCount: 5, conditions: [other] }), now);
    expect(status.machineCount).toBe(5);
    expect(conditionOf(status, 'Updating')).toEqual(other);
  });
});
