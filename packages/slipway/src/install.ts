import { setTimeout as wait } from 'node:timers/promises';
import { crdOf, kinds, policyObjectsOf, policies } from '@slipway/api';
import { createClient, isKubeError } from '@slipway/kube';
import type { Client, KubeObject, Resource } from '@slipway/kube';
import { terminalProgress } from '@slipway/tools/controlplane';
import { connect } from './connect.ts';
import type { ClusterOptions } from './connect.ts';
import { CommandError } from './errors.ts';
import { planCrds } from './plan-crds.ts';
import type { CrdStep } from './plan-crds.ts';

interface Crd extends KubeObject {
  spec?: object;
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

const crds: Resource<Crd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const namespaces: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const policyKinds = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
} as const;

const fieldManager = 'slipway-install';
const establishedWithinMs = 60_000;

export interface Installed {
  crds: { applied: number; created: number; left: number };
  policies: number;
}

export interface InstallOptions extends ClusterOptions {
  namespace: string;
  output: 'text' | 'json';
}

export async function runInstall(options: InstallOptions): Promise<void> {
  const transport = await connect(options, { retryForMs: 5000 });
  const progress = terminalProgress();
  try {
    const installed = await install(createClient(transport), options.namespace, (line) => progress.update(line));
    progress.clear();
    console.log(options.output === 'json' ? JSON.stringify(installed) : installedText(installed));
  } finally {
    progress.clear();
    await transport.close();
  }
}

export const installedText = ({ crds, policies }: Installed): string =>
  `${crds.applied} CRDs of ours, ${crds.created} added for the platform, ${crds.left} left as they were; ${policies} admission policies`;

/** Brings CRDs, policies and our namespace to what this version needs. Doing it again changes nothing. */
export async function install(
  client: Client,
  namespace: string,
  onProgress: (line: string) => void,
): Promise<Installed> {
  await createNamespace(client, namespace);
  const existing = new Set<string>();
  for await (const crd of client.list(crds)) existing.add(crd.metadata.name);
  const steps = planCrds(kinds, existing);
  let ready = 0;
  await Promise.all(
    steps.map(async (step) => {
      await carryOut(client, step);
      await established(client, step.name);
      ready += 1;
      onProgress(`CRDs ${ready}/${steps.length}`);
    }),
  );
  const manifests = policies(namespace).flatMap(policyObjectsOf);
  for (const [index, manifest] of manifests.entries()) {
    onProgress(`admission policies ${index + 1}/${manifests.length}`);
    await client.apply(policyResource(manifest.kind), manifest, {}, { fieldManager, force: true });
  }
  const count = (action: CrdStep['action']): number => steps.filter((step) => step.action === action).length;
  return {
    crds: { applied: count('apply'), created: count('create'), left: count('leave') },
    policies: policies(namespace).length,
  };
}

const policyResource = (kind: keyof typeof policyKinds): Resource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind,
  plural: policyKinds[kind],
  namespaced: false,
});

export async function createNamespace(client: Client, name: string): Promise<void> {
  if ((await client.find(namespaces, { name })) !== undefined) return;
  await client.create(namespaces, { metadata: { name } }, { fieldManager }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
}

async function carryOut(client: Client, { kind, name, action }: CrdStep): Promise<void> {
  if (action === 'leave') return;
  try {
    if (action === 'create') await client.create(crds, crdOf(kind), { fieldManager });
    else await client.apply(crds, crdOf(kind), {}, { fieldManager });
  } catch (error) {
    // Made by somebody else since we looked: theirs it is.
    if (action === 'create' && isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) return;
    if (!isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    throw new CommandError(
      'SLW_CLI_CRD_FOREIGN',
      `CustomResourceDefinition ${name} is managed by somebody else in this cluster: ${error.message}. Slipway does not take it over; remove that operator first`,
      { cause: error },
    );
  }
}

async function established(client: Client, name: string): Promise<void> {
  const giveUpAt = performance.now() + establishedWithinMs;
  for (;;) {
    const crd = await client.get(crds, { name });
    const conditions = crd.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (performance.now() > giveUpAt) {
      const said = conditions.map(({ type, status, message = '' }) => `${type}=${status} ${message}`).join('; ');
      throw new CommandError(
        'SLW_CLI_CRD_NOT_READY',
        `CustomResourceDefinition ${name} is not served yet: ${said || 'no conditions'}`,
      );
    }
    await wait(50);
  }
}
