// A fault from its start to its end: what the controllers export meanwhile, and what Prometheus makes of it.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPromtool, readSamples, type RuleGroup, testAlerts } from '@slipway/tools/promtool';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { simulateForbiddenWrite } from './testing/forbidden-write.ts';

const file = join(import.meta.dirname, '../../../../deploy/monitoring/boot-images.yaml');
const alert = 'SlipwayBootImageFailed';
const promtool = await findPromtool();

it.skipIf(promtool === null)(
  'a MachineSet that cannot be patched for twelve minutes raises one alert until it is',
  async () => {
    const { spec } = parse(await readFile(file, 'utf8')) as { spec: { groups: RuleGroup[] } };
    const { scrapes, patchedAt } = await simulateForbiddenWrite(12, 30);
    const samples = readSamples(scrapes, 'slipway_boot_image_failed');
    expect(Object.keys(samples)).toHaveLength(1);
    const [rule] = spec.groups.flatMap(({ rules }) => rules);
    const labels = {
      namespace: 'openshift-machine-api',
      name: 'a',
      api: 'machine.openshift.io',
      kind: 'MachineSet',
      code: 'SLW_BOOT_IMAGES_WRITE',
    };
    const clearsAt = Math.ceil(patchedAt ?? Infinity);
    await testAlerts(promtool ?? '', spec.groups, [
      {
        name: '403 for twelve minutes',
        alert,
        samples,
        states: scrapes.map((_, minute) => ({
          minute,
          state: minute < 1 || minute >= clearsAt ? null : minute < 11 ? 'pending' : 'firing',
        })),
        fires: {
          minute: 12,
          labels: { ...labels, severity: 'warning' },
          annotations: {
            ...rule?.annotations,
            summary: 'The boot image of MachineSet a cannot be updated.',
            description:
              'MachineSet a of machine.openshift.io cannot be updated to the boot image of the release payload (code SLW_BOOT_IMAGES_WRITE). Its new machines still boot the previous image. Run "slipway bootimages" for the cause and what to do.',
          },
        },
      },
    ]);
  },
);
