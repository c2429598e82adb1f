import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureAuthority, ensureIdentity } from '../controlplane/certificates.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { pickFreePort } from '../controlplane/ports.ts';
import { RunError, startService, type Service } from '../run.ts';
import type { ClusterApiProgram, ClusterApiPrograms } from './build.ts';
import { type Manifest, type ProviderManifests, readProviderManifests } from './manifests.ts';

export interface ClusterApiOptions {
  readonly programs: ClusterApiPrograms;
  /** Of the control plane, for both managers. */
  readonly kubeconfig: string;
  /** Installs CRDs and waits until they are served; later, installs admission webhooks. */
  readonly install: (manifests: readonly Manifest[]) => Promise<void>;
}

export interface ClusterApi {
  /** What both managers have logged, or the end of it. */
  log(this: void): string;
  stop(this: void): Promise<void>;
}

const READY_MS = 60_000;

const providers = { core: 'cluster-api', infrastructure: 'infrastructure-docker' } as const;

/**
 * Both controller managers against a control plane, with their own CRDs, and their conversion and admission webhooks
 * served on loopback. Machines exist only in the memory of the infrastructure provider.
 */
export async function startClusterApi({ programs, kubeconfig, install }: ClusterApiOptions): Promise<ClusterApi> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-cluster-api-'));
  const managers: Manager[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(managers.map(({ service }) => service.stop()));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const authority = await writeServingCertificate(directory);
    const prepared = await Promise.all(
      (['core', 'infrastructure'] as const).map((name) => prepareManager(programs[name], providers[name], authority)),
    );
    await install(prepared.flatMap(({ manifests }) => manifests.crds));
    for (const each of prepared) managers.push(startManager(each, kubeconfig, directory));
    for (const { service, isReady } of managers) await service.waitUntil(isReady, READY_MS);
    await install(prepared.flatMap(({ manifests }) => manifests.webhooks));
  } catch (error) {
    await stop();
    if (!(error instanceof RunError)) throw error;
    throw new ToolsError('SLW_TOOLS_START_FAILED', `Cluster API does not start: ${error.said}`);
  }
  return { log: () => managers.map(({ service }) => service.log()).join('\n'), stop };
}

/** Into the directory, under the names that the managers expect. Returns the certificate of its authority. */
async function writeServingCertificate(directory: string): Promise<string> {
  const authority = await ensureAuthority(join(directory, 'authority.pem'), 'Cluster API webhooks');
  const request = { commonName: '127.0.0.1', hosts: ['127.0.0.1'] };
  const { certificate, key } = await ensureIdentity(authority, join(directory, 'serving.pem'), request);
  await writeFile(join(directory, 'tls.crt'), certificate);
  await writeFile(join(directory, 'tls.key'), key, { mode: 0o600 });
  return authority.certificate;
}

interface PreparedManager {
  readonly name: string;
  readonly path: string;
  readonly ports: { readonly webhook: number; readonly health: number };
  readonly manifests: ProviderManifests;
}

async function prepareManager(
  { path, manifests }: ClusterApiProgram,
  name: string,
  authority: string,
): Promise<PreparedManager> {
  const webhook = await pickFreePort();
  const ports = { webhook, health: await pickFreePort([webhook]) };
  const server = { url: `https://127.0.0.1:${webhook}`, authority };
  return { name, path, ports, manifests: readProviderManifests(await readFile(manifests, 'utf8'), name, server) };
}

interface Manager {
  readonly service: Service;
  readonly isReady: () => Promise<boolean>;
}

function startManager({ name, path, ports }: PreparedManager, kubeconfig: string, directory: string): Manager {
  const health = `127.0.0.1:${ports.health}`;
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--webhook-port=${ports.webhook}`,
    `--webhook-cert-dir=${directory}`,
    `--health-addr=${health}`,
    '--diagnostics-address=127.0.0.1:0',
  ];
  // The API servers of the clusters in memory are at this address.
  const service = startService(path, args, { name, env: { ...process.env, POD_IP: '127.0.0.1' } });
  const isReady = async (): Promise<boolean> => {
    const answer = await fetch(`http://${health}/readyz`).catch(() => undefined);
    return answer?.ok === true;
  };
  return { service, isReady };
}
