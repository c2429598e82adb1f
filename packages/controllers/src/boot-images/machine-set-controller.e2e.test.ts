// For every platform, Machine API MachineSets on a real kube-apiserver: before, after, and that nothing else changes.
import { bootImagePlatforms } from '@slipway/api';
import { canonicalJson } from '@slipway/fleet';
import type { JsonObject, ResourceVerdict } from '@slipway/fleet/boot-images';
import { type ImageCase, imageCases } from '@slipway/fleet/boot-images/testing';
import type { AuditedRequest } from '@slipway/testing/audit';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import {
  addMachineSet,
  cluster,
  machineSet,
  prepare,
  providerSpecOf,
  run,
  untilVerdict,
  useBootImagesCluster,
  withoutOurs,
} from './testing/boot-images-fixture.ts';

useBootImagesCluster();

/** The spelling of Infrastructure. */
const platformType = (platform: ImageCase['platform']): string =>
  bootImagePlatforms.find((type) => type.toLowerCase() === platform) ?? '';
const kubernetesNames = { x86_64: 'amd64', aarch64: 'arm64', ppc64le: 'ppc64le', s390x: 's390x' } as const;

const platforms = [
  ...Map.groupBy(
    imageCases,
    ({ platform, azureCloud = '' }) => `${platform}${azureCloud === '' ? '' : ` in ${azureCloud}`}`,
  ),
].map(([name, cases]) => ({ name, platform: cases[0]?.platform ?? 'gcp', cloudName: cases[0]?.azureCloud, cases }));

const verdicts: Record<ImageCase['verdict'], ResourceVerdict['verdict']> = {
  change: 'current',
  current: 'current',
  manual: 'manual',
  theirs: 'theirs',
  failed: 'failed',
};

const buildAnnotations = ({ architecture = 'x86_64', isAdopted = false }: ImageCase): Record<string, string> => ({
  'capacity.cluster-autoscaler.kubernetes.io/labels': `kubernetes.io/arch=${kubernetesNames[architecture]}`,
  ...(isAdopted && { 'slipway.dev/boot-image-adopt': 'true' }),
});

/** On platforms that name the Secret, no other text in the spec has this value. */
const withManagedStub = (spec: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(spec).replaceAll('"worker-user-data"', '"worker-user-data-managed"')) as JsonObject;

/** The final spec of the set. */
function expectedSpec({ verdict, spec, after = spec }: ImageCase): JsonObject {
  return verdict === 'theirs' || verdict === 'failed' ? spec : withManagedStub(after);
}

const specPath = ['spec', 'template', 'spec', 'providerSpec', 'value'] as const;
const never = (what: string): never => {
  throw new Error(`there is no ${what}`);
};

/** The set in two parts, and what was written to it. */
async function readObserved(name: string, writes: readonly AuditedRequest[]) {
  const set = await machineSet(name);
  const own = writes.filter(({ resource, name: of }) => resource === 'machinesets' && of.endsWith(`/${name}`));
  return {
    name,
    spec: canonicalJson(providerSpecOf(set)),
    rest: withoutOurs(set, specPath),
    writes: own.map(({ verb, code }) => `${verb} ${code}`),
  };
}

describe('MachineSets of the Machine API', () => {
  it.each(sampleCases('platforms', platforms, 1 / 3))(
    'on $name get the image of the release if possible, and nothing else changes',
    async ({ platform, cloudName, cases }) => {
      await prepare(platformType(platform));
      if (cloudName !== undefined) await cluster.setPlatform('Azure', { azure: { cloudName } });
      const before = await Promise.all(
        cases.map((each) => addMachineSet(each.name, each.spec, { annotations: buildAnnotations(each) })),
      );
      const running = await run();
      for (const { name, verdict, code = null } of cases)
        await untilVerdict(running, name, { verdict: verdicts[verdict], code, platform });
      const writes = await running.writes();
      const found = await Promise.all(cases.map(({ name }) => readObserved(name, writes)));
      expect(found).toEqual(
        cases.map((each, at) => ({
          name: each.name,
          spec: canonicalJson(expectedSpec(each)),
          rest: withoutOurs(before[at] ?? never(each.name), specPath),
          writes: canonicalJson(expectedSpec(each)) === canonicalJson(each.spec) ? [] : ['patch 200'],
        })),
      );
    },
  );
});
