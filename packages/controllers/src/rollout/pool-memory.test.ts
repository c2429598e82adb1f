import { type MachineConfigPool, rolloutHistoryAnnotation, rolloutStateAnnotation } from '@slipway/api';
import type { Stored } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { createPoolMemory } from './pool-memory.ts';

const stored = { [rolloutStateAnnotation]: '{"wave":2}', [rolloutHistoryAnnotation]: '[]' };
const configuration = { name: 'rendered-worker-1' };

const pool = (
  annotations: Record<string, string>,
  spec: MachineConfigPool['spec'] = { configuration },
  uid = 'a',
): Stored<MachineConfigPool> => ({ metadata: { name: 'worker', uid, resourceVersion: '1', annotations }, spec });

describe('a pool that was replaced as a whole', () => {
  it('gets back what the controllers stored in it, and keeps what the client wrote', () => {
    const memory = createPoolMemory();
    const before = pool(stored);
    expect(memory.restore(before)).toBe(before);
    const file = pool({ team: 'b' }, { paused: true });
    expect(memory.restore(file)).toEqual(pool({ ...stored, team: 'b' }, { configuration, paused: true }));
    expect(memory.restore(pool({}, { configuration: { name: 'rendered-worker-2' } })).spec.configuration?.name).toBe(
      'rendered-worker-2',
    );
  });

  it('keeps its config after the annotations are written back, until the render controller has set it', () => {
    const memory = createPoolMemory();
    memory.restore(pool(stored));
    memory.restore(pool({}, {}));
    memory.noteWrite(pool(stored, {}));
    expect(memory.restore(pool(stored, {}))).toEqual(pool(stored));
  });

  it('does not get back what the controllers removed', () => {
    const memory = createPoolMemory();
    memory.restore(pool(stored));
    const { [rolloutHistoryAnnotation]: history } = stored;
    memory.noteWrite(pool({ [rolloutHistoryAnnotation]: history }));
    expect(memory.restore(pool({})).metadata.annotations).toEqual({ [rolloutHistoryAnnotation]: history });
  });

  it('gets nothing if it is another pool of that name, or the process no longer leads', () => {
    const memory = createPoolMemory();
    memory.restore(pool(stored));
    expect(memory.restore(pool({}, {}, 'b'))).toEqual(pool({}, {}, 'b'));
    memory.restore(pool(stored));
    memory.forgetAll();
    expect(memory.restore(pool({}, {}))).toEqual(pool({}, {}));
  });
});
