import type { ClusterVersion, FeatureGate } from '@slipway/api';

/**
 * Every known gate. `standardSince` is the OpenShift release that made the feature part of the platform: from then on a
 * FeatureGate that does not name it means on. Before that release, or without one, it means off.
 */
const table = {
  ManagedBootImages: { standardSince: '4.17' },
  OSStreams: { standardSince: undefined },
  PinnedImages: { standardSince: '4.19' },
} as const;

export type FeatureGateName = keyof typeof table;

export const featureGates = Object.keys(table) as FeatureGateName[];

export type FeatureGateSettings = Partial<Record<FeatureGateName, boolean>>;

export interface ResolvedGate {
  on: boolean;
  /** Human-readable: what turned it on or off, for logs and status pages. */
  because: string;
}

export type ResolvedGates = Record<FeatureGateName, ResolvedGate>;

export interface GateInputs {
  /** FeatureGate `cluster`, where it exists. */
  featureGate: FeatureGate | undefined;
  /** ClusterVersion `version`, where it exists. */
  clusterVersion: ClusterVersion | undefined;
  /** The value of `--feature-gates`; used only without a FeatureGate `cluster`. */
  flags: FeatureGateSettings;
}

export function resolveFeatureGates(inputs: GateInputs): ResolvedGates {
  const resolve = inputs.featureGate === undefined ? byFlags(inputs.flags) : byCluster(inputs.featureGate, inputs);
  return Object.fromEntries(featureGates.map((name) => [name, resolve(name)])) as ResolvedGates;
}

type Resolve = (name: FeatureGateName) => ResolvedGate;

const byFlags =
  (flags: FeatureGateSettings): Resolve =>
  (name) => {
    const set = flags[name];
    return set === undefined
      ? { on: false, because: 'off by default' }
      : { on: set, because: `--feature-gates ${name}=${set}` };
  };

interface ClusterGates {
  source: string;
  version: string | undefined;
  enabled: ReadonlySet<string>;
  disabled: ReadonlySet<string>;
}

function byCluster(featureGate: FeatureGate, { clusterVersion }: GateInputs): Resolve {
  const named = readClusterGates(featureGate, clusterVersion?.status?.desired.version);
  return (name) => {
    if (named.enabled.has(name)) return { on: true, because: `enabled by ${named.source}` };
    if (named.disabled.has(name)) return { on: false, because: `disabled by ${named.source}` };
    const { standardSince } = table[name];
    if (standardSince !== undefined && named.version !== undefined && isAtLeast(named.version, standardSince)) {
      return { on: true, because: `not named by ${named.source}: standard since ${standardSince}` };
    }
    return { on: false, because: `not named by ${named.source}` };
  };
}

/** The platform has all of these features in them. */
const previewSets: ReadonlySet<string> = new Set(['TechPreviewNoUpgrade', 'DevPreviewNoUpgrade']);

/** OpenShift computes status.featureGates, with one entry per version; on plain Kubernetes only spec exists. */
function readClusterGates(featureGate: FeatureGate, version: string | undefined): ClusterGates {
  const entries = featureGate.status?.featureGates ?? [];
  const entry = entries.find((each) => each.version === version) ?? entries.at(-1);
  if (entry === undefined) {
    const { featureSet = '' } = featureGate.spec;
    if (previewSets.has(featureSet)) {
      const source = `spec.featureSet ${featureSet} of FeatureGate cluster`;
      return { source, version: undefined, enabled: new Set(featureGates), disabled: new Set() };
    }
    const { enabled = [], disabled = [] } = featureGate.spec.customNoUpgrade ?? {};
    const source = 'spec.customNoUpgrade of FeatureGate cluster';
    return { source, version: undefined, enabled: new Set(enabled), disabled: new Set(disabled) };
  }
  return {
    source: `FeatureGate cluster for version ${entry.version}`,
    version: entry.version,
    enabled: new Set((entry.enabled ?? []).map((gate) => gate.name)),
    disabled: new Set((entry.disabled ?? []).map((gate) => gate.name)),
  };
}

function isAtLeast(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [minMajor = 0, minMinor = 0] = minimum.split('.').map((part) => Number.parseInt(part, 10));
  return major > minMajor || (major === minMajor && minor >= minMinor);
}

/** Parses `PinnedImages=true,OSStreams=false`, the format of Kubernetes components. */
export function parseFeatureGates(
  text: string,
): { ok: true; settings: FeatureGateSettings } | { ok: false; problem: string } {
  const settings: FeatureGateSettings = {};
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value] = part.split('=').map((each) => each.trim());
    const gate = featureGates.find((each) => each === name);
    if (gate === undefined) {
      return { ok: false, problem: `${name}: expected one of ${featureGates.join(', ')}` };
    }
    if (value !== 'true' && value !== 'false') {
      return {
        ok: false,
        problem: `${name}: expected ${name}=true or ${name}=false, found ${JSON.stringify(part.trim())}`,
      };
    }
    settings[gate] = value === 'true';
  }
  return { ok: true, settings };
}

/** Whether a feature is on in a cluster. */
export interface GateFinding {
  readonly isOn: boolean;
  /** Human-readable: what turned it on or off. */
  readonly because: string;
}
