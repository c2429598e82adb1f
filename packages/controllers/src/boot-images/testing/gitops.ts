// A MachineSet that a GitOps tool applies again and again, while its boot image is updated.
import { type MachineSet, machineSets } from '@slipway/api';
import { awsSpec } from '@slipway/fleet/boot-images/testing';
import { type GitFile, type GitOps, ownedFields, startGitOps } from '@slipway/testing/stand-in-gitops';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import {
  addMachineSet,
  cluster,
  machineSet,
  opt,
  prepare,
  providerSpecOf,
  run,
  setWrites,
  untilVerdict,
} from './boot-images-fixture.ts';

/** As exported by a user, who leaves out some fields of the provider spec. */
export function fileOf({ metadata, spec }: MachineSet, omitted: readonly string[]): GitFile & { manifest: MachineSet } {
  const { name, namespace, labels = {}, annotations = {} } = metadata;
  const manifest: MachineSet = structuredClone({
    metadata: { name, ...(namespace !== undefined && { namespace }), labels, annotations },
    ...(spec !== undefined && { spec }),
  });
  for (const field of omitted) Reflect.deleteProperty(providerSpecOf(manifest) ?? {}, field);
  return { resource: machineSets, manifest };
}

const { ami } = awsSpec;
const WRITTEN = 'patch a 200';

async function untilSynced(gitOps: GitOps): Promise<void> {
  const syncs = gitOps.syncs + 3;
  await until(() => expect(gitOps.syncs).toBeGreaterThanOrEqual(syncs), 'rollout');
}

export async function expectOmittedImageIsOurs(intervalMs: number): Promise<void> {
  await prepare('AWS', [opt.machineSets()]);
  const file = fileOf(await addMachineSet('a', awsSpec), ['ami', 'userDataSecret']);
  const gitOps = await startGitOps(cluster.client, [file], intervalMs);
  const running = await run();
  await untilVerdict(running, 'a', { verdict: 'current' });
  await untilSynced(gitOps);
  await gitOps.stop();
  expect(await setWrites(running)).toEqual([WRITTEN]);
  const set = await machineSet('a');
  expect(providerSpecOf(set)?.['ami']).not.toEqual(ami);
  expect(providerSpecOf(set)).toMatchObject({ userDataSecret: { name: 'worker-user-data-managed' } });
  // docs/gitops.md lists them.
  expect(ownedFields(set, 'slipway-boot-images')).toEqual([
    'metadata.annotations.slipway.dev/boot-image',
    'metadata.annotations.slipway.dev/boot-image-before',
    'spec.template.spec.providerSpec.value.ami.id',
    'spec.template.spec.providerSpec.value.userDataSecret.name',
  ]);
  // Replacing the set removes the image. Slipway reports that, and does not write.
  await gitOps.replace();
  await untilVerdict(running, 'a', { verdict: 'failed', code: 'SLW_BOOT_IMAGES_SPEC' });
  expect(await setWrites(running)).toEqual([WRITTEN]);
}

export async function expectImageInGitWins(intervalMs: number): Promise<void> {
  await prepare('AWS', [opt.machineSets()]);
  const file = fileOf(await addMachineSet('a', awsSpec), []);
  const gitOps = await startGitOps(cluster.client, [file], intervalMs);
  const running = await run();
  await until(
    () => expect(running.verdict('a')).toMatchObject({ verdict: 'failed', code: 'SLW_BOOT_IMAGES_HOT_LOOP' }),
    'rollout',
  );
  await untilSynced(gitOps);
  await gitOps.stop();
  expect((await setWrites(running)).filter((write) => write === WRITTEN)).toHaveLength(3);
  expect(providerSpecOf(await machineSet('a'))).toMatchObject({ ami });
}
