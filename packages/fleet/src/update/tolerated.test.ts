import { describe, expect, it } from 'vitest';
import { ignition } from '../render/testing/sample.ts';
import { addTolerated, type ValidationOverrides } from './irreconcilable.ts';
import { planUpdate } from './plan-update.ts';
import type { Spec } from './testing/sample-plan.ts';
import type { Irreconcilable } from './update-plan.ts';

const storage = (sections: object): Spec => ({ config: ignition({ storage: sections }) });
const disks = storage({ disks: [{ device: '/dev/sda', wipeTable: true }] });
const luks = storage({ luks: [{ name: 'l', device: '/dev/c' }] });

async function planFields(desired: Spec, overrides: ValidationOverrides | undefined) {
  const [a, b] = [
    { name: 'a', spec: storage({}) },
    { name: 'b', spec: desired },
  ];
  const plan = await planUpdate({ current: a, desired: b, overrides });
  const fields = (list: readonly Irreconcilable[]) => list.map(({ field }) => field);
  return { refused: fields(plan.irreconcilable), tolerated: fields(plan.tolerated), isEmpty: plan.isEmpty };
}

describe('a difference that a running machine cannot apply', () => {
  it.each<[string, Spec, ValidationOverrides | undefined, object]>([
    [
      'is refused',
      disks,
      undefined,
      { refused: ['spec.config.storage.disks[/dev/sda]'], tolerated: [], isEmpty: false },
    ],
    [
      'is tolerated and not applied if users choose so',
      disks,
      { storage: ['Disks'] },
      { refused: [], tolerated: ['spec.config.storage.disks[/dev/sda]'], isEmpty: true },
    ],
    ['in another section is still refused', disks, { storage: ['Raid', 'FileSystems'] }, { tolerated: [] }],
    [
      'in a section that cannot be tolerated is refused',
      luks,
      { storage: ['Disks', 'FileSystems', 'Raid'] },
      { tolerated: [] },
    ],
  ])('%s', async (_, desired, overrides, expected) => {
    expect(await planFields(desired, overrides)).toMatchObject(expected);
  });
});

describe('the differences between a machine and its config', () => {
  const lacks = (field: string, before: string | null, after: string | null): Irreconcilable => ({
    code: 'SLW_UPDATE_IRRECONCILABLE',
    field,
    before,
    after,
    message: '',
  });

  it.each<[string, Irreconcilable[], Irreconcilable[], Irreconcilable[]]>([
    ['are none if nothing was tolerated', [], [], []],
    ['stay after updates that do not affect them', [lacks('a', '1', '2')], [], [lacks('a', '1', '2')]],
    [
      'start from the real value on the machine',
      [lacks('a', '1', '2')],
      [lacks('a', '2', '3')],
      [lacks('a', '1', '3')],
    ],
    ['end when the config matches the machine again', [lacks('a', '1', '2')], [lacks('a', '2', '1')], []],
    [
      'list each field once',
      [lacks('b', null, '2')],
      [lacks('a', '1', null)],
      [lacks('a', '1', null), lacks('b', null, '2')],
    ],
  ])('%s', (_, earlier, now, expected) => {
    expect(addTolerated(earlier, now)).toEqual(expected);
  });
});
