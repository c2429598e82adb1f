// Decisions on objects as Cluster API's own controllers left them: cluster-api.slow.test.ts records them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ClusterApiMachines,
  type ClusterFacts,
  decideResource,
  type Decision,
  type InfrastructureTemplate,
  type MachineResource,
  parseBootImageConfig,
  readTemplate,
  readTemplateReference,
  resourceFacts,
  templateQuestion,
} from '@slipway/fleet/boot-images';
import { bootImagesData, olderStream, sampleAmi, TEMPLATE_REGION, rhel9 } from '@slipway/fleet/boot-images/testing';
import type { KubeObject } from '@slipway/kube';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

const recording = readFileSync(join(import.meta.dirname, 'testing/cluster-api-objects.yaml'), 'utf8');
type Recorded = ClusterApiMachines & InfrastructureTemplate & KubeObject;
const recorded = parseAllDocuments(recording).map((document) => document.toJS() as Recorded);

const manager = (resource: 'machinesets' | 'machinedeployments') =>
  ({ resource, apiGroup: 'cluster.x-k8s.io', selection: { mode: 'All' } }) as const;

function readFacts(): ClusterFacts {
  const read = parseBootImageConfig({ data: bootImagesData() });
  if (!read.ok) throw new Error(read.message);
  return {
    optIn: { uid: '1', generation: 1, managers: [manager('machinesets'), manager('machinedeployments')] },
    golden: { type: 'valid', golden: { config: read.config, generation: 1, stamp: { type: 'stamped' } } },
    workerStream: null,
    infrastructureName: 'demo-x7k2p',
    azureCloud: '',
    knownImages: new Set([amiOf(olderStream.version)]),
    now: Date.parse('2026-05-01T12:00:00Z'),
  };
}

const amiOf = (version: string): string => sampleAmi(version, 'x86_64', TEMPLATE_REGION);

/** Like the controller, from the recorded template. */
function decide(machines: Recorded): Decision {
  const kind = machines.kind === 'MachineSet' ? 'MachineSet' : 'MachineDeployment';
  const { name, namespace = '' } = machines.metadata;
  const about: MachineResource = { api: 'cluster.x-k8s.io', kind, namespace, name };
  // The label of the CRD of AWS's provider.
  const question = templateQuestion(readTemplateReference(about, machines), () => ({
    'cluster.x-k8s.io/v1beta1': 'v1beta2',
  }));
  if (!question.ok) throw new Error('expected a reference to a known template');
  const template = recorded.find(
    (each) => each.kind === question.reference.kind && each.metadata.name === question.reference.name,
  );
  const context = {
    platformType: 'AWS',
    region: TEMPLATE_REGION,
    clusterArchitecture: 'amd64',
    ownArchitecture: 'amd64',
  };
  const stub = { ok: true, current: 'a', wanted: 'b', note: '', needsNewImage: false } as const;
  return decideResource(
    { ...resourceFacts(about, machines), machine: readTemplate(machines, question, template, context), stub },
    readFacts(),
  );
}

describe.each(['v1beta1', 'v1beta2'])('an object that Cluster API owns and labels, read in %s,', (version) => {
  const objects = recorded.filter(({ apiVersion }) => apiVersion === `cluster.x-k8s.io/${version}`);
  const isOwned = ({ metadata }: Recorded): boolean =>
    metadata.ownerReferences?.some(({ kind }) => kind === 'MachineDeployment') === true;

  it.each(['MachineSet', 'MachineDeployment'])('gets a new template and user data: %s', (kind) => {
    const found = objects.filter((object) => object.kind === kind && !isOwned(object));
    expect(found.map(({ metadata }) => metadata.ownerReferences?.map((owner) => owner.kind))).toEqual([['Cluster']]);
    expect(found.map(decide)).toMatchObject([
      {
        verdict: { verdict: 'update', image: amiOf(olderStream.version), target: amiOf(rhel9.version) },
        change: { spec: { ami: { id: amiOf(rhel9.version) } }, userData: 'b' },
        gate: null,
      },
    ]);
  });

  it('is left to the MachineDeployment that owns it', () => {
    expect(objects.filter(isOwned).map(decide)).toMatchObject([{ verdict: { verdict: 'skipped' }, change: null }]);
  });
});
