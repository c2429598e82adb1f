import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { readMachineConfig } from './input.ts';
import { prepareRender, type RenderSources } from './prepare-render.ts';
import { file, machineConfig, withFiles, workerPool } from './testing/sample.ts';

const good = machineConfig('50-a', withFiles(file('/etc/a', 'a')));
const other = machineConfig('40-b');
const broken = machineConfig('60-broken', withFiles(file('relative', '')));
const images = { osImages: { osImageURL: 'os' }, osStream: null };
const refused = { code: 'SLW_STREAM_UNKNOWN', message: 'there is no such stream' };

const prepare = (
  machineConfigs: readonly MachineConfig[],
  more: Partial<RenderSources<MachineConfig>> = {},
  pool: MachineConfigPool = workerPool,
) =>
  prepareRender(pool, {
    machineConfigs,
    read: (each) => readMachineConfig(each),
    images,
    controllerVersion: '1',
    ...more,
  });

describe('the input of a render', () => {
  it('is the MachineConfigs of the pool in merge order, and its images', async () => {
    const { selected, request } = await prepare([good, machineConfig('10-m', {}, 'master'), other]);
    expect(selected).toEqual([other, good]);
    expect(request).toMatchObject({ pool: 'worker', ...images, controllerVersion: '1' });
    expect(request?.inputs.map(({ name }) => name)).toEqual(['40-b', '50-a']);
  });

  it.each<[string, readonly MachineConfig[], Partial<RenderSources<MachineConfig>>, object]>([
    [
      'of a MachineConfig that is not ready yet',
      [good, other],
      { read: () => 'waiting' },
      { waiting: ['40-b', '50-a'] },
    ],
    ['of a MachineConfig that does not exist yet', [good], { missing: ['00-worker'] }, { waiting: ['00-worker'] }],
    ['the images are not known', [good], { images: null }, { problems: [], waiting: [] }],
    ['the stream is refused', [good], { images: { ...images, problems: [refused] } }, { problems: [refused] }],
    ['of a MachineConfig that cannot be read', [broken, good], {}, { problems: [{ code: 'SLW_RENDER_INVALID' }] }],
  ])('is incomplete because %s', async (_, machineConfigs, more, expected) => {
    expect(await prepare(machineConfigs, more)).toMatchObject({ request: null, ...expected });
  });

  it('reports all problems together: the selector, the images, each MachineConfig', async () => {
    const twice = { key: 'role', operator: 'In', values: [] };
    const pool = { ...workerPool, spec: { machineConfigSelector: { matchExpressions: [twice] } } };
    const unselecting = await prepare([good], { images: { ...images, problems: [refused] } }, pool);
    expect(unselecting.problems).toMatchObject([{ code: 'SLW_RENDER_SELECTOR' }, refused]);
    const both = await prepare([machineConfig('55-broken', broken.spec), broken]);
    expect(both.problems).toHaveLength(2);
  });
});
