import { writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { extensionNames, machineConfigs } from '@slipway/api';
import type { MachineConfig } from '@slipway/api';
import { machineConfig } from '@slipway/testing/builders';
import { runSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { expect, it } from 'vitest';
import { findPool, type Fleet, startFleet } from './render/fleet.ts';

const COUNT = 200;

/** Each with 20 files, some of them others' too, and something of everything else that is merged. */
const given: MachineConfig[] = Array.from({ length: COUNT }, (_, number) =>
  machineConfig(`50-${number}`, 'worker', {
    config: {
      ignition: { version: ['3.2.0', '3.4.0', '3.5.0'][number % 3] },
      storage: {
        files: Array.from({ length: 20 }, (__, file) => ({
          path: file < 18 ? `/etc/conf.d/${number}-${file}` : `/etc/shared/${(number * 7 + file) % 40}`,
          mode: 0o644,
          contents: { source: `data:,${encodeURIComponent(`from ${number}, file ${file}: ${'x'.repeat(file * 8)}`)}` },
        })),
      },
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: [`ssh-ed25519 AAAA${number} user-${number % 30}`] }] },
    },
    kernelArguments: [`argument${number % 17}=${number}`],
    ...(number % 50 === 0 && { extensions: ['usbguard', extensionNames[(number / 50) % extensionNames.length] ?? ''] }),
  }),
);

function shuffled<T>(list: readonly T[], seed: number): T[] {
  const order = list.map((value, index) => ({ value, rank: Math.sin(seed * 1000 + index * 77.7) }));
  return order.sort((a, b) => a.rank - b.rank).map(({ value }) => value);
}

async function renderOn(fleet: Fleet, list: readonly MachineConfig[]): Promise<{ name: string; bytes: string }> {
  await fleet.controller();
  // Several at a time, as from several people: it takes half as long, and the controller renders in between all the same.
  for (let from = 0; from < list.length; from += 10) {
    await Promise.all(list.slice(from, from + 10).map((each) => fleet.admin.create(machineConfigs, each)));
  }
  return until(async () => {
    const configuration = (await findPool(fleet.admin, 'worker'))?.spec.configuration;
    expect(configuration?.source).toHaveLength(COUNT + 1);
    const name = configuration?.name ?? '';
    return { name, bytes: JSON.stringify((await fleet.admin.get(machineConfigs, { name })).spec) };
  }, 'rollout');
}

it(`the same ${COUNT} MachineConfigs in any order, on two control planes and offline, give the same name and bytes`, async () => {
  const fleets: Fleet[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'slipway-render-'));
  try {
    const results = await Promise.all(
      [1, 2].map(async (seed) => {
        const fleet = await startFleet();
        fleets.push(fleet);
        return renderOn(fleet, shuffled(given, seed));
      }),
    );
    expect(results[1]).toEqual(results[0]);
    const kind = { apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig' };
    const manifests = shuffled(given, 3).map((each) => Object.assign({}, kind, each));
    await writeFile(join(directory, 'all.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
    const offline = await runSlipway('render', '-f', directory, '--pool', 'worker', '-o', 'json');
    expect(offline).toMatchObject({ code: 0 });
    const rendered = JSON.parse(offline.out) as MachineConfig;
    expect(rendered.metadata.name).toBe(results[0]?.name);
    expect(rendered.spec).toEqual(JSON.parse(results[0]?.bytes ?? ''));
    console.log(`${results[0]?.name}: ${results[0]?.bytes.length} bytes on both control planes, the same name offline`);
  } finally {
    for (const fleet of fleets) await fleet.stop();
    await rm(directory, { recursive: true });
  }
}, 240_000);
