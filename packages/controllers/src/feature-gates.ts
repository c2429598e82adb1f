import { clusterVersions, featureGates as featureGateObjects, SINGLETON_NAME } from '@slipway/api';
import { featureGates, type FeatureGateSettings, type ResolvedGates, resolveFeatureGates } from '@slipway/fleet';
import {
  createInformer,
  type Gates,
  type Informer,
  isKubeError,
  type KubeObject,
  type Log,
  type Resource,
  type Transport,
} from '@slipway/kube';

export interface WatchedFeatureGates extends Gates {
  /** Resolves once the FeatureGate of the cluster, or its absence, is known. */
  readonly known: Promise<void>;
  current(): ResolvedGates;
}

export interface FeatureGateOptions {
  flags: FeatureGateSettings;
  log: Log;
  signal: AbortSignal;
}

/** Watches FeatureGate `cluster`, so that a change of a gate takes effect without a restart. */
export function watchFeatureGates(
  transport: Transport,
  { flags, log, signal }: FeatureGateOptions,
): WatchedFeatureGates {
  const gateObject = watchOne(transport, featureGateObjects, SINGLETON_NAME, signal);
  const version = watchOne(transport, clusterVersions, 'version', signal);
  const listeners = new Set<() => void>();

  const resolve = (): ResolvedGates =>
    resolveFeatureGates({
      featureGate: gateObject.informer.store.get(SINGLETON_NAME),
      clusterVersion: version.informer.store.get('version'),
      flags,
    });
  let current = resolve();

  function refresh(): void {
    const next = resolve();
    const changed = featureGates.filter((name) => next[name].on !== current[name].on);
    current = next;
    for (const gate of changed)
      log.info({ gate, ...next[gate] }, `feature gate turned ${next[gate].on ? 'on' : 'off'}`);
    if (changed.length > 0) for (const listener of listeners) listener();
  }

  gateObject.informer.onChange(refresh);
  version.informer.onChange(refresh);
  return {
    known: Promise.all([gateObject.known, version.known]).then(refresh),
    current: () => current,
    isOn: (gate) => featureGates.some((name) => name === gate && current[name].on),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Watches one object by name. If the cluster does not serve the kind, the object counts as absent. */
function watchOne<T extends KubeObject>(
  transport: Transport,
  resource: Resource<T>,
  name: string,
  signal: AbortSignal,
): { informer: Informer<T>; known: Promise<void> } {
  const absent = Promise.withResolvers<void>();
  const informer = createInformer(transport, {
    resource,
    fieldSelector: `metadata.name=${name}`,
    onProblem: (error) => {
      if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) absent.resolve();
    },
  });
  informer.start(signal);
  return { informer, known: Promise.race([informer.synced, absent.promise]) };
}

// Gates for controllers that work with the feature on or off.

export const OS_STREAMS_GATE = 'OSStreams';

export const usesStreams = (gates: Gates | undefined): boolean => gates?.isOn(OS_STREAMS_GATE) === true;

export const PINNED_IMAGES_GATE = 'PinnedImages';

export const pinsImages = (gates: Gates | undefined): boolean => gates?.isOn(PINNED_IMAGES_GATE) === true;
