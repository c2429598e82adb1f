// A stand-in for Argo CD and Flux. It writes what its repository contains, whatever the cluster has: by server-side apply
// as Flux and Argo CD with ServerSideApply=true do, or by replacing whole objects as Argo CD with Replace=true does.
// Unlike the real ones it neither compares before it writes nor prunes.
import { setTimeout } from 'node:timers/promises';
import { buildApiPath, type Client, type KubeObject, type Resource, retryOnConflict, type Stored } from '@slipway/kube';

interface Manifest extends KubeObject {
  readonly spec?: object;
}

export interface GitFile {
  readonly resource: Resource;
  /** As in the repository. */
  readonly manifest: Manifest;
}

export interface GitOps {
  /** How often the repository was applied so far. */
  readonly syncs: number;
  /** Replaces each object once, without the annotations, labels and fields that the repository lacks. */
  replace(): Promise<void>;
  /** Rejects if the cluster has refused a write. */
  stop(): Promise<void>;
}

/** The field manager of Argo CD; that of Flux is kustomize-controller. */
export const GITOPS_MANAGER = 'argocd-controller';

/** Applies the files now, and again after each interval. */
export async function startGitOps(client: Client, files: readonly GitFile[], intervalMs: number): Promise<GitOps> {
  const options = { fieldManager: GITOPS_MANAGER, force: true };
  let syncs = 0;
  const ended = new AbortController();

  async function sync(): Promise<void> {
    for (const { resource, manifest } of files) await client.apply(resource, manifest, {}, options);
    syncs += 1;
  }

  async function repeat(): Promise<void> {
    while (!ended.signal.aborted) {
      await setTimeout(intervalMs, undefined, { signal: ended.signal }).catch(() => {});
      if (!ended.signal.aborted) await sync();
    }
  }

  await sync();
  const repeated = repeat();
  // Reported by `stop`.
  repeated.catch(() => {});
  return {
    get syncs() {
      return syncs;
    },
    async replace() {
      for (const { resource, manifest } of files) await replaceObject(client, resource, manifest);
    },
    async stop() {
      ended.abort();
      await repeated;
    },
  };
}

/** As `kubectl replace`: a PUT of the manifest in the version that the cluster has. */
const replaceObject = (client: Client, resource: Resource, manifest: Manifest): Promise<void> =>
  retryOnConflict(() => putObject(client, resource, manifest));

async function putObject(client: Client, resource: Resource, manifest: Manifest): Promise<void> {
  const { group, version, kind } = resource;
  const { metadata } = await client.get(resource, manifest.metadata);
  await client.transport.json({
    method: 'PUT',
    path: buildApiPath(resource, manifest.metadata),
    query: { fieldManager: GITOPS_MANAGER },
    contentType: 'application/json',
    body: {
      ...manifest,
      apiVersion: group === '' ? version : `${group}/${version}`,
      kind,
      metadata: { ...manifest.metadata, resourceVersion: metadata.resourceVersion },
    },
    what: `replace ${kind} ${manifest.metadata.name}`,
    retry: 'unsent',
  });
}

/** The fields that this manager owns in an object, as paths; list items as `[key]`. Not those of the status. */
export function ownedFields(object: Stored<KubeObject>, manager: string): string[] {
  const entries: ManagedFields[] = (object.metadata as { managedFields?: ManagedFields[] }).managedFields ?? [];
  return entries
    .filter((entry) => entry.manager === manager && entry.subresource === undefined)
    .flatMap(({ fieldsV1 }) => listLeaves(fieldsV1, ''))
    .sort();
}

interface FieldTree {
  readonly [field: string]: FieldTree;
}

interface ManagedFields {
  readonly manager: string;
  readonly subresource?: string;
  readonly fieldsV1: FieldTree;
}

function listLeaves(tree: FieldTree, path: string): string[] {
  const fields = Object.entries(tree).filter(([field]) => field !== '.');
  if (fields.length === 0) return [path];
  return fields.flatMap(([field, below]) => {
    const name = field.startsWith('f:') ? field.slice(2) : `[${field.slice(2)}]`;
    return listLeaves(below, path === '' ? name : `${path}.${name}`);
  });
}
