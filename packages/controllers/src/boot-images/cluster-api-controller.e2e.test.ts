// For every kind of infrastructure template, Cluster API's MachineSets and MachineDeployments on a real kube-apiserver:
// before, after, and that nothing else changes.
import {
  bootImageHistories,
  type ClusterApiMachineSet,
  clusterApiMachineSets,
  type MachineDeployment,
  machineDeployments,
} from '@slipway/api';
import { canonicalJson } from '@slipway/fleet';
import { INFRASTRUCTURE_GROUP, type ResourceVerdict, toTemplateResource } from '@slipway/fleet/boot-images';
import {
  buildMachineTemplate,
  type TemplateCase,
  templateCases,
  TEMPLATE_REGION,
} from '@slipway/fleet/boot-images/testing';
import type { KubeObject } from '@slipway/kube';
import type { AuditedRequest } from '@slipway/testing/audit';
import { sampleCases } from '@slipway/testing/sample';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { places } from './testing/boot-images-cluster.ts';
import {
  cluster,
  buildClusterApiSet,
  prepare,
  run,
  untilVerdict,
  useBootImagesCluster,
  withoutOurs,
} from './testing/boot-images-fixture.ts';

useBootImagesCluster();

const kubernetesNames = { x86_64: 'amd64', aarch64: 'arm64', ppc64le: 'ppc64le', s390x: 's390x' } as const;
const verdicts: Record<TemplateCase['verdict'], ResourceVerdict['verdict']> = {
  change: 'current',
  current: 'current',
  manual: 'manual',
  theirs: 'theirs',
  failed: 'failed',
};
const buildAnnotations = ({ architecture = 'x86_64', isAdopted = false }: TemplateCase): Record<string, string> => ({
  'capacity.cluster-autoscaler.kubernetes.io/labels': `kubernetes.io/arch=${kubernetesNames[architecture]}`,
  ...(isAdopted && { 'slipway.dev/boot-image-adopt': 'true' }),
});
const kinds = [...Map.groupBy(templateCases, ({ kind }) => kind)].map(([kind, cases]) => ({ kind, cases }));

const makers = [
  { kind: 'MachineSet', resource: clusterApiMachineSets },
  { kind: 'MachineDeployment', resource: machineDeployments },
] as const;

const addTemplate = (each: TemplateCase) => {
  const { metadata, spec } = buildMachineTemplate(each);
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  const made = { name, namespace, labels: { ...labels }, annotations: { ...annotations } };
  return cluster.client.create(toTemplateResource(each.kind, each.apiVersion), {
    metadata: { ...made, ownerReferences: [...ownerReferences] },
    spec,
  });
};
const referenceTo = ({ kind, apiVersion, name }: TemplateCase) => ({
  kind,
  apiVersion: `${INFRASTRUCTURE_GROUP}/${apiVersion}`,
  name,
});
const templateNamed = ({ kind, apiVersion }: TemplateCase, name: string) =>
  cluster.client.get(toTemplateResource(kind, apiVersion), { namespace: places.clusterApi, name });

const ourFields = [
  ['spec', 'template', 'spec', 'infrastructureRef', 'name'],
  ['spec', 'template', 'spec', 'bootstrap', 'dataSecretName'],
] as const;

type Maker = (typeof makers)[number];
const nameFor = ({ name }: TemplateCase, { kind }: Maker): string => `${name}-${kind.toLowerCase()}`;

/** A resource, and the template it references. */
async function readObserved(each: TemplateCase, maker: Maker, writes: readonly AuditedRequest[]) {
  const name = nameFor(each, maker);
  const { resource } = maker;
  const object = await cluster.client.get<ClusterApiMachineSet | MachineDeployment>(resource, {
    namespace: places.clusterApi,
    name,
  });
  const { infrastructureRef, bootstrap } = object.spec?.template?.spec ?? {};
  const template = infrastructureRef?.name ?? '';
  const own = writes.filter((write) => write.resource === resource.plural && write.name.endsWith(`/${name}`));
  return {
    name,
    template: template === each.name ? 'the same' : template.replace(/-[0-9a-f]{8}$/, '-…'),
    spec: canonicalJson((await templateNamed(each, template)).spec),
    stub: bootstrap?.dataSecretName,
    rest: withoutOurs(object, ...ourFields),
    writes: own.map(({ verb, code }) => `${verb} ${code}`),
  };
}

function buildExpected(each: TemplateCase, maker: Maker, rest: string | undefined) {
  const isLeft = each.verdict === 'theirs' || each.verdict === 'failed';
  const spec = { template: { metadata: { labels: { tier: 'compute' } }, spec: each.after ?? each.spec } };
  return {
    name: nameFor(each, maker),
    template: each.verdict === 'change' ? `${each.name}-…` : 'the same',
    spec: canonicalJson(spec),
    stub: isLeft ? 'worker-user-data' : 'worker-user-data-managed',
    rest,
    writes: isLeft ? [] : ['patch 200'],
  };
}

describe('Cluster API', () => {
  it.each(sampleCases('templates', kinds, 1 / 3))(
    'machines of a $kind get the image of the release with a new template',
    async ({ cases }) => {
      await prepare('None');
      await cluster.setPlatform('AWS', { aws: { region: TEMPLATE_REGION } });
      const templates = await Promise.all(cases.map(addTemplate));
      const pairs = cases.flatMap((each) => makers.map((maker) => ({ each, maker })));
      const before = await Promise.all(
        pairs.map(async ({ each, maker }) => {
          const made = buildClusterApiSet(nameFor(each, maker), referenceTo(each), {
            annotations: buildAnnotations(each),
          });
          return withoutOurs(await cluster.client.create<KubeObject>(maker.resource, made), ...ourFields);
        }),
      );
      const running = await run();
      for (const { each, maker } of pairs)
        await untilVerdict(running, nameFor(each, maker), { verdict: verdicts[each.verdict], code: each.code ?? null });
      const writes = await running.writes();
      const found = await Promise.all(pairs.map(({ each, maker }) => readObserved(each, maker, writes)));
      expect(found).toEqual(pairs.map(({ each, maker }, at) => buildExpected(each, maker, before[at])));
      // The old templates are unchanged, byte for byte.
      const after = await Promise.all(cases.map((each) => templateNamed(each, each.name)));
      expect(after.map((template) => JSON.stringify(template))).toEqual(
        templates.map((template) => JSON.stringify(template)),
      );
    },
  );

  it.each(['v1beta1', 'v1beta2'] as const)(
    'counts as installed where only %s is served, and its machines get the image of the release',
    async (version) => {
      const each = templateCases.find(({ kind, verdict }) => kind === 'GCPMachineTemplate' && verdict === 'change');
      if (each === undefined) throw new Error('there is no such case');
      await prepare('None');
      await cluster.setPlatform('AWS', { aws: { region: TEMPLATE_REGION } });
      await cluster.withClusterApi([version], async () => {
        await addTemplate(each);
        const { kind, name } = each;
        const reference = version === 'v1beta1' ? referenceTo(each) : { apiGroup: INFRASTRUCTURE_GROUP, kind, name };
        for (const maker of makers) {
          const { metadata, spec } = buildClusterApiSet(nameFor(each, maker), referenceTo(each));
          const machine = { ...spec?.template?.spec, infrastructureRef: reference };
          const made: KubeObject & { spec: object } = {
            metadata,
            spec: { ...spec, template: { ...spec?.template, spec: machine } },
          };
          const served = { ...maker.resource, version, newerVersions: [] };
          await until(() => cluster.client.create<KubeObject>(served, made));
        }
        const running = await run();
        for (const maker of makers) await untilVerdict(running, nameFor(each, maker), { verdict: 'current' });
        const writes = await running.writes();
        for (const maker of makers) {
          const { template, stub, writes: own } = await readObserved(each, maker, writes);
          expect({ template, stub, own }).toEqual({
            template: `${each.name}-…`,
            stub: 'worker-user-data-managed',
            own: ['patch 200'],
          });
        }
        // They count in the report, and each history is deleted together with its owner.
        await until(async () => {
          const { status } = await cluster.configuration();
          expect(status?.conditions).toContainEqual(
            expect.objectContaining({
              type: 'BootImageUpdateProgressing',
              message: expect.stringMatching(
                /Reconciled 1 of 1 CAPI MachineSets.*1 of 1 CAPI MachineDeployments/,
              ) as string,
            }),
          );
        });
        const histories = await Array.fromAsync(cluster.client.list(bootImageHistories));
        expect(
          histories.flatMap(({ metadata }) => metadata.ownerReferences?.map(({ apiVersion }) => apiVersion)),
        ).toEqual([version, version].map((served) => `cluster.x-k8s.io/${served}`));
        await running.stop();
      });
    },
  );
});
