import { setTimeout as wait } from 'node:timers/promises';
import {
  formatCrdName,
  buildCrd,
  customResourceDefinitions,
  daemonAccess,
  type Kind,
  kinds,
  policies,
  buildPolicyObjects,
} from '@slipway/api';
import {
  anyVersion,
  type Client,
  createClient,
  createWriter,
  isKubeError,
  type KubeObject,
  type Resource,
  type Writer,
} from '@slipway/kube';
import { terminalProgress } from '@slipway/tools/controlplane';
import { CommandError } from '../cli/errors.ts';
import { type ClusterOptions, connect } from '../cli/program.ts';

export interface InstallResult {
  crds: { applied: number; created: number; left: number };
  policies: number;
  /** ServiceAccounts, roles and their bindings. */
  access: number;
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

export const installedText = ({ crds, policies, access }: InstallResult): string =>
  `Installed ${crds.applied} Slipway CRDs, ${crds.created} missing platform CRDs (${crds.left} existing ones unchanged), ${policies} admission policies and ${access} access control objects`;

/** Updates CRDs, policies, access control and our namespace to this version. Running it again changes nothing. */
export async function install(
  client: Client,
  namespace: string,
  onProgress: (line: string) => void,
): Promise<InstallResult> {
  const write = createWriter(client, { fieldManager: FIELD_MANAGER });
  await createNamespace(client, namespace);
  const existing = new Set<string>();
  for await (const crd of client.list(crds)) existing.add(crd.metadata.name);
  const steps = planCrds(kinds, existing);
  let ready = 0;
  await Promise.all(
    steps.map(async (step) => {
      await applyStep(write, step);
      await established(client, step.name);
      ready += 1;
      onProgress(`CRDs ${ready}/${steps.length}`);
    }),
  );
  // Policies before permissions: no permission may exist without the policy that limits it.
  const access = daemonAccess(namespace);
  const manifests = [...policies(namespace).flatMap(buildPolicyObjects), ...access];
  for (const [index, manifest] of manifests.entries()) {
    onProgress(`admission policies and access control ${index + 1}/${manifests.length}`);
    const resource: Resource = { ...manifestKinds[manifest.kind], version: 'v1', kind: manifest.kind };
    await write.apply(resource, anyVersion(manifest.metadata), manifest, { force: true });
  }
  const count = (action: CrdStep['action']): number => steps.filter((step) => step.action === action).length;
  return {
    crds: { applied: count('apply'), created: count('create'), left: count('leave') },
    policies: policies(namespace).length,
    access: access.length,
  };
}

export async function createNamespace(client: Client, name: string): Promise<void> {
  if ((await client.find(namespaces, { name })) !== undefined) return;
  await createWriter(client, { fieldManager: FIELD_MANAGER }).createIfAbsent(namespaces, { metadata: { name } });
}

export interface CrdStep {
  kind: Kind;
  name: string;
  /** `apply`: our CRD, updated. `create`: a missing CRD of another project. `leave`: an existing CRD of another project. */
  action: 'apply' | 'create' | 'leave';
}

/** Decides what to do with each CRD. Those that the platform provides are created only if they are missing. */
export function planCrds(kinds: readonly Kind[], existing: ReadonlySet<string>): CrdStep[] {
  return kinds
    .filter((kind) => kind.install !== 'test')
    .map((kind) => {
      const name = formatCrdName(kind);
      if (kind.install === 'own') return { kind, name, action: 'apply' };
      return { kind, name, action: existing.has(name) ? 'leave' : 'create' };
    });
}

async function applyStep(write: Writer, { kind, name, action }: CrdStep): Promise<void> {
  if (action === 'leave') return;
  try {
    // Another client may have created it since the list; then it stays unchanged.
    if (action === 'create') await write.createIfAbsent(crds, buildCrd(kind));
    else await write.apply(crds, anyVersion({ name }), buildCrd(kind));
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_CONFLICT')) throw error;
    throw new CommandError(
      'SLW_CLI_CRD_FOREIGN',
      `another operator manages CustomResourceDefinition ${name} in this cluster: ${error.message}. Slipway does not take it over. Remove that operator first`,
      { cause: error },
    );
  }
}

async function established(client: Client, name: string): Promise<void> {
  const giveUpAt = performance.now() + ESTABLISHED_WITHIN_MS;
  for (;;) {
    const crd = await client.get(crds, { name });
    const conditions = crd.status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (performance.now() > giveUpAt) {
      const conditionTexts = conditions
        .map(({ type, status, message = '' }) => `${type}=${status} ${message}`)
        .join('; ');
      throw new CommandError(
        'SLW_CLI_CRD_NOT_READY',
        `the API server has not established CustomResourceDefinition ${name} after ${ESTABLISHED_WITHIN_MS / 1000} s: ${conditionTexts || 'no conditions'}. Run slipway install again`,
      );
    }
    await wait(50);
  }
}

interface Crd extends KubeObject {
  spec?: object;
  status?: { conditions?: { type: string; status: string; message?: string }[] };
}

const crds: Resource<Crd> = customResourceDefinitions;

const namespaces: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

const RBAC = 'rbac.authorization.k8s.io';

const ADMISSION = 'admissionregistration.k8s.io';

/** The other installed kinds and their API resources. */
const manifestKinds = {
  ServiceAccount: { group: '', plural: 'serviceaccounts', namespaced: true },
  ClusterRole: { group: RBAC, plural: 'clusterroles', namespaced: false },
  ClusterRoleBinding: { group: RBAC, plural: 'clusterrolebindings', namespaced: false },
  Role: { group: RBAC, plural: 'roles', namespaced: true },
  RoleBinding: { group: RBAC, plural: 'rolebindings', namespaced: true },
  ValidatingAdmissionPolicy: { group: ADMISSION, plural: 'validatingadmissionpolicies', namespaced: false },
  ValidatingAdmissionPolicyBinding: {
    group: ADMISSION,
    plural: 'validatingadmissionpolicybindings',
    namespaced: false,
  },
} as const;

const FIELD_MANAGER = 'slipway-install';

const ESTABLISHED_WITHIN_MS = 60_000;
