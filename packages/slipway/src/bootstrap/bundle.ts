// Everything a fleet needs before a cluster exists, as files: what the server serves, the stubs that machines start
// with, and the objects for the new cluster.
import {
  builtInLabel,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  type ObjectMeta,
  type OSImageStream,
  type Secret,
  secrets,
} from '@slipway/api';
import {
  type JoiningNode,
  MANAGED_BY_LABEL,
  type PoolStream,
  type ProvisioningToken,
  serverSecrets,
  buildStub,
  trackedAnnotations,
} from '@slipway/fleet';
import {
  type Authority,
  authorityData,
  buildCaBundle,
  type ServingCertificate,
  servingData,
} from '@slipway/base/certificates';
import { formatApiVersion } from '@slipway/kube';
import { bootstrapPaths } from '@slipway/server';
import { toArtifactJson } from '../cli/io.ts';
import { toYaml } from '../manifests/yaml.ts';
import { renderedManifest, type Rendering } from '../render/render.ts';
import type { DirectoryContents } from './write-directory.ts';

export interface Bundle {
  renderings: readonly Rendering[];
  builtIn: readonly MachineConfig[];
  /** Undefined: there are no streams. */
  osImageStream?: OSImageStream | undefined;
  controllerVersion: string;
  namespace: string;
  /** Address of the server for machines. */
  serverUrl: string;
  authority: Authority;
  serving: ServingCertificate;
  /** By pool, newest first. */
  tokens: ReadonlyMap<string, readonly ProvisioningToken[]>;
  node: JoiningNode;
}

export const stubFile = (pool: string): string => `${pool}.ign`;
export const AUTHORITY_MANIFEST = 'manifests/30-secret-machine-config-server-ca.yaml';

export function buildBundleFiles(bundle: Bundle): DirectoryContents {
  return new Map([...servedFiles(bundle), ...stubFiles(bundle), ...manifestFiles(bundle)]);
}

function servedFiles(bundle: Bundle): [string, string][] {
  const serving = servingData(bundle.serving);
  return [
    ...bundle.renderings.flatMap((rendering): [string, string][] => [
      [bootstrapPaths.pool(rendering.pool.metadata.name), toArtifactJson(poolManifest(rendering))],
      [
        bootstrapPaths.machineConfig(rendering.rendered.name),
        toArtifactJson(renderedManifest(rendering, bundle.controllerVersion)),
      ],
    ]),
    [bootstrapPaths.certificate, serving['tls.crt']],
    [bootstrapPaths.key, serving['tls.key']],
    [bootstrapPaths.tokens, toArtifactJson(Object.fromEntries(bundle.tokens))],
    [bootstrapPaths.kubeconfig, bundle.node.kubeconfig],
    [bootstrapPaths.caBundle, bundle.node.caBundle],
  ];
}

function stubFiles({ renderings, serverUrl, authority, tokens }: Bundle): [string, string][] {
  return renderings.map(({ pool }) => {
    const { name } = pool.metadata;
    const token = tokens.get(name)?.[0]?.token;
    const stub = buildStub({ server: serverUrl, pool: name, caBundle: buildCaBundle(authority), token });
    return [stubFile(name), toArtifactJson(stub)];
  });
}

/** Numbered, because kubectl applies files in the order of their names and some objects depend on others. */
function manifestFiles(bundle: Bundle): [string, string][] {
  const { namespace, renderings, builtIn, osImageStream, controllerVersion, authority, serving, tokens } = bundle;
  const tokenData = [...tokens].map(([pool, each]) => [pool, JSON.stringify(each)]);
  return [
    ['manifests/00-namespace.yaml', toYaml({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })],
    ...[...builtIn.map(cleanMachineConfig), ...renderings.map((each) => renderedManifest(each, controllerVersion))].map(
      (each): [string, string] => [`manifests/10-machineconfig-${each.metadata.name}.yaml`, toYaml(each)],
    ),
    ...(osImageStream === undefined
      ? []
      : ([['manifests/15-osimagestream-cluster.yaml', toYaml(osImageStream)]] satisfies [string, string][])),
    ...renderings.map((each): [string, string] => [
      `manifests/20-machineconfigpool-${each.pool.metadata.name}.yaml`,
      toYaml(poolManifest(each)),
    ]),
    [AUTHORITY_MANIFEST, secretYaml(namespace, serverSecrets.authority, 'kubernetes.io/tls', authorityData(authority))],
    ...(
      [
        [serverSecrets.serving, 'kubernetes.io/tls', servingData(serving)],
        [serverSecrets.tokens, 'Opaque', Object.fromEntries(tokenData) as Record<string, string>],
      ] as const
    ).map(([name, type, data]): [string, string] => [
      `manifests/30-secret-${name}.yaml`,
      secretYaml(namespace, name, type, data),
    ]),
  ];
}

/** The pool as users wrote it, with its rendered config. */
function poolManifest({ pool, rendered, stream }: Rendering): MachineConfigPool {
  const header = { apiVersion: formatApiVersion(machineConfigs), kind: machineConfigs.kind };
  return {
    apiVersion: formatApiVersion(machineConfigPools),
    kind: machineConfigPools.kind,
    metadata: withStream(cleanMetadata(pool.metadata), stream),
    spec: { ...pool.spec, configuration: { ...header, name: rendered.name, source: rendered.sources } },
  };
}

/** Recorded from the start, so that the default stream of a later payload does not matter. */
function withStream(metadata: ObjectMeta, stream: PoolStream | null): ObjectMeta {
  const tracked = Object.entries(stream === null ? {} : trackedAnnotations(stream));
  const annotations = Object.fromEntries(tracked.flatMap(([name, text]) => (text === null ? [] : [[name, text]])));
  return tracked.length === 0 ? metadata : { ...metadata, annotations: { ...metadata.annotations, ...annotations } };
}

function cleanMachineConfig({ metadata, spec }: MachineConfig): MachineConfig {
  return {
    apiVersion: formatApiVersion(machineConfigs),
    kind: machineConfigs.kind,
    metadata: cleanMetadata(metadata),
    ...(spec === undefined ? {} : { spec }),
  };
}

/** Removes what a cluster, our controllers or kubectl set: a new cluster starts from scratch. */
function cleanMetadata({ name, labels, annotations = {} }: ObjectMeta): ObjectMeta {
  const kept = Object.entries(annotations).filter(([key]) => !/^(slipway\.dev|kubectl\.kubernetes\.io)\//.test(key));
  return {
    name,
    ...(labels === undefined ? {} : { labels }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  };
}

function secretYaml(namespace: string, name: string, type: string, data: Readonly<Record<string, string>>): string {
  const secret: Secret = {
    apiVersion: 'v1',
    kind: secrets.kind,
    metadata: { name, namespace, labels: { [MANAGED_BY_LABEL]: 'slipway' } },
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
  return toYaml(secret);
}

export const isBuiltIn = ({ metadata }: MachineConfig): boolean => metadata.labels?.[builtInLabel] !== undefined;
